//! The interactive payloads that a business account sends: `button`, `list`, `product_list`, `product`, `cta_url` and
//! `location_request_message`.
//!
//! The payload's fields are the provider's own, so it stays JSON: what we know is checked against the
//! provider's limits, what we do not know passes through untouched. Checked when a request is parsed,
//! because a bulk send must not fail a million times at the provider for one long title.

mod parts;

use std::collections::HashSet;

use serde_json::Value;

pub use self::parts::*;
use crate::error::{Code, Refusal};
use crate::link::Link;
use crate::payload::{Limit, Node, Part, checked, is_absent, one};

/// Checks a payload and returns it as it is sent: without entries that are `null` or blank, which
/// count as absent, and with the link of its header in the form that every client can fetch. Fields that no type has
/// pass through.
///
/// # Errors
///
/// `invalid_interactive`, with the path of what breaks a rule.
pub fn parse(mut payload: Value) -> Result<Value, Refusal> {
    prune(&mut payload);
    drop_empty_edges(&mut payload);
    normalize_header(&mut payload);
    Interactive::read(&Node::root(Code::InvalidInteractive, "interactive", &payload))?;
    Ok(payload)
}

impl Part for InteractiveHeader {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let kind = HeaderTag::read_at(node, "type")?;
        let mut header = Self { r#type: kind, text: None, image: None, video: None, document: None };
        match kind {
            HeaderTag::Text => header.text = Some(node.text("text", Self::text().most)?.to_owned()),
            HeaderTag::Image => header.image = Some(one(node, "image")?),
            HeaderTag::Video => header.video = Some(one(node, "video")?),
            HeaderTag::Document => header.document = Some(one(node, "document")?),
        }
        Ok(header)
    }
}

impl Part for HeaderFile {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let filename = node.optional_file_name("filename")?.map(str::to_owned);
        match (node.at("link"), node.optional_text("id", Self::id().most)?) {
            (None, Some(id)) => Ok(Self { link: None, id: Some(id.to_owned()), filename }),
            (Some(given), None) => {
                let link = Link::parse_file(given.as_text(Self::link().most)?);
                let link = link.map_err(|wrong| given.refuse(wrong))?.into_string();
                Ok(Self { link: Some(link), id: None, filename })
            }
            _ => Err(node.refuse("must have either a `link` or the `id` of an uploaded file")),
        }
    }
}

impl Part for ButtonAction {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let (mut titles, mut ids) = (HashSet::new(), HashSet::new());
        let buttons = checked(node, "buttons", Self::buttons().most, |at, _: &ReplyButton, _| {
            let reply = at.object("reply")?;
            unique_id(&reply, Reply::id(), &mut ids)?;
            if !titles.insert(reply.text("title", Reply::title().most)?) {
                return Err(reply.refuse("has the same title as a button before it: titles must differ"));
            }
            Ok(())
        })?;
        Ok(Self { buttons })
    }
}

impl Part for LinkParameters {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let display_text = node.text("display_text", Self::display_text().most)?.to_owned();
        let url = node.text("url", Self::url().most)?.to_owned();
        let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_web {
            return Err(node.refuse("has a `url` that does not begin with https:// or http://"));
        }
        Ok(Self { display_text, url })
    }
}

impl Part for ListAction {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let button = node.text("button", Self::button().most)?.to_owned();
        let (mut total, mut ids) = (0, HashSet::new());
        let sections =
            checked(node, "sections", Self::sections().most, |at, section: &ListSection, sections| {
                check_section(at, section.title.is_some(), sections)?;
                add_items(at, "rows", section.rows.len(), &mut total, ListSection::rows())?;
                let rows = at.items_at("rows", ListSection::rows().most)?;
                rows.iter().try_for_each(|row| unique_id(row, ListRow::id(), &mut ids))
            })?;
        Ok(Self { button, sections })
    }
}

impl Part for ProductListAction {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let catalog_id = node.text("catalog_id", Self::catalog_id().most)?.to_owned();
        let mut total = 0;
        let sections =
            checked(node, "sections", Self::sections().most, |at, section: &ProductSection, sections| {
                check_section(at, section.title.is_some(), sections)?;
                let count = section.product_items.len();
                add_items(at, "product_items", count, &mut total, ProductSection::product_items())
            })?;
        Ok(Self { catalog_id, sections })
    }
}

/// The id that comes back when a button or a row is chosen. The provider refuses two that are equal, and one with a
/// blank at its beginning or end.
fn unique_id<'a>(node: &Node<'a>, limit: Limit, known: &mut HashSet<&'a str>) -> Result<(), Refusal> {
    let id = node.text("id", limit.most)?;
    if id.trim() != id {
        return Err(node.refuse("has a blank at the beginning or end of its `id`"));
    }
    if !known.insert(id) {
        return Err(node.refuse("has the same `id` as one before it: ids must differ"));
    }
    Ok(())
}

/// A menu with several sections needs their titles.
fn check_section(at: &Node<'_>, has_title: bool, sections: usize) -> Result<(), Refusal> {
    if !has_title && sections > 1 {
        return Err(at.missing("title", "every section needs one when there are several"));
    }
    Ok(())
}

/// Adds the items of a section: the limit of a section's items is also that of all together.
fn add_items(
    at: &Node<'_>,
    key: &str,
    count: usize,
    total: &mut usize,
    Limit { most }: Limit,
) -> Result<(), Refusal> {
    *total += count;
    if *total > most {
        let sentence =
            format!("brings the {key} of all sections to {total}; at most {most} are allowed in total");
        return Err(at.refuse(sentence));
    }
    Ok(())
}

/// Removes a header and a footer without content, which count as absent.
fn drop_empty_edges(payload: &mut Value) {
    let Some(parts) = payload.as_object_mut() else { return };
    for edge in ["header", "footer"] {
        let is_empty = |edge: &Value| match edge.as_object() {
            Some(entries) => match entries.get("type").and_then(Value::as_str) {
                Some(kind) => kind == "text" && entries.get("text").is_none(),
                None => entries.is_empty(),
            },
            None => false,
        };
        if parts.get(edge).is_some_and(is_empty) {
            parts.remove(edge);
        }
    }
}

/// Writes the link of a header like the links of plain types. A link that is none stays, and is refused with its path.
fn normalize_header(payload: &mut Value) {
    let Some(header) = payload.get_mut("header").and_then(Value::as_object_mut) else { return };
    let Some(kind) = header.get("type").and_then(Value::as_str).map(str::to_owned) else { return };
    let Some(file) = header.get_mut(&kind).and_then(Value::as_object_mut) else { return };
    let parsed = file.get("link").and_then(Value::as_str).map(Link::parse_file);
    let Some(Ok(link)) = parsed else { return };
    if kind == "document"
        && !file.contains_key("filename")
        && let Some(name) = link.file_name()
    {
        file.insert("filename".to_owned(), name.into());
    }
    file.insert("link".to_owned(), link.into_string().into());
}

/// Removes the entries that count as absent. Its depth is that of a parsed JSON document, which is bounded.
fn prune(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, entry| !is_absent(entry));
            entries.values_mut().for_each(prune);
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests;
