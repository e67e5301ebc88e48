//! The meaning of the library's events.

use whatsapp_rust::wacore::chrono::{DateTime, Duration as Span};
use whatsapp_rust::wacore::types::events::{
    BatchOrigin, ClientOutdated, ConnectFailure, Connected, DecryptFailMode, InboundMessage, LoggedOut,
    MessageBatch, PairError, PairPasskeyConfirmation, PairPasskeyError, PairPasskeyRequest, PairSuccess,
    PairingQrCode, PairingQrCodesExhausted, Receipt, ServerAck, StreamReplaced, TempBanReason, TemporaryBan,
    UnavailableType, UndecryptableMessage,
};
use whatsapp_rust::wacore::types::message::MessageInfo;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn told(event: &library::Event) -> Vec<Event> {
    let event_of = |meaning| match meaning {
        Meaning::Event(event) => event,
        other => panic!("{other:?}"),
    };
    meanings(event, NOW).into_iter().map(event_of).collect()
}

fn end(event: &library::Event) -> End {
    match meanings(event, NOW).pop() {
        Some(Meaning::End(end)) => end,
        other => panic!("{other:?}"),
    }
}

fn jid(text: &str) -> LibraryJid {
    text.parse().unwrap()
}

fn refused_for(reason: ConnectFailureReason) -> library::Event {
    library::Event::ConnectFailure(ConnectFailure::builder().reason(reason).build())
}

#[test]
fn a_qr_code_is_told_as_a_secret_with_its_time() {
    let timeout = Duration::from_secs(60);
    let code =
        PairingQrCode::builder().code("2@ref,noise,identity,adv,1".to_owned()).timeout(timeout).build();
    let told = told(&library::Event::PairingQrCode(code));
    let payload = Secret::new("2@ref,noise,identity,adv,1".to_owned());
    assert_eq!(told, [Event::Qr { payload, valid_for: timeout }]);
    assert!(!format!("{told:?}").contains("adv"));
}

#[test]
fn exhausted_qr_codes_end_the_session_unless_a_pairing_code_is_still_good() {
    let codes = |disconnected| {
        library::Event::PairingQrCodesExhausted(
            PairingQrCodesExhausted::builder().disconnected(disconnected).build(),
        )
    };
    assert_eq!(end(&codes(true)), End::QrExhausted);
    assert_eq!(told(&codes(false)), [Event::QrExhausted]);
}

#[test]
fn a_paired_device_reports_its_account() {
    let paired = |business: &str| {
        library::Event::PairSuccess(
            PairSuccess::builder()
                .id(jid("5511988887777:12@s.whatsapp.net"))
                .lid(jid("200000000000001:12@lid"))
                .business_name(business.to_owned())
                .platform("android".to_owned())
                .build(),
        )
    };
    let expected = |business_name| Event::Paired {
        number: PhoneNumber::parse("5511988887777").unwrap(),
        lid: Some(Jid::parse("200000000000001@lid").unwrap()),
        business_name,
    };
    assert_eq!(told(&paired("")), [expected(None)]);
    assert_eq!(told(&paired("Shop")), [expected(Some("Shop".to_owned()))]);
}

#[test]
fn each_end_has_its_own_reason() {
    let out =
        |reason| library::Event::LoggedOut(LoggedOut::builder().on_connect(false).reason(reason).build());
    assert_eq!(end(&out(ConnectFailureReason::LoggedOut)), End::Unlinked);
    assert_eq!(end(&out(ConnectFailureReason::AccountLocked)), End::AccountLocked);
    assert_eq!(end(&library::Event::StreamReplaced(StreamReplaced::builder().build())), End::Replaced);
    assert_eq!(end(&library::Event::ClientOutdated(ClientOutdated::builder().build())), End::ClientOutdated);
    let request = PairPasskeyRequest::builder().request_options_json("{}".to_owned()).build();
    let refused = end(&library::Event::PairPasskeyRequest(request));
    assert!(
        matches!(&refused, End::PasskeyRefused { sentence } if sentence.contains("challenge")),
        "{refused:?}"
    );
    let error = PairPasskeyError::builder().error("bad-signature".to_owned()).continuation(true).build();
    let sentence = "bad-signature".to_owned();
    assert_eq!(end(&library::Event::PairPasskeyError(error)), End::PasskeyRefused { sentence });

    let refused = end(&refused_for(ConnectFailureReason::BadUserAgent));
    assert!(matches!(refused, End::Refused { code: 409, .. }), "{refused:?}");
}

#[test]
fn a_passkey_that_is_asked_for_is_told_with_its_challenge_and_then_with_the_code() {
    let options = r#"{"challenge":"YWJj","timeout":120000}"#;
    let request = PairPasskeyRequest::builder().request_options_json(options.to_owned()).build();
    let challenge = Challenge::parse(options).unwrap();
    let required = Event::PasskeyRequired { challenge, valid_for: Duration::from_secs(120) };
    assert_eq!(told(&library::Event::PairPasskeyRequest(request)), [required]);
    for is_proven in [false, true] {
        let builder = PairPasskeyConfirmation::builder().code("ABCD-1234".to_owned());
        let shown = builder.skip_handoff_ux(is_proven).build();
        let code = Event::PasskeyCode { code: Secret::new("ABCD-1234".to_owned()), is_proven };
        assert_eq!(told(&library::Event::PairPasskeyConfirmation(shown)), [code]);
    }
}

#[test]
fn a_failing_server_is_no_end() {
    let meanings = meanings(&refused_for(ConnectFailureReason::ServiceUnavailable), NOW);
    assert!(matches!(&meanings[..], [Meaning::Failed(sentence)] if sentence.contains("503")), "{meanings:?}");
}

#[test]
fn a_ban_tells_until_when() {
    let ban =
        TemporaryBan::builder().code(TempBanReason::SentToTooManyPeople).expire(Span::seconds(3_600)).build();
    let End::Banned(ban) = end(&library::Event::TemporaryBan(ban)) else { panic!("a ban") };
    assert_eq!((ban.until, ban.code), (NOW.plus(Duration::from_secs(3_600)), 101));
    assert!(ban.sentence.contains("address books"), "{}", ban.sentence);
}

#[test]
fn a_business_that_cannot_be_paired_is_distinguished_from_other_failures() {
    let error = |error: &str| {
        library::Event::PairError(
            PairError::builder()
                .id(jid("5511988887777@s.whatsapp.net"))
                .lid(jid("200000000000001@lid"))
                .business_name(String::new())
                .platform(String::new())
                .error(error.to_owned())
                .build(),
        )
    };
    let business = end(&error("pairing crypto failed with code 401: signature-mismatch (source: x)"));
    assert!(matches!(business, End::BusinessRefused { .. }) && business.voids_records(), "{business:?}");
    let other = end(&error("pairing crypto failed with code 401: hmac-mismatch (source: x)"));
    assert!(matches!(other, End::PairingFailed { .. }), "{other:?}");
}

#[test]
fn the_server_s_acks_are_heard_for_messages_only() {
    let ack = |class: Option<&str>, error: Option<&str>, seconds: Option<i64>| {
        library::Event::ServerAck(
            ServerAck::builder()
                .id("3EB0AA".to_owned())
                .maybe_class(class.map(str::to_owned))
                .maybe_error(error.map(str::to_owned))
                .maybe_timestamp(seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)))
                .build(),
        )
    };
    let expected = |state, at| {
        Event::Ack(Ack {
            id: MessageId::parse("3EB0AA").unwrap(),
            state,
            at: Timestamp::from_millis(at),
            from: None,
        })
    };
    assert_eq!(told(&ack(Some("message"), None, Some(7))), [expected(AckState::Server, 7_000)]);
    assert_eq!(told(&ack(Some("message"), None, None)), [expected(AckState::Server, NOW.millis())]);
    let [Event::Ack(restricted)] = &told(&ack(Some("message"), Some("463"), Some(7)))[..] else {
        panic!("an ack")
    };
    assert!(restricted.state.is_restricted());
    let [Event::Ack(refused)] = &told(&ack(Some("message"), Some("479"), Some(7)))[..] else {
        panic!("an ack")
    };
    assert_eq!(refused.state, AckState::Refused { code: Some(479) });
    assert!(!refused.state.is_restricted());
    assert!(told(&ack(Some("receipt"), None, None)).is_empty());
    assert!(told(&ack(None, None, None)).is_empty());
}

#[test]
fn a_receipt_is_told_for_each_of_its_messages() {
    let receipt = |kind| {
        let source = MessageSource {
            chat: jid("200000000000001@lid"),
            sender: jid("200000000000001:3@lid"),
            ..MessageSource::default()
        };
        library::Event::Receipt(
            Receipt::builder()
                .source(source)
                .message_ids(vec!["A".to_owned(), "not an id".to_owned(), "B".to_owned()])
                .timestamp(DateTime::from_timestamp(9, 0).unwrap())
                .r#type(kind)
                .offline(true)
                .build(),
        )
    };
    for (kind, state) in [
        (ReceiptType::Delivered, AckState::Delivered),
        (ReceiptType::Read, AckState::Read),
        (ReceiptType::Played, AckState::Played),
    ] {
        let ack = |id| {
            let from = Some(Jid::parse("200000000000001@lid").unwrap());
            let at = Timestamp::from_millis(9_000);
            Event::Ack(Ack { id: MessageId::parse(id).unwrap(), state, at, from })
        };
        assert_eq!(told(&receipt(kind)), [ack("A"), ack("B")]);
    }
    for kind in [ReceiptType::ReadSelf, ReceiptType::Sender, ReceiptType::Retry, ReceiptType::Sent] {
        assert!(told(&receipt(kind)).is_empty());
    }
}

fn wrote(source: MessageSource) -> library::Event {
    let info = Arc::new(MessageInfo { source, ..MessageInfo::default() });
    let message = InboundMessage::builder().message(Arc::default()).info(info).build();
    let batch = MessageBatch::builder().messages(Arc::from([message])).origin(BatchOrigin::Live).build();
    library::Event::Messages(batch)
}

fn from(sender: &str, sender_alt: Option<&str>) -> MessageSource {
    let (sender, sender_alt) = (jid(sender), sender_alt.map(jid));
    MessageSource { chat: sender.to_non_ad(), sender, sender_alt, ..MessageSource::default() }
}

#[test]
fn a_person_who_writes_to_us_is_reported_by_number() {
    let (number, lid) = ("5511988887777:3@s.whatsapp.net", "200000000000001:3@lid");
    let inbound = [Event::Inbound { from: PhoneNumber::parse("5511988887777").unwrap() }];
    for source in [from(number, None), from(number, Some(lid)), from(lid, Some(number))] {
        assert_eq!(told(&wrote(source.clone())), inbound);
        let unreadable = UndecryptableMessage::builder()
            .info(Arc::new(MessageInfo { source, ..MessageInfo::default() }))
            .is_unavailable(true)
            .unavailable_type(UnavailableType::ViewOnce)
            .decrypt_fail_mode(DecryptFailMode::Show)
            .build();
        assert_eq!(told(&library::Event::UndecryptableMessage(unreadable)), inbound);
    }
    let hidden = meanings(&wrote(from(lid, None)), NOW);
    assert_eq!(hidden, [Meaning::Wrote(Jid::parse("200000000000001@lid").unwrap())]);
}

#[test]
fn our_own_messages_and_messages_to_many_are_not_reported() {
    let person = || from("5511988887777@s.whatsapp.net", None);
    let group = MessageSource { chat: jid("120363000000000001@g.us"), is_group: true, ..person() };
    let status = MessageSource { chat: jid("status@broadcast"), is_group: true, ..person() };
    let own = MessageSource { is_from_me: true, ..person() };
    for source in [group, status, own, from("120363000000000001@newsletter", None)] {
        assert_eq!(meanings(&wrote(source.clone()), NOW), [], "{source:?}");
    }
}

#[test]
fn a_connection_that_can_send_is_told() {
    assert_eq!(told(&library::Event::Connected(Connected::builder().build())), [Event::Connected]);
}
