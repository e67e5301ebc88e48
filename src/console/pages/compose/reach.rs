//! The running total of the recipients, below their fields: how many people the form names, before there is a message.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use maud::{Markup, html};

use super::choice::Choice;
use super::{audience, bulk, content, in_time, list};
use crate::console::State;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::channel::Kind;
use crate::domain::template::Category;
use crate::engine;
use crate::engine::plan::Outcome;

/// How old a total may be.
const FRESH: Duration = Duration::from_secs(20);
/// The fields that name people.
const NAMING: [&str; 4] = ["tag", "segment", "numbers", "person"];
/// The fields that decide how many they are.
const FIELDS: [&str; 5] = ["tag", "segment", "without", "numbers", "person"];

/// How many people the form names.
#[derive(Default)]
pub(super) enum Reach {
    /// Nobody is named yet, or the page does not say.
    #[default]
    Unknown,
    Counting,
    Counted(Total),
}

/// The people, and those who are named and get nothing.
pub(super) struct Total {
    people: u64,
    suppressed: u64,
    others: u64,
}

impl From<&Outcome> for Total {
    fn from(outcome: &Outcome) -> Self {
        let suppressed = outcome.suppressed.values().sum();
        let others = outcome.skipped.count.saturating_sub(suppressed);
        let closed = outcome.instead.as_ref().map_or(0, |closed| closed.course.recipients);
        Self { people: outcome.course.recipients + closed, suppressed, others }
    }
}

/// Counts the people, as long as a page waits.
pub(super) async fn read(
    state: &Data<State>,
    viewer: &Viewer,
    choice: &Choice,
    words: &Words,
) -> Result<Reach> {
    let business = choice.channels.iter().filter(|channel| channel.kind == Kind::BusinessAccount);
    // Who gets a template does not depend on which account sends it.
    let channel = choice.channel.iter().chain(business).next().cloned();
    let audience = bulk::audience(state, words).ok();
    // The people of a file are none of these.
    let is_of_file_alone = list::named(words).is_some()
        && NAMING.iter().all(|name| words.all(name).all(|value| value.trim().is_empty()));
    let is_counted = !choice.is_web() && !is_of_file_alone;
    let (Some(channel), Some(audience), true) = (channel, audience, is_counted) else {
        return Ok(Reach::Unknown);
    };
    let is_marketing = choice.template.as_ref().map(|template| template.category == Category::Marketing);
    // While no template is chosen yet, nobody is left out for not having written lately.
    let is_marketing = is_marketing.or((choice.kind == content::Kind::Template).then_some(false));
    let by = is_marketing.is_none().then_some(channel.id);
    let instead = choice.instead.chosen.as_ref().filter(|_| is_marketing.is_none());
    let instead = instead.map(|template| template.category == Category::Marketing);
    let mut asked = Words::default();
    for name in FIELDS {
        words.all(name).for_each(|value| asked.add(name, value));
    }
    let digest = hex::encode(asked.digest(&format!("{is_marketing:?} {instead:?} {by:?}"), &[]));
    let (key, engine) = (format!("reach {} {digest}", viewer.company.id), state.engine.clone());
    let counted = in_time(state, key, FRESH, async move {
        engine.sends().reach(&channel, audience, is_marketing, instead).await
    });
    Ok(match counted.await? {
        None => Reach::Counting,
        Some(counted) => match counted.as_ref() {
            Ok(outcome) => Reach::Counted(outcome.into()),
            Err(engine::Error::Internal) => return Err(Error::Internal),
            // A tag that somebody has just deleted, or a database that is away: the check says so.
            Err(_) => Reach::Unknown,
        },
    })
}

/// The total, and what the numbers are read as, for a page that is being filled in.
pub(crate) async fn follow(viewer: Viewer, state: Data<State>, form: Form) -> Result<HttpResponse> {
    let choice = Choice::read(&state, &viewer, form.words()).await?;
    let reach = read(&state, &viewer, &choice, form.words()).await?;
    let shown = html! {
        (shown(viewer.text, &reach, list::named(form.words()).is_some()))
        (audience::reading(&state, &viewer, form.words()).await?)
    };
    let shown = shown.into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

/// The total in words; `has_list` for a form with a file, whose people are counted by the check.
pub(super) fn shown(text: Text, reach: &Reach, has_list: bool) -> Markup {
    html! {
        p.reach id="reach" role="status" {
            @match reach {
                Reach::Unknown if has_list => {}
                Reach::Unknown => span.soft { (text.get("compose-reach-nobody")) },
                Reach::Counting => span.soft { (text.get("compose-reach-counting")) },
                Reach::Counted(Total { people, suppressed, others }) => {
                    strong { (text.with("compose-reach", [("count", (*people).into())])) }
                    @if *suppressed > 0 { " " span { (text.with("compose-reach-opted-out", [("count", (*suppressed).into())])) } }
                    @if *others > 0 { " " span.soft { (text.with("compose-reach-others", [("count", (*others).into())])) } }
                }
            }
            @if has_list { " " span.soft { (text.get("compose-reach-list")) } }
        }
    }
}
