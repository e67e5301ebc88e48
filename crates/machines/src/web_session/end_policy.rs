//! The end policy: what the end of a session, or a failed connection, means for its channel. Pure functions.

use std::time::Duration;

use clock::Timestamp;
use domain::channel::{Cause, Connection, Reason, ReasonCode, Status};
use domain::web_session::{Ban, End, RESTRICTED};

/// From this number of failed attempts on, the channel is disconnected and not merely connecting.
const ATTEMPTS: u32 = 3;
/// The first and the longest wait after a failed session. Each wait is twice the previous one.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The session reconnects this long after the end of a ban, because clocks differ.
const AFTER_BAN: Duration = Duration::from_secs(60);

/// How long strangers are refused after WhatsApp restricted the account.
pub const RESTRICTED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What follows the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) status: Status,
    pub(super) reason: Option<Reason>,
    pub(super) then: Then,
}

/// Whether the session is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// No, before a person asks for it or, for some ends, the process restarts.
    Close,
    /// Yes, after this wait, which a caller may cut short.
    OpenAfter(Duration),
    /// Yes, after this wait, which no caller may cut short.
    OpenNotBefore(Duration),
}

/// Whether only a person may open the session again, even after a restart of the process.
pub fn waits_for_a_person(connection: &Connection) -> bool {
    const CODES: [ReasonCode; 3] =
        [ReasonCode::Replaced, ReasonCode::ConnectionRefused, ReasonCode::LinkLost];
    let code = connection.reason.as_ref().map(|reason| &reason.code);
    connection.status == Status::Disconnected
        && matches!(code, Some(Cause::Known(code)) if CODES.contains(code))
}

/// What the end of a session means for its channel. `failures` sessions in a row failed before this one.
pub(super) fn after(end: &End, is_linked: bool, failures: u32, now: Timestamp) -> Verdict {
    let closed = |code: ReasonCode, sentence: String| Verdict {
        status: Status::Disconnected,
        reason: Some(reason(code, sentence, None)),
        then: Then::Close,
    };
    match end {
        End::QrExhausted => Verdict {
            status: Status::Pairing,
            reason: Some(reason(
                ReasonCode::QrExpired,
                "nobody used a code in time; begin the pairing again for new ones".to_owned(),
                None,
            )),
            then: Then::Close,
        },
        End::Unlinked => closed(
            ReasonCode::LoggedOut,
            "the device was removed from the phone's list of linked devices; pair the channel again".to_owned(),
        ),
        End::AccountLocked => closed(
            ReasonCode::AccountLocked,
            "WhatsApp locked the account and unlinked the device; unlock it on the phone, then pair the channel \
             again"
                .to_owned(),
        ),
        End::Replaced => closed(
            ReasonCode::Replaced,
            "the same linked device connected from elsewhere; stop the other one, then begin the pairing again to \
             reconnect this one"
                .to_owned(),
        ),
        End::Banned(Ban { until, code, sentence }) => Verdict {
            status: Status::Disconnected,
            reason: Some(reason(
                ReasonCode::Banned,
                format!(
                    "WhatsApp banned the account until {until}: {}; the session reconnects after that",
                    sentence.trim_end_matches('.')
                ),
                Some(*code),
            )),
            then: Then::OpenNotBefore(until.from_now(now).saturating_add(AFTER_BAN)),
        },
        End::ClientOutdated => closed(
            ReasonCode::ClientOutdated,
            "WhatsApp no longer accepts this version of Pombo; install a newer one, the phone stays \
             linked"
                .to_owned(),
        ),
        End::PasskeyTimedOut => closed(
            ReasonCode::PasskeyTimedOut,
            "WhatsApp asked for a passkey of the account, and nobody answered in time; begin the pairing again with \
             the passkey at hand, or remove it on the phone (Settings, Account, Passkeys) before"
                .to_owned(),
        ),
        End::PasskeyRefused { sentence } => closed(
            ReasonCode::PasskeyRefused,
            format!(
                "WhatsApp did not accept the answer of the passkey ({}); begin the pairing again, and answer with a \
                 passkey of this account",
                sentence.trim_end_matches('.')
            ),
        ),
        End::BusinessRefused { sentence } => closed(
            ReasonCode::BusinessPairingRefused,
            format!(
                "the phone refused the device ({sentence}), as accounts of businesses with hosted devices do; unlink \
                 those on the phone, then pair the channel again"
            ),
        ),
        End::PairingFailed { sentence } => {
            closed(ReasonCode::PairingFailed, format!("the phone was not linked: {sentence}; begin the pairing again"))
        }
        End::Refused { code, sentence } => Verdict {
            status: Status::Disconnected,
            reason: Some(reason(
                ReasonCode::ConnectionRefused,
                format!("WhatsApp refused the connection: {sentence}; begin the pairing again to try it again"),
                Some(*code),
            )),
            then: Then::Close,
        },
        End::Failed { sentence } if !is_linked => {
            closed(ReasonCode::SessionFailed, format!("no phone was linked: {sentence}; begin the pairing again"))
        }
        End::Failed { sentence } => failed(sentence, failures),
        // Pombo did not stop the session.
        End::Stopped => failed("the session ended by itself", failures),
    }
}

fn failed(sentence: &str, failures: u32) -> Verdict {
    let wait = FIRST_WAIT.saturating_mul(1 << failures.min(16)).min(LONGEST_WAIT);
    let sentence = format!(
        "the session failed: {}; it is opened again within {}",
        sentence.trim_end_matches('.'),
        humantime::format_duration(wait)
    );
    Verdict {
        status: Status::Disconnected,
        reason: Some(reason(ReasonCode::SessionFailed, sentence, None)),
        then: Then::OpenAfter(wait),
    }
}

/// What this many failed attempts in a row mean for a channel.
pub(super) fn unreachable(attempts: u32, sentence: &str) -> (Status, Option<Reason>) {
    if attempts < ATTEMPTS {
        return (Status::Connecting, None);
    }
    let sentence = format!(
        "WhatsApp cannot be reached: {}; the service keeps trying, check the network if this lasts",
        sentence.trim_end_matches('.')
    );
    (Status::Disconnected, Some(reason(ReasonCode::Unreachable, sentence, None)))
}

/// The reason of a channel whose phone is linked to a device that is not in the session's records.
pub(super) fn link_lost() -> Reason {
    let sentence = "the session's keys name no linked phone any more, as after a restored backup; restore the newest \
                    keys, or remove the device from the phone's list of linked devices and pair the channel again";
    reason(ReasonCode::LinkLost, sentence.to_owned(), None)
}

/// The reason of a channel whose account WhatsApp restricted. It stays connected: people who wrote to it can be
/// answered.
pub(super) fn restricted() -> Reason {
    let sentence = "WhatsApp refuses messages to people who never wrote to this number, because it restricted the \
                    account; do not write to strangers for some days";
    reason(ReasonCode::Restricted, sentence.to_owned(), Some(RESTRICTED))
}

/// When the restriction of an account counts as over, if WhatsApp restricted it. WhatsApp does not say how long it
/// lasts.
pub fn restricted_until(connection: &Connection) -> Option<Timestamp> {
    let reason = connection.reason.as_ref()?;
    (reason.code == ReasonCode::Restricted.into()).then(|| connection.since.plus(RESTRICTED_FOR))
}

fn reason(code: ReasonCode, sentence: String, provider_code: Option<i64>) -> Reason {
    Reason { code: code.into(), sentence, provider_code }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn code(verdict: &Verdict) -> &str {
        verdict.reason.as_ref().map_or("", |reason| reason.code.as_str())
    }

    #[test]
    fn a_session_that_needs_a_person_stays_closed() {
        let sentence = || "x".to_owned();
        for (end, expected) in [
            (End::QrExhausted, "qr_expired"),
            (End::Unlinked, "logged_out"),
            (End::AccountLocked, "account_locked"),
            (End::Replaced, "replaced"),
            (End::ClientOutdated, "client_outdated"),
            (End::PasskeyTimedOut, "passkey_timed_out"),
            (End::PasskeyRefused { sentence: sentence() }, "passkey_refused"),
            (End::BusinessRefused { sentence: sentence() }, "business_pairing_refused"),
            (End::PairingFailed { sentence: sentence() }, "pairing_failed"),
            (End::Refused { code: 403, sentence: sentence() }, "connection_refused"),
        ] {
            let verdict = after(&end, true, 0, NOW);
            assert_eq!((code(&verdict), verdict.then), (expected, Then::Close), "{end:?}");
        }
    }

    #[test]
    fn the_session_reconnects_after_the_end_of_a_ban() {
        let until = NOW.plus(Duration::from_secs(3600));
        let verdict =
            after(&End::Banned(Ban { until, code: 101, sentence: "too many".to_owned() }), true, 0, NOW);
        let reason = verdict.reason.unwrap();
        assert!(reason.sentence.contains("2023-11-14T23:13:20.000Z"), "{}", reason.sentence);
        assert_eq!(reason.provider_code, Some(101));
        assert_eq!(verdict.then, Then::OpenNotBefore(Duration::from_secs(3660)));
    }

    #[test]
    fn each_failure_in_a_row_waits_longer_up_to_a_bound() {
        let wait = |failures| after(&End::Failed { sentence: "x".to_owned() }, true, failures, NOW).then;
        assert_eq!(wait(0), Then::OpenAfter(Duration::from_secs(5)));
        assert_eq!(wait(2), Then::OpenAfter(Duration::from_secs(20)));
        assert_eq!(wait(u32::MAX), Then::OpenAfter(LONGEST_WAIT));
    }

    #[test]
    fn the_first_failed_attempts_are_connecting_and_later_ones_are_unreachable() {
        assert_eq!(unreachable(1, "refused"), (Status::Connecting, None));
        let (status, reason) = unreachable(3, "refused.");
        assert_eq!(status, Status::Disconnected);
        assert_eq!(reason.unwrap().code.as_str(), "unreachable");
    }

    #[test]
    fn a_restart_opens_all_sessions_but_those_that_wait_for_a_person() {
        let verdict = |end| after(&end, true, 0, NOW);
        let waits = |Verdict { status, reason, then: _ }| {
            waits_for_a_person(&Connection { status, reason, since: NOW })
        };
        assert!(waits(verdict(End::Replaced)));
        assert!(waits(verdict(End::Refused { code: 403, sentence: "x".to_owned() })));
        let status = Status::Disconnected;
        assert!(waits(Verdict { status, reason: Some(link_lost()), then: Then::Close }));
        assert!(!waits(verdict(End::ClientOutdated)), "a newer program may connect");
        assert!(!waits(verdict(End::Stopped)));
    }

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_a_quarter_of_an_hour() {
        for (failures, seconds) in [5, 10, 20, 40, 80, 160, 320, 640, 900, 900].into_iter().enumerate() {
            let failures = u32::try_from(failures).unwrap();
            for end in [End::Failed { sentence: "x".to_owned() }, End::Stopped] {
                let verdict = after(&end, true, failures, NOW);
                assert_eq!(
                    verdict.then,
                    Then::OpenAfter(Duration::from_secs(seconds)),
                    "{failures} failures"
                );
                assert_eq!((verdict.status, code(&verdict)), (Status::Disconnected, "session_failed"));
            }
        }
    }

    #[test]
    fn a_session_without_a_phone_that_failed_is_not_opened_again_by_itself() {
        let verdict = after(&End::Failed { sentence: "x".to_owned() }, false, 0, NOW);
        assert_eq!((code(&verdict), verdict.then), ("session_failed", Then::Close));
    }

    #[test]
    fn an_expired_ban_still_delays_the_session_by_a_minute() {
        for until in [NOW, NOW.minus(Duration::from_secs(3_600))] {
            let ban = Ban { until, code: 101, sentence: "x".to_owned() };
            assert_eq!(after(&End::Banned(ban), true, 0, NOW).then, Then::OpenNotBefore(AFTER_BAN));
        }
    }

    #[test]
    fn a_channel_is_connecting_until_the_third_failed_attempt_in_a_row() {
        assert_eq!([0, 1, 2].map(|attempts| unreachable(attempts, "x").0), [Status::Connecting; 3]);
        assert_eq!([3, 4].map(|attempts| unreachable(attempts, "x").0), [Status::Disconnected; 2]);
    }

    #[test]
    fn a_restriction_lasts_a_day_and_no_other_reason_restricts() {
        let of = |reason| Connection { status: Status::Connected, reason, since: NOW };
        assert_eq!(restricted_until(&of(Some(restricted()))), Some(NOW.plus(RESTRICTED_FOR)));
        assert_eq!(restricted_until(&of(Some(link_lost()))), None);
        assert_eq!(restricted_until(&of(None)), None);
    }

    #[test]
    fn only_a_channel_that_is_disconnected_waits_for_a_person() {
        for status in [Status::Pairing, Status::Connecting, Status::Connected] {
            let reason = Some(link_lost());
            assert!(!waits_for_a_person(&Connection { status, reason, since: NOW }), "{status}");
        }
        assert!(!waits_for_a_person(&Connection { status: Status::Disconnected, reason: None, since: NOW }));
    }
}
