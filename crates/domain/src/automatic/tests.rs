use super::*;
use crate::inbound::{InboundBody, Peer};
use crate::phone::PhoneNumber;

/// A Monday.
const NOW: &str = "2026-11-30T11:00:00Z";

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn hours(zone: &str, monday: &str) -> Result<OpeningHours, InvalidHours> {
    OpeningHours::parse(zone, [monday])
}

fn message(content: InboundContent) -> InboundMessage {
    InboundMessage {
        id: "wamid.1".to_owned(),
        direction: Direction::In,
        peer: Peer { number: PhoneNumber::from_u64(5_511_900_000_001), ..Peer::default() },
        at: at(NOW),
        is_past: false,
        by_admin: false,
        body: InboundBody::of(content),
    }
}

fn text(body: &str) -> InboundMessage {
    message(InboundContent::Text { body: body.to_owned() })
}

fn rules(hours: OpeningHours) -> AnswerRules {
    let texts =
        AutomaticTexts::new(Some("You get nothing more."), None, Some(" We are closed. "), hours).unwrap();
    AnswerRules { words: OptOutWords::default(), texts }
}

#[test]
fn hours_are_those_of_a_place_and_are_written_as_they_are_read() {
    let open = hours("America/Sao_Paulo", "8:00-12:00, 13:30 – 24:00").unwrap();
    assert_eq!(open.days()[0], "08:00-12:00, 13:30-24:00");
    assert_eq!((open.days()[1].as_str(), open.zone()), ("", "America/Sao_Paulo"));
    assert_eq!(OpeningHours::parse(open.zone(), open.days().iter().map(String::as_str)), Ok(open.clone()));
    for (moment, is_open) in [
        ("2026-11-30T10:59:59Z", false),
        ("2026-11-30T11:00:00Z", true),
        ("2026-11-30T15:00:00Z", false),
        ("2026-12-01T02:59:59Z", true),
        ("2026-12-01T03:00:00Z", false),
    ] {
        assert_eq!(open.are_open(at(moment)), is_open, "{moment}");
    }
    assert!(!OpeningHours::default().are_open(at(NOW)));
    for wrong in
        ["9-12", "09:00", "12:00-09:00", "09:00-12:00, 11:00-13:00", "09:00-24:01", "09:60-10:00", "a:b-c:d"]
    {
        assert_eq!(hours("UTC", wrong), Err(InvalidHours::Day { day: "monday" }), "{wrong}");
    }
    assert_eq!(hours("UTC", "1:00-2:00,2:00-3:00,3:00-4:00,4:00-5:00").ok(), None);
    assert_eq!(hours("Madrid", ""), Err(InvalidHours::Zone));
}

#[test]
fn a_word_is_answered_by_its_confirmation_alone_and_the_rest_while_nobody_is_there() {
    let closed = rules(OpeningHours::default());
    assert_eq!(closed.answer_to(&text("Stop"), at(NOW)), Some(AnswerKind::Stop));
    assert_eq!(closed.answer_to(&text("start"), at(NOW)), None, "there is no text for it");
    assert_eq!(closed.answer_to(&text("please stop"), at(NOW)), Some(AnswerKind::Away));
    let open = rules(hours("UTC", "00:00-24:00").unwrap());
    assert_eq!(open.answer_to(&text("hello"), at(NOW)), None);
    assert_eq!(open.answer_to(&text("stop"), at(NOW)), Some(AnswerKind::Stop));
    let off = AnswerRules { words: OptOutWords { scope: None, ..OptOutWords::default() }, ..closed };
    assert_eq!(off.answer_to(&text("stop"), at(NOW)), Some(AnswerKind::Away), "words have no effect");
}

#[test]
fn what_no_person_wrote_just_now_gets_no_answer() {
    let rules = rules(OpeningHours::default());
    let now = at(NOW);
    let hello = || text("hello");
    let group = Peer { group: Some("12036".to_owned()), ..hello().peer };
    for silent in [
        InboundMessage { direction: Direction::Echo, ..hello() },
        InboundMessage { is_past: true, ..hello() },
        InboundMessage { peer: group, ..hello() },
        InboundMessage { at: at("2026-11-30T09:59:59Z"), ..hello() },
        message(InboundContent::Reaction { message_id: "1".to_owned(), emoji: None }),
        message(InboundContent::Deletion { message_id: "1".to_owned() }),
        message(InboundContent::Call { event: "connect".to_owned() }),
    ] {
        assert_eq!(rules.answer_to(&silent, now), None, "{silent:?}");
    }
    assert_eq!(rules.answer_to(&hello(), now), Some(AnswerKind::Away));
}

#[test]
fn a_text_that_another_service_would_answer_is_refused() {
    let texts = |text: &str| AutomaticTexts::new(None, None, Some(text), OpeningHours::default());
    assert_eq!(texts(" STOP "), Err((AnswerKind::Away, InvalidAnswer::IsAWord)));
    assert_eq!(texts(&"x".repeat(1_001)), Err((AnswerKind::Away, InvalidAnswer::TooLong)));
    assert_eq!(texts(" \n"), Ok(AutomaticTexts::default()));
}
