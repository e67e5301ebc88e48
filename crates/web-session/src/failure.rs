//! Converts the library's errors to ours.

use whatsapp_rust::bot::BotBuilderError;
use whatsapp_rust::download::MediaDecryptionError;
use whatsapp_rust::pair_code::{PairCodeError, PairError};
use whatsapp_rust::{
    ClientError, ContactError, ErrorChainExt as _, IqError, SendError as LibrarySendError, anyhow,
};

use super::events::pairing_failure;
use super::http::LongAnswer;
use driver::{AskError, FetchError, OpenError, PairingFailure, SendError};

/// The error of opening a session.
pub(super) fn opening(error: &BotBuilderError) -> OpenError {
    match error {
        BotBuilderError::Store(_) => OpenError::Records(chain(error)),
        _ => OpenError::Setup(chain(error)),
    }
}

/// The error of a look-up.
pub(super) fn asking(error: &ContactError) -> AskError {
    match error {
        ContactError::Iq(error) => unanswered(error),
        _ => AskError::NoAnswer(chain(error)),
    }
}

fn unanswered(error: &IqError) -> AskError {
    match error {
        IqError::ServerError { code, text, .. } => AskError::Refused { code: *code, sentence: text.clone() },
        IqError::NotConnected
        | IqError::Disconnected(_)
        | IqError::InternalChannelClosed
        | IqError::Socket(_)
        | IqError::EncryptSend(_)
        | IqError::ClientState(_) => AskError::NotConnected,
        _ => AskError::NoAnswer(chain(error)),
    }
}

/// The error of a message. The library writes to the connection last, so any other failure happened before
/// that.
pub(super) fn sending(error: &LibrarySendError) -> SendError {
    match error {
        LibrarySendError::NotLoggedIn | LibrarySendError::Client(ClientError::NotConnected) => {
            SendError::NotConnected
        }
        LibrarySendError::Client(_) => SendError::Uncertain(chain(error)),
        LibrarySendError::Iq(error) => match unanswered(error) {
            AskError::NotConnected => SendError::NotConnected,
            AskError::Refused { code, sentence } => SendError::Refused { code, sentence },
            AskError::NoAnswer(sentence) => SendError::Unprepared(sentence),
        },
        LibrarySendError::InvalidRequest(sentence) => SendError::Recipient(sentence.clone()),
        _ => SendError::Unprepared(chain(error)),
    }
}

/// The error of a download.
pub(super) fn fetching(error: &anyhow::Error) -> FetchError {
    let error: &(dyn std::error::Error + Send + Sync + 'static) = error.as_ref();
    if matches!(error.http_status(), Some(403 | 404 | 410)) {
        return FetchError::Gone;
    }
    let outermost: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(outermost), |cause| cause.source());
    if causes.any(|cause| cause.is::<MediaDecryptionError>() || cause.is::<LongAnswer>()) {
        return FetchError::Damaged;
    }
    FetchError::Failed(chain(outermost))
}

/// The error of a pairing code.
pub(super) fn pairing(error: &PairError) -> PairingFailure {
    match error {
        PairError::PairCode(PairCodeError::CodeAlreadyOutstanding { .. } | PairCodeError::Cancelled) => {
            PairingFailure::NotNow(chain(error))
        }
        PairError::RequestFailed(failed) if unanswered(failed) == AskError::NotConnected => {
            PairingFailure::NotConnected
        }
        _ => {
            let is_throttled = error.rejection().is_some_and(|rejection| rejection.is_throttled());
            pairing_failure(is_throttled, error.backoff(), &chain(error))
        }
    }
}

/// An error and its causes in one line; causes that only repeat the error are skipped.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !sentence.ends_with(&words) {
            sentence = format!("{sentence}: {words}");
        }
        cause = error.source();
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16) -> IqError {
        IqError::ServerError { code, text: "item-not-found".to_owned(), error_type: None, backoff: None }
    }

    #[test]
    fn only_a_failure_during_the_write_is_uncertain() {
        assert_eq!(sending(&LibrarySendError::NotLoggedIn), SendError::NotConnected);
        assert_eq!(sending(&LibrarySendError::Client(ClientError::NotConnected)), SendError::NotConnected);
        assert_eq!(sending(&LibrarySendError::Iq(IqError::NotConnected)), SendError::NotConnected);
        let sentence = "item-not-found".to_owned();
        assert_eq!(sending(&LibrarySendError::Iq(refused(404))), SendError::Refused { code: 404, sentence });
        let late = sending(&LibrarySendError::Iq(IqError::Timeout));
        assert!(matches!(late, SendError::Unprepared(_)) && late.is_surely_unsent(), "{late:?}");
        let socket = whatsapp_rust::socket::SocketError::SocketClosed;
        let broken = sending(&LibrarySendError::Client(ClientError::Socket(socket)));
        assert!(matches!(broken, SendError::Uncertain(_)) && !broken.is_surely_unsent(), "{broken:?}");
    }

    #[test]
    fn a_question_may_be_refused_or_not_be_answered() {
        assert_eq!(asking(&ContactError::Iq(IqError::NotConnected)), AskError::NotConnected);
        assert!(matches!(asking(&ContactError::Iq(IqError::Timeout)), AskError::NoAnswer(_)));
        assert!(matches!(asking(&ContactError::Iq(refused(429))), AskError::Refused { code: 429, .. }));
    }

    #[test]
    fn too_many_pairing_codes_are_distinguished_from_other_failures() {
        let error = |code, text: &str| {
            let text = text.to_owned();
            pairing(&IqError::ServerError { code, text, error_type: None, backoff: Some(60) }.into())
        };
        let retry_after = Some(std::time::Duration::from_secs(60));
        assert_eq!(error(429, "rate-overlimit"), PairingFailure::Throttled { retry_after });
        assert_eq!(error(400, "bad-request"), PairingFailure::Throttled { retry_after });
        assert!(matches!(error(452, "feature-not-available"), PairingFailure::Other(_)));
        assert_eq!(pairing(&IqError::NotConnected.into()), PairingFailure::NotConnected);
    }
}
