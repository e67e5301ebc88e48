//! What the company answers by itself: confirmations of opt-outs and opt-ins, a text outside of the opening hours, and marks
//! that say that messages were read.

use actix_web::web::Data;
use maud::html;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::zone::Zone;
use crate::domain::automatic::{
    AnswerKind, AutomaticTexts, InvalidAnswer, InvalidHours, LONGEST_ANSWER, OpeningHours,
};

/// The path of this page.
const PLACE: &str = "/console/automatic-answers";
/// The most characters of the hours of a day.
const LONGEST_DAY: usize = 60;
/// The field with the choice of read marks, and its values.
const READING: &str = "reading";
const TOLD: &str = "told";
const HIDDEN: &str = "hidden";
/// The days as the form names them, from Monday on, and their texts.
const DAYS: [(&str, &str); 7] = [
    ("monday", "automatic-monday"),
    ("tuesday", "automatic-tuesday"),
    ("wednesday", "automatic-wednesday"),
    ("thursday", "automatic-thursday"),
    ("friday", "automatic-friday"),
    ("saturday", "automatic-saturday"),
    ("sunday", "automatic-sunday"),
];

pub(crate) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page> {
    let texts = state.engine.company(viewer.company.id).await?.automatic().texts().await?;
    let now = Timestamp::now();
    // Until somebody chooses a zone, the person's own is the likeliest.
    let is_unset = texts == AutomaticTexts::default();
    let zone = if is_unset { viewer.zone.label(now) } else { Zone::named(texts.hours.zone()).label(now) };
    let days = DAYS.map(|(name, _)| name).into_iter().zip(texts.hours.days());
    let AutomaticTexts { stop, start, away, hours: _, hides_reading } = texts;
    let values = [("stop_text", stop), ("start_text", start), ("away_text", away)];
    let values = values.map(|(name, text)| (name, text.unwrap_or_default()));
    let reading = if hides_reading { HIDDEN } else { TOLD };
    let others = [("time_zone", zone), (READING, reading.to_owned())];
    let form = Form::filled(viewer.text, values.into_iter().chain(others).chain(days));
    Ok(page(&viewer, &form))
}

/// Sets what is answered.
pub(crate) async fn save(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let [stop, start, away] =
        ["stop_text", "start_text", "away_text"].map(|name| form.optional(name, LONGEST_ANSWER));
    let zone = Zone::read(&form.required("time_zone", 64), Timestamp::now());
    if zone.is_none() {
        form.fault("time_zone", text.get("account-zone-unknown"));
    }
    let days = DAYS.map(|(name, _)| form.optional(name, LONGEST_DAY).unwrap_or_default());
    let hours = OpeningHours::parse(zone.unwrap_or("UTC"), days.iter().map(String::as_str));
    match &hours {
        Err(InvalidHours::Day { day }) => form.fault(day, text.get("automatic-day-wrong")),
        Err(InvalidHours::Zone) => form.fault("time_zone", text.get("account-zone-unknown")),
        Ok(_) => {}
    }
    let hours = hours.unwrap_or_default();
    let texts = AutomaticTexts::new(stop.as_deref(), start.as_deref(), away.as_deref(), hours);
    if let Err((kind, wrong)) = &texts {
        form.fault(field(*kind), sentence(text, *wrong));
    }
    let (Ok(texts), false) = (texts, form.has_faults()) else {
        return Ok(page(&viewer, &form, None).unprocessable().into());
    };
    let texts = texts.hiding_reading(form.words().one(READING) == HIDDEN);
    let records = state.engine.company(viewer.company.id).await?;
    records.automatic().set_texts(&viewer.who(), &texts).await?;
    drop(records);
    Ok(Answer::done(&state, &viewer, text.get("automatic-saved"), PLACE))
}

/// The field of a text.
const fn field(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Stop => "stop_text",
        AnswerKind::Start => "start_text",
        AnswerKind::Away => "away_text",
    }
}

fn sentence(text: Text, wrong: InvalidAnswer) -> String {
    match wrong {
        InvalidAnswer::TooLong => text.with("fault-field-too-long", [("most", LONGEST_ANSWER.into())]),
        InvalidAnswer::IsAWord => text.get("automatic-is-a-word"),
    }
}

fn page(viewer: &Viewer, form: &Form) -> Page {
    let text = viewer.text;
    let zones = Zone::labels(Timestamp::now());
    let area = |name: &str, label: &str, hint: &str| {
        Field::new(form, name, label).hint(hint).most(LONGEST_ANSWER).area(3)
    };
    let body = html! {
        (faults(form))
        p { (text.get("automatic-what")) }
        form method="post" action=(PLACE) {
            fieldset.plain disabled[!viewer.is_owner()] {
                section.panel aria-labelledby="opt-outs" {
                    h2 id="opt-outs" { (text.get("automatic-opt-outs")) }
                    p { a href="/console/suppressions#words" { (text.get("automatic-words")) } }
                    (area("stop_text", &text.get("automatic-stop"), &text.get("automatic-stop-hint")))
                    (area("start_text", &text.get("automatic-start"), &text.get("automatic-start-hint")))
                }
                section.panel aria-labelledby="away" {
                    h2 id="away" { (text.get("automatic-away-title")) }
                    (area("away_text", &text.get("automatic-away"), &text.get("automatic-away-hint")))
                    (Field::new(form, "time_zone", &text.get("account-zone")).required().most(64).suggesting(zones.iter()))
                    p.hint { (text.get("automatic-hours-hint")) }
                    @for (name, label) in DAYS {
                        (Field::new(form, name, &text.get(label)).most(LONGEST_DAY).text())
                    }
                }
                section.panel aria-labelledby="read-marks" {
                    h2 id="read-marks" { (text.get("automatic-reading-title")) }
                    (Field::new(form, READING, &text.get("automatic-reading")).hint(&text.get("automatic-reading-hint"))
                        .radios([(TOLD, text.get("automatic-reading-told")), (HIDDEN, text.get("automatic-reading-hidden"))]))
                }
                @if viewer.is_owner() { button type="submit" { (text.get("automatic-save")) } }
            }
        }
    };
    Page::new(text.get("automatic-title"), Menu::AutomaticAnswers, body)
}
