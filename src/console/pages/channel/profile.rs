//! The profile of a business account's number: read at the provider, and changed there.

use crate::engine::TemplateDesk;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::of_kind;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::library::OfferedFiles;
use crate::console::component::notice::fault;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::link::file_link;
use crate::engine::{self, Declined};
use crate::error::Code;

/// The texts of a profile with the most characters of each, in their order on the page.
const TEXTS: [(&str, &str, usize); 4] = [
    ("about", "profile-about", 139),
    ("description", "profile-description", 512),
    ("address", "profile-address", 256),
    ("email", "profile-email", 128),
];
/// The websites that a profile may have, and the most characters of each.
const WEBSITES: [&str; 2] = ["website_1", "website_2"];
const WEBSITE: usize = 256;
/// The most characters of a trade.
const TRADE: usize = 64;
/// The trades in the provider's words, with the keys of their names.
const TRADES: [(&str, &str); 18] = [
    ("APPAREL", "profile-trade-apparel"),
    ("AUTO", "profile-trade-auto"),
    ("BEAUTY", "profile-trade-beauty"),
    ("EDU", "profile-trade-edu"),
    ("ENTERTAIN", "profile-trade-entertain"),
    ("EVENT_PLAN", "profile-trade-event-plan"),
    ("FINANCE", "profile-trade-finance"),
    ("GOVT", "profile-trade-govt"),
    ("GROCERY", "profile-trade-grocery"),
    ("HEALTH", "profile-trade-health"),
    ("HOTEL", "profile-trade-hotel"),
    ("NONPROFIT", "profile-trade-nonprofit"),
    ("NOT_A_BIZ", "profile-trade-not-a-biz"),
    ("PROF_SERVICES", "profile-trade-prof-services"),
    ("RESTAURANT", "profile-trade-restaurant"),
    ("RETAIL", "profile-trade-retail"),
    ("TRAVEL", "profile-trade-travel"),
    ("OTHER", "profile-trade-other"),
];
/// The provider's word for no trade, which cannot be given.
const NO_TRADE: &str = "UNDEFINED";

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let channel = of_kind(&viewer, &state, id, Kind::BusinessAccount).await?;
    match TemplateDesk::of(&state.engine, &channel).profile().await {
        Ok(profile) => page(&viewer, &state, &channel, &profile, None).await,
        Err(declined) => {
            let said = said(viewer.text, declined)?;
            let body = html! { (fault(&said)) (back(viewer.text, &channel)) };
            Ok(Page::new(viewer.text.get("profile-title"), Menu::Channels, body))
        }
    }
}

/// Changes the fields that are other than those at the provider.
pub(crate) async fn change(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::BusinessAccount).await?;
    let desk = TemplateDesk::of(&state.engine, &channel);
    let present = match desk.profile().await {
        Ok(present) => present,
        Err(declined) => {
            form.general_fault(said(viewer.text, declined)?);
            Map::new()
        }
    };
    let fields = read(&mut form, &present);
    if !form.has_faults() {
        let act = async || {
            if !fields.is_empty()
                && let Err(declined) = desk.set_profile(&viewer.who(), &fields).await
            {
                return Ok(Err(declined));
            }
            Ok(Ok(Answer::done(&state, &viewer, viewer.text.get("profile-saved"), place(&channel))))
        };
        match state.once.attempt::<Declined>(&viewer, &form, act).await? {
            Ok(answer) => return Ok(answer),
            Err(declined) => form.general_fault(said(viewer.text, declined)?),
        }
    }
    Ok(page(&viewer, &state, &channel, &present, Some(&form)).await?.unprocessable().into())
}

/// The fields of the form that are other than those of the `present` profile.
fn read(form: &mut Form, present: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = Map::new();
    let before = |name: &str| present.get(name).and_then(Value::as_str).unwrap_or_default();
    for (name, _, most) in TEXTS {
        let given = form.optional(name, most).unwrap_or_default();
        if given != before(name) {
            fields.insert(name.to_owned(), given.into());
        }
    }
    if let Some(trade) = form.optional("vertical", TRADE).filter(|trade| trade != before("vertical")) {
        fields.insert("vertical".to_owned(), trade.into());
    }
    let sites: Vec<_> = WEBSITES.iter().filter_map(|name| form.optional(name, WEBSITE)).collect();
    if sites != websites(present) {
        fields.insert("websites".to_owned(), json!(sites));
    }
    match form.words().one("picture").to_owned() {
        chosen if chosen.is_empty() => {}
        chosen => match chosen.parse() {
            Ok(file) => {
                fields.insert("profile_picture_handle".to_owned(), file_link(file).into());
            }
            Err(_) => form.fault("picture", form.text().get("fault-field-choice")),
        },
    }
    fields
}

/// The profile's trade in the provider's words, which may be none of [`TRADES`]; empty if it has none.
fn trade(profile: &Map<String, Value>) -> &str {
    profile.get("vertical").and_then(Value::as_str).filter(|word| *word != NO_TRADE).unwrap_or_default()
}

/// A trade's name.
fn named(text: Text, word: &str) -> String {
    let known = TRADES.iter().find(|(known, _)| *known == word);
    known.map_or_else(|| word.to_owned(), |(_, key)| text.get(key))
}

/// The trades to choose from: the present one too, whatever it is.
fn trades(text: Text, present: &str) -> impl Iterator<Item = (&str, String)> {
    let is_known = TRADES.iter().any(|(word, _)| *word == present);
    let own = if present.is_empty() { text.get("profile-trade-none") } else { present.to_owned() };
    let first = (!is_known).then_some((present, own));
    first.into_iter().chain(TRADES.iter().map(move |(word, key)| (*word, text.get(key))))
}

/// The websites of a profile.
fn websites(profile: &Map<String, Value>) -> Vec<&str> {
    let sites = profile.get("websites").and_then(Value::as_array).into_iter().flatten();
    sites.filter_map(Value::as_str).collect()
}

/// Why the provider was not asked or said no, in the person's language.
fn said(text: Text, declined: Declined) -> Result<String> {
    match declined {
        Declined::ByProvider(failure) => {
            Ok(text.with("profile-refused", [("reason", failure.sentence.into())]))
        }
        Declined::Here(engine::Error::Refused(refusal)) => match refusal.code {
            Code::ProviderUnavailable => Ok(text.get("profile-away")),
            Code::MediaNotFound | Code::MediaTooLarge => Ok(text.get("profile-picture-wrong")),
            _ => Err(engine::Error::from(refusal).into()),
        },
        Declined::Here(error) => Err(error.into()),
    }
}

fn place(channel: &Channel) -> String {
    format!("/console/channels/{}/profile", channel.id)
}

fn back(text: Text, channel: &Channel) -> Markup {
    html! {
        p { a href=(format!("/console/channels/{}", channel.id)) { (text.get("profile-back")) " " bdi { (channel.name) } } }
    }
}

/// The page, with a submitted form or the profile as it is.
async fn page(
    viewer: &Viewer,
    state: &State,
    channel: &Channel,
    profile: &Map<String, Value>,
    submitted: Option<&Form>,
) -> Result<Page> {
    let text = viewer.text;
    let value = |name: &str| profile.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let texts = TEXTS.map(|(name, ..)| (name, value(name)));
    let sites = WEBSITES.into_iter().zip(websites(profile).into_iter().map(str::to_owned));
    let filled = texts.into_iter().chain([("vertical", trade(profile).to_owned())]).chain(sites);
    let present = Form::filled(text, filled);
    let form = submitted.unwrap_or(&present);
    let files = OfferedFiles::read(&state.engine, viewer.company.id).await?;
    let has_picture = profile.get("profile_picture_url").is_some_and(Value::is_string);
    let body = html! {
        p { (text.get("profile-lead")) }
        @if viewer.is_owner() {
            form.panel method="post" {
                (faults(form)) (once(form))
                @for (name, key, most) in TEXTS {
                    (Field::new(form, name, &text.get(key)).most(most).text())
                }
                (Field::new(form, "vertical", &text.get("profile-trade")).select(trades(text, trade(profile))))
                @for (number, name) in (1_u64..).zip(WEBSITES) {
                    (Field::new(form, name, &text.with("profile-website", [("number", number.into())])).most(WEBSITE).input("url"))
                }
                p { (text.get(if has_picture { "profile-picture-present" } else { "profile-picture-none" })) }
                (files.any(form, ("picture", &text.get("profile-picture")), true))
                button type="submit" { (text.get("profile-save")) }
            }
        } @else {
            section.panel {
                dl.facts {
                    @for (name, key, _) in TEXTS { dt { (text.get(key)) } dd { (value(name)) } }
                    dt { (text.get("profile-trade")) } dd { (named(text, trade(profile))) }
                    @for (number, site) in (1_u64..).zip(websites(profile)) {
                        dt { (text.with("profile-website", [("number", number.into())])) } dd { bdi { (site) } }
                    }
                }
            }
        }
        (back(text, channel))
    };
    Ok(Page::new(text.get("profile-title"), Menu::Channels, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    #[test]
    fn a_trade_that_is_not_known_can_be_kept() {
        let text = Text(Language::English);
        let first = |present| trades(text, present).next().unwrap();
        assert_eq!(first(""), ("", "Not chosen".to_owned()));
        assert_eq!(first("SPACE"), ("SPACE", "SPACE".to_owned()));
        assert_eq!(trades(text, "RETAIL").count(), TRADES.len());
        assert_eq!(named(text, "RETAIL"), "Shop");
    }

    #[test]
    fn only_other_values_go_to_the_provider() {
        let present = json!({ "about": "Bread", "vertical": "RETAIL", "websites": ["https://a.example"] });
        let Value::Object(present) = present else { panic!("it is an object") };
        let typed = [
            ("about", "Bread"),
            ("email", "shop@a.example"),
            ("vertical", ""),
            ("website_1", "https://a.example"),
        ];
        let typed = typed.map(|(name, value)| (name, value.to_owned()));
        let mut form = Form::filled(Text(Language::English), typed);
        assert_eq!(Value::Object(read(&mut form, &present)), json!({ "email": "shop@a.example" }));
        form.put("about", "");
        form.put("website_1", "");
        let changed = json!({ "about": "", "email": "shop@a.example", "websites": [] });
        assert_eq!(Value::Object(read(&mut form, &present)), changed);
        form.put("picture", "cake");
        read(&mut form, &present);
        assert!(form.fault_of("picture").is_some());
    }
}
