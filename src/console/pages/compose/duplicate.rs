//! A new send that begins as a copy of another one: the same channel, content and audience.

use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::draft;
use super::instead::INSTEAD;
use super::web::{GROUP, PERSON};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::notice;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::pages::send::words;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::zone::Zone;
use crate::domain::content::Kind;
use crate::domain::send::{NAME_CHARS, Source};
use crate::engine::records::sends::Record;

/// The most numbers that are copied: as many fit into a draft.
const NUMBERS: u64 = 10_000;

/// The fields of a form, by their names.
type Fields = Vec<(String, String)>;

/// What a copy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console::pages) enum CopyKind {
    /// Another send beside the copied one.
    Another,
    /// A send in place of the copied one: with its name and its times.
    Instead,
}

/// Recipients that a copy does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console::pages) enum Lacking {
    /// Numbers that the send had beside its tags.
    BesideTags,
    /// More numbers than a draft has.
    Numbers,
}

impl Lacking {
    /// What the page says of it.
    pub(super) fn notice(self, text: Text) -> Markup {
        let key = match self {
            Self::BesideTags => "drafts-copy-tags",
            Self::Numbers => "drafts-copy-many",
        };
        notice::warning(&html! { p { (text.get(key)) } })
    }
}

/// A copy, and what of the audience it does not have.
pub(in crate::console::pages) struct Duplicate {
    /// The form of the new send.
    pub(in crate::console::pages) form: Form,
    /// The recipients that are not copied.
    pub(in crate::console::pages) lacks: Option<Lacking>,
}

/// Whether the page can write what this send says.
pub(in crate::console::pages) const fn is_possible(send: &Record) -> bool {
    match send.kind {
        Kind::Text
        | Kind::Image
        | Kind::Video
        | Kind::Audio
        | Kind::Document
        | Kind::Template
        | Kind::Interactive => true,
        Kind::Sticker | Kind::Location | Kind::Contacts | Kind::Reaction => false,
    }
}

/// Whether a copy can take the place of this send: it has all its recipients, or all its tags.
pub(in crate::console::pages) fn is_complete(send: &Record) -> bool {
    is_possible(send) && (is_to_tags(send) || send.recipients <= NUMBERS)
}

/// Whether its recipients are those of its tags. A template that goes to a part of a request's people has the tags of all.
fn is_to_tags(send: &Record) -> bool {
    !send.tags.is_empty() && !send.sources.iter().any(|source| matches!(source, Source::Closed(Some(_))))
}

/// The address of the form with a copy of this send.
pub(in crate::console::pages) fn place(send: Uuid) -> String {
    format!("{}?copy={send}", super::PLACE)
}

/// The form with a copy of another send.
pub(super) async fn show(viewer: &Viewer, state: &Data<State>, send: Uuid) -> Result<Page> {
    let Duplicate { form, lacks } = of(viewer, state, send, CopyKind::Another).await?;
    let lacks = html! { @if let Some(lacking) = lacks { (lacking.notice(viewer.text)) } };
    draft::shown(viewer, state, &form, &lacks).await
}

/// A copy of the company's send of this id.
pub(in crate::console::pages) async fn of(
    viewer: &Viewer,
    state: &State,
    send_id: Uuid,
    copy: CopyKind,
) -> Result<Duplicate> {
    let records = state.engine.company(viewer.company.id).await?;
    let send = records.sends().head(send_id, Timestamp::now()).await?.ok_or(Error::NotFound)?;
    let sent = records.sends().sent(send_id).await?.ok_or(Error::NotFound)?;
    let content = serde_json::to_value(&sent.content).map_err(|_| Error::Internal)?;
    let mut fields = vec![("channel".to_owned(), send.channel_id.to_string())];
    written(&content, sent.template_id, &viewer.zone, &mut fields).ok_or(Error::NotFound)?;
    let name = words::name(viewer.text, &send);
    let name = match copy {
        CopyKind::Another => viewer.text.with("drafts-copy-name", [("name", name.into())]),
        CopyKind::Instead => name,
    };
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
    fields.push(("name".to_owned(), name));
    if copy == CopyKind::Instead {
        let times = [("send_at", send.schedule.send_at), ("expires_at", send.schedule.expires_at)];
        let times =
            times.into_iter().filter_map(|(field, at)| Some((field.to_owned(), viewer.zone.field(at?))));
        fields.extend(times);
    }
    let tags = send.sources.iter().filter_map(|source| match source {
        Source::Tag(id) => Some(("tag".to_owned(), id.to_string())),
        Source::WithoutTag(id) => Some(("without".to_owned(), id.to_string())),
        Source::Segment(id) => Some(("segment".to_owned(), id.to_string())),
        Source::Send(_) | Source::Closed(_) => None,
    });
    let tags: Vec<_> = tags.collect();
    // What takes the place of this send leaves the other one alone.
    let instead = match send.instead.filter(|_| copy == CopyKind::Another) {
        Some(id) => records.sends().head(id, Timestamp::now()).await?,
        None => None,
    };
    if let Some(instead) = &instead
        && let Some(sent) = records.sends().sent(instead.id).await?
        && let Some(template) = sent.template_id
    {
        let content = serde_json::to_value(&sent.content).map_err(|_| Error::Internal)?;
        put(&mut fields, INSTEAD, &template.into());
        components(&content["components"], "", &viewer.zone, &mut fields);
    }
    let recipients = send.recipients + instead.as_ref().map_or(0, |instead| instead.recipients);
    let snapshot = records.sends().snapshot(send_id).await?.ok_or(Error::NotFound)?;
    let mut lacks = None;
    if let Some(group) = snapshot.group() {
        fields.extend(
            [("to", GROUP), ("group", group)].map(|(field, value)| (field.to_owned(), value.to_owned())),
        );
    } else if is_to_tags(&send) {
        // Which of the recipients were named by their numbers is not stored.
        lacks = Some(Lacking::BesideTags);
        fields.extend(tags);
    } else if recipients > NUMBERS {
        lacks = Some(Lacking::Numbers);
    } else {
        let mut numbers = Vec::new();
        let other = match &instead {
            Some(instead) => records.sends().snapshot(instead.id).await?,
            None => None,
        };
        for snapshot in [Some(&snapshot), other.as_ref()].into_iter().flatten() {
            let messages = records.messages().from(snapshot, None, 0, NUMBERS).await?;
            let of_send = messages.iter().filter_map(|message| message.outcome.position.recipient);
            numbers.extend(of_send.map(|number| format!("+{number}")));
        }
        if let [number] = &numbers[..] {
            // The field of a linked phone, which has one recipient.
            fields.push(("to".to_owned(), PERSON.to_owned()));
            fields.push(("number".to_owned(), number.clone()));
        }
        fields.push(("numbers".to_owned(), numbers.join("\n")));
    }
    let given = fields.iter().map(|(field, value)| (field.as_str(), value.clone()));
    Ok(Duplicate { form: Form::filled(viewer.text, given), lacks })
}

/// Adds the fields for a content, as it is stored; `None` for one that the page cannot write.
fn written(content: &Value, template: Option<i64>, zone: &Zone, fields: &mut Fields) -> Option<()> {
    let mut add = |field: &str, value: &Value| put(fields, field, value);
    match content["type"].as_str()? {
        "text" => {
            add("type", &"text".into());
            add("message", &content["body"]);
        }
        kind @ ("image" | "video" | "audio" | "document") => {
            add("type", &kind.into());
            add("link", &content["link"]);
            add("caption", &content["caption"]);
        }
        "template" => {
            add("type", &"template".into());
            add("template", &template?.to_string().into());
            components(&content["components"], "", zone, fields);
        }
        "interactive" => interactive(&content["interactive"], fields)?,
        _ => return None,
    }
    Some(())
}

/// Adds a field with this text, unless it is absent.
fn put(fields: &mut Fields, field: &str, value: &Value) {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return,
    };
    fields.push((field.to_owned(), text));
}

/// The entries of a list.
fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Adds the values of a template, or of the card whose fields begin with `card`.
fn components(values: &Value, card: &str, zone: &Zone, fields: &mut Fields) {
    for component in entries(values) {
        let parameters = &component["parameters"];
        match component["type"].as_str().unwrap_or_default() {
            "carousel" => {
                for one in entries(&component["cards"]) {
                    components(&one["components"], &format!("card_{}_", one["card_index"]), zone, fields);
                }
            }
            "limited_time_offer" => {
                let end = parameters[0]["limited_time_offer"]["expiration_time_ms"].as_i64();
                if let Some(end) = end.map(Timestamp::from_millis) {
                    put(fields, "deadline", &zone.field(end).into());
                }
            }
            "button" => {
                let field = format!("{card}button_{}", plain(&component["index"]));
                button(&parameters[0], &field, fields);
            }
            part => {
                for (place, parameter) in entries(parameters).enumerate() {
                    parameter_of(parameter, &format!("{card}{part}"), place + 1, fields);
                }
            }
        }
    }
}

/// A number or a text as it is written in the name of a field.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds a value of the header or the text.
fn parameter_of(parameter: &Value, part: &str, number: usize, fields: &mut Fields) {
    match parameter["type"].as_str().unwrap_or_default() {
        "text" => {
            let name = parameter["parameter_name"].as_str().map_or_else(|| number.to_string(), str::to_owned);
            put(fields, &format!("{part}_{name}"), &parameter["text"]);
        }
        "image" | "video" | "document" => {
            put(fields, &format!("{part}_link"), &parameter["link"]);
            put(fields, &format!("{part}_filename"), &parameter["filename"]);
        }
        "location" => {
            for field in ["latitude", "longitude", "name", "address"] {
                put(fields, &format!("{part}_{field}"), &parameter["location"][field]);
            }
        }
        "product" => {
            put(fields, &format!("{part}_product"), &parameter["product"]["product_retailer_id"]);
            put(fields, &format!("{part}_catalog"), &parameter["product"]["catalog_id"]);
        }
        _ => {}
    }
}

/// Adds the value of a button.
fn button(parameter: &Value, field: &str, fields: &mut Fields) {
    let action = &parameter["action"];
    if action["sections"].is_array() {
        let section = &action["sections"][0];
        put(fields, &format!("{field}_title"), &section["title"]);
        let products =
            entries(&section["product_items"]).filter_map(|item| item["product_retailer_id"].as_str());
        put(fields, field, &products.collect::<Vec<_>>().join("\n").into());
        return;
    }
    let values = [
        &parameter["text"],
        &parameter["payload"],
        &parameter["coupon_code"],
        &action["flow_token"],
        &action["thumbnail_product_retailer_id"],
    ];
    values.into_iter().for_each(|value| put(fields, field, value));
}

/// Adds the fields for a message with buttons, a menu or products.
fn interactive(payload: &Value, fields: &mut Fields) -> Option<()> {
    let action = &payload["action"];
    let (kind, value) = match payload["type"].as_str()? {
        "button" => {
            let titles = entries(&action["buttons"]).filter_map(|button| button["reply"]["title"].as_str());
            ("buttons", ("buttons", titles.collect::<Vec<_>>().join("\n")))
        }
        "list" => ("list", ("rows", sections(action, "rows", row))),
        "product" => ("product", ("product", plain(&action["product_retailer_id"]))),
        "product_list" => ("products", ("products", sections(action, "product_items", product))),
        _ => return None,
    };
    let header = &payload["header"];
    put(fields, "type", &kind.into());
    put(fields, value.0, &value.1.into());
    put(fields, "message", &payload["body"]["text"]);
    put(fields, "footer", &payload["footer"]["text"]);
    put(fields, "menu", &action["button"]);
    put(fields, "catalog", &action["catalog_id"]);
    if let Some(header_type) = header["type"].as_str() {
        put(fields, "header_type", &header_type.into());
        put(fields, "header", &header["text"]);
        put(fields, "header", &header[header_type]["link"]);
    }
    Some(())
}

/// The lines of a text area for the sections of a menu or of a list of products, each below its title.
fn sections(action: &Value, items: &str, line: impl Fn(&Value) -> String) -> String {
    let mut lines = Vec::new();
    let is_one = entries(&action["sections"]).count() == 1;
    for section in entries(&action["sections"]) {
        // The only section of a menu has the name of the menu if it had none.
        let title = section["title"].as_str().filter(|title| !is_one || action["button"] != *title);
        lines.extend(title.filter(|title| !title.is_empty()).map(|title| format!("{title}:")));
        lines.extend(entries(&section[items]).map(&line));
    }
    lines.join("\n")
}

/// A row of a menu as a line.
fn row(row: &Value) -> String {
    let title = row["title"].as_str().unwrap_or_default();
    match row["description"].as_str() {
        Some(description) => format!("{title} | {description}"),
        None => title.to_owned(),
    }
}

fn product(item: &Value) -> String {
    plain(&item["product_retailer_id"])
}
