//! Converts the library's events to ours.

use std::sync::Arc;
use std::time::Duration;

use whatsapp_rust::wacore::types::events::{
    self as library, ConnectFailureReason, EventHandler, EventInterest, EventKind,
};
use whatsapp_rust::wacore::types::message::MessageSource;
use whatsapp_rust::wacore::types::presence::ReceiptType;
use whatsapp_rust::wacore_binary::Jid as LibraryJid;

use super::telling::Telling;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{Ack, AckState, Ban, Challenge, End, Event, Jid, MessageId, PairingFailure};

/// Receives the library's events in order, and passes them on.
pub(super) struct Ear(pub(super) Arc<Telling>);

impl EventHandler for Ear {
    fn handle_event(&self, event: Arc<library::Event>) {
        for meaning in meanings(&event, Timestamp::now()) {
            match meaning {
                Meaning::Event(event) => {
                    self.0.conversing();
                    match &event {
                        Event::PasskeyRequired { .. } => self.0.gate(true),
                        Event::Paired { .. } | Event::Disconnected { .. } => self.0.gate(false),
                        _ => {}
                    }
                    self.0.tell(event);
                }
                Meaning::Wrote(lid) => self.0.wrote(lid),
                Meaning::Failed(sentence) => self.0.failed(&sentence),
                Meaning::End(end) => self.0.end(end),
            }
        }
    }

    fn interest(&self) -> EventInterest {
        EventInterest::of(&[
            EventKind::Connected,
            EventKind::Disconnected,
            EventKind::PairSuccess,
            EventKind::PairError,
            EventKind::LoggedOut,
            EventKind::PairingQrCode,
            EventKind::PairingQrCodesExhausted,
            EventKind::PairingCode,
            EventKind::PairingCodeRefresh,
            EventKind::PairingCodeError,
            EventKind::PairPasskeyRequest,
            EventKind::PairPasskeyConfirmation,
            EventKind::PairPasskeyError,
            EventKind::ClientOutdated,
            EventKind::StreamReplaced,
            EventKind::TemporaryBan,
            EventKind::ConnectFailure,
            EventKind::Receipt,
            EventKind::ServerAck,
            EventKind::Messages,
            EventKind::UndecryptableMessage,
        ])
    }
}

/// The meaning of an event of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    Event(Event),
    /// A person wrote whose address hides the number.
    Wrote(Jid),
    /// An attempt to connect failed; the library retries.
    Failed(String),
    End(End),
}

fn meanings(event: &library::Event, now: Timestamp) -> Vec<Meaning> {
    let one = |event| vec![Meaning::Event(event)];
    let end = |end| vec![Meaning::End(end)];
    match event {
        library::Event::Connected(_) => one(Event::Connected),
        library::Event::Disconnected(lost) => one(Event::Disconnected { sentence: lost.reason.to_string() }),
        library::Event::PairingQrCode(code) => {
            one(Event::Qr { payload: Secret::new(code.code.clone()), valid_for: code.timeout })
        }
        library::Event::PairingQrCodesExhausted(codes) if codes.disconnected => end(End::QrExhausted),
        library::Event::PairingQrCodesExhausted(_) => one(Event::QrExhausted),
        library::Event::PairingCode(code) => {
            one(Event::PairingCode { code: Secret::new(code.code.clone()), valid_for: code.timeout })
        }
        library::Event::PairingCodeRefresh(_) => one(Event::PairingCodeExpired),
        library::Event::PairingCodeError(error) => {
            let is_throttled = error.rejection.is_some_and(|rejection| rejection.is_throttled());
            one(Event::PairingCodeFailed(pairing_failure(is_throttled, error.backoff, &error.error)))
        }
        library::Event::PairSuccess(paired) => paired_as(paired).map_or_else(
            || {
                end(End::PairingFailed {
                    sentence: "WhatsApp did not name the number of the account".to_owned(),
                })
            },
            one,
        ),
        library::Event::PairError(error) => end(pairing_error(&error.error)),
        library::Event::PairPasskeyRequest(asked) => vec![passkey_required(&asked.request_options_json)],
        library::Event::PairPasskeyConfirmation(shown) => one(Event::PasskeyCode {
            code: Secret::new(shown.code.clone()),
            is_proven: shown.skip_handoff_ux,
        }),
        library::Event::PairPasskeyError(error) => end(End::PasskeyRefused { sentence: error.error.clone() }),
        library::Event::LoggedOut(out) => end(match out.reason {
            ConnectFailureReason::AccountLocked => End::AccountLocked,
            _ => End::Unlinked,
        }),
        library::Event::StreamReplaced(_) => end(End::Replaced),
        library::Event::ClientOutdated(_) => end(End::ClientOutdated),
        library::Event::TemporaryBan(ban) => {
            let lasts = Duration::from_secs(u64::try_from(ban.expire.num_seconds()).unwrap_or(0));
            let sentence = ban.message.clone().unwrap_or_else(|| ban.code.to_string());
            end(End::Banned(Ban { until: now.plus(lasts), code: ban.code.code().into(), sentence }))
        }
        library::Event::ConnectFailure(failure) => {
            let code = failure.reason.code();
            let sentence = failure.message.clone().unwrap_or_else(|| format!("{:?}", failure.reason));
            if failure.reason.should_reconnect() {
                vec![Meaning::Failed(format!("WhatsApp refused the connection with {code}: {sentence}"))]
            } else {
                end(End::Refused { code: code.into(), sentence })
            }
        }
        library::Event::Receipt(receipt) => receipts(receipt),
        library::Event::ServerAck(ack) => server_ack(ack, now).into_iter().collect(),
        library::Event::Messages(batch) => {
            batch.iter().filter_map(|message| inbound(&message.info.source)).collect()
        }
        // A person wrote, even if the message cannot be decrypted. If it is decrypted later, there is a
        // second event.
        library::Event::UndecryptableMessage(message) => inbound(&message.info.source).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn paired_as(paired: &library::PairSuccess) -> Option<Event> {
    Some(Event::Paired {
        number: PhoneNumber::parse(paired.id.user_base()).ok()?,
        lid: own(&paired.lid),
        business_name: Some(paired.business_name.clone()).filter(|name| !name.is_empty()),
    })
}

fn passkey_required(options: &str) -> Meaning {
    match Challenge::parse(options) {
        Ok(challenge) => {
            let valid_for = challenge.valid_for();
            Meaning::Event(Event::PasskeyRequired { challenge, valid_for })
        }
        Err(sentence) => Meaning::End(End::PasskeyRefused { sentence: sentence.to_owned() }),
    }
}

/// The library reports the error as a sentence and not as a type. A signature mismatch happens with business
/// accounts that have hosted devices, which this version does not support.
fn pairing_error(sentence: &str) -> End {
    let sentence = sentence.to_owned();
    if sentence.contains("signature-mismatch") {
        End::BusinessRefused { sentence }
    } else {
        End::PairingFailed { sentence }
    }
}

pub(super) fn pairing_failure(is_throttled: bool, wait: Option<Duration>, sentence: &str) -> PairingFailure {
    if is_throttled {
        PairingFailure::Throttled { retry_after: wait }
    } else {
        PairingFailure::Other(sentence.to_owned())
    }
}

/// The receipts of the recipients; receipts of our own other devices are ignored.
fn receipts(receipt: &library::Receipt) -> Vec<Meaning> {
    let state = match receipt.r#type {
        ReceiptType::Delivered => AckState::Delivered,
        ReceiptType::Read => AckState::Read,
        ReceiptType::Played => AckState::Played,
        _ => return Vec::new(),
    };
    if receipt.source.is_from_me {
        return Vec::new();
    }
    let at = Timestamp::from_millis(receipt.timestamp.timestamp_millis());
    let from = own(&receipt.source.sender);
    let ack = |id: &String| {
        let id = MessageId::parse(id).ok()?;
        Some(Meaning::Event(Event::Ack(Ack { id, state, at, from: from.clone() })))
    };
    receipt.message_ids.iter().filter_map(ack).collect()
}

fn server_ack(ack: &library::ServerAck, now: Timestamp) -> Option<Meaning> {
    if ack.class.as_deref() != Some("message") {
        return None;
    }
    let state = match &ack.error {
        None => AckState::Server,
        Some(code) => AckState::Refused { code: code.parse().ok() },
    };
    let at = ack.timestamp.map_or(now, |at| Timestamp::from_millis(at.timestamp_millis()));
    Some(Meaning::Event(Event::Ack(Ack { id: MessageId::parse(&ack.id).ok()?, state, at, from: None })))
}

/// The sender of a message to us alone. Messages from our own other devices are ignored, and so are messages
/// to a group, a list or everyone, which the library calls groups, too.
fn inbound(source: &MessageSource) -> Option<Meaning> {
    if source.is_from_me || source.is_group {
        return None;
    }
    let sender = own(&source.sender).filter(|sender| !sender.is_group())?;
    let other = source.sender_alt.as_ref().and_then(own);
    let number = sender.number().or_else(|| other?.number());
    Some(number.map_or(Meaning::Wrote(sender), |from| Meaning::Event(Event::Inbound { from })))
}

/// Converts an address of the library to ours; `None` if it is neither a person nor a group.
pub(super) fn own(jid: &LibraryJid) -> Option<Jid> {
    Jid::parse(&jid.to_non_ad_string()).ok()
}

#[cfg(test)]
mod tests;
