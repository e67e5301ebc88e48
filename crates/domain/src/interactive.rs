//! The four interactive payloads that a business account sends: `button`, `list`, `product_list` and
//! `product`.
//!
//! The payload's fields are the provider's own, so it stays JSON: what we know is checked against the
//! provider's limits, what we do not know passes through untouched. Checked when a request is parsed,
//! because a bulk send must not fail a million times at the provider for one long title.

use std::collections::HashSet;

use serde_json::Value;

use crate::error::{Code, Refusal};
use crate::link::Link;
use crate::payload::{Node, is_absent};

/// Kinds, as a refusal lists them.
const KINDS: &str = "button, list, product_list, product";

// The provider's limits, in characters unless the name counts something else.
const HEADER: usize = 60;
const FOOTER: usize = 60;
const BODY: usize = 1024;
const LIST_BODY: usize = 4096;
const BUTTONS: usize = 3;
const BUTTON_ID: usize = 256;
const BUTTON_TITLE: usize = 20;
const MENU_LABEL: usize = 20;
const SECTIONS: usize = 10;
const SECTION_TITLE: usize = 24;
const LIST_ROWS: usize = 10;
const ROW_ID: usize = 200;
const ROW_TITLE: usize = 24;
const ROW_DESCRIPTION: usize = 72;
const PRODUCTS: usize = 30;
/// Ids of catalogues and products have no documented limit; this is far above any that exist.
const PROVIDER_ID: usize = 256;

/// Checks a payload and returns it as it is sent: without entries that are `null` or blank, which
/// count as absent, and with the link of its header in the form that every client can fetch.
///
/// # Errors
///
/// `invalid_interactive`, with the path of what breaks a rule.
pub fn parse(mut payload: Value) -> Result<Value, Refusal> {
    prune(&mut payload);
    drop_empty_edges(&mut payload);
    normalize_header(&mut payload);
    let root = Node::root(Code::InvalidInteractive, "interactive", &payload);
    let kind = root.at("type").ok_or_else(|| root.missing("type", format_args!("give one of {KINDS}")))?;
    match kind.value().as_str() {
        Some("button") => button(&root),
        Some("list") => list(&root),
        Some("product_list") => product_list(&root),
        Some("product") => product(&root),
        _ => Err(kind.refuse(format_args!("must be one of {KINDS}"))),
    }?;
    Ok(payload)
}

fn button(root: &Node<'_>) -> Result<(), Refusal> {
    if let Some(header) = root.optional_object("header")? {
        media_or_text_header(&header)?;
    }
    root.object("body")?.text("text", BODY)?;
    footer(root)?;
    let (mut titles, mut ids) = (HashSet::new(), HashSet::new());
    for button in root.object("action")?.items_at("buttons", BUTTONS)? {
        if button.text("type", BUTTON_TITLE)? != "reply" {
            return Err(button.refuse("must have the type `reply`"));
        }
        let reply = button.object("reply")?;
        unique_id(&reply, BUTTON_ID, &mut ids)?;
        if !titles.insert(reply.text("title", BUTTON_TITLE)?) {
            return Err(reply.refuse("has the same title as a button before it: titles must differ"));
        }
    }
    Ok(())
}

fn list(root: &Node<'_>) -> Result<(), Refusal> {
    if let Some(header) = root.optional_object("header")? {
        text_header(&header)?;
    }
    root.object("body")?.text("text", LIST_BODY)?;
    footer(root)?;
    let action = root.object("action")?;
    action.text("button", MENU_LABEL)?;
    let rows = sections(&action, "rows", LIST_ROWS)?;
    let mut ids = HashSet::new();
    for row in rows {
        unique_id(&row, ROW_ID, &mut ids)?;
        row.text("title", ROW_TITLE)?;
        row.optional_text("description", ROW_DESCRIPTION)?;
    }
    Ok(())
}

fn product_list(root: &Node<'_>) -> Result<(), Refusal> {
    text_header(&root.object("header")?)?;
    root.object("body")?.text("text", BODY)?;
    footer(root)?;
    let action = root.object("action")?;
    action.text("catalog_id", PROVIDER_ID)?;
    for product in sections(&action, "product_items", PRODUCTS)? {
        product.text("product_retailer_id", PROVIDER_ID)?;
    }
    Ok(())
}

fn product(root: &Node<'_>) -> Result<(), Refusal> {
    if let Some(header) = root.at("header") {
        return Err(header.refuse("must be left out: a product message shows the product instead"));
    }
    if let Some(body) = root.optional_object("body")? {
        body.text("text", BODY)?;
    }
    footer(root)?;
    let action = root.object("action")?;
    action.text("catalog_id", PROVIDER_ID)?;
    action.text("product_retailer_id", PROVIDER_ID)?;
    Ok(())
}

/// The id that comes back when a button or a row is chosen. The provider refuses two that are equal, and one with a
/// blank at its beginning or end.
fn unique_id<'a>(node: &Node<'a>, most: usize, known: &mut HashSet<&'a str>) -> Result<(), Refusal> {
    let id = node.text("id", most)?;
    if id.trim() != id {
        return Err(node.refuse("has a blank at the beginning or end of its `id`"));
    }
    if !known.insert(id) {
        return Err(node.refuse("has the same `id` as one before it: ids must differ"));
    }
    Ok(())
}

/// All items of all sections; a menu with several sections needs their titles.
fn sections<'a>(action: &Node<'a>, key: &str, max_in_total: usize) -> Result<Vec<Node<'a>>, Refusal> {
    let sections = action.items_at("sections", SECTIONS)?;
    let mut all = Vec::new();
    for section in &sections {
        if section.optional_text("title", SECTION_TITLE)?.is_none() && sections.len() > 1 {
            return Err(section.missing("title", "every section needs one when there are several"));
        }
        all.extend(section.items_at(key, max_in_total)?);
        if all.len() > max_in_total {
            return Err(section.refuse(format_args!(
                "brings the {key} of all sections to {}; at most {max_in_total} are allowed in total",
                all.len()
            )));
        }
    }
    Ok(all)
}

fn text_header(header: &Node<'_>) -> Result<(), Refusal> {
    if header.text("type", HEADER)? != "text" {
        return Err(header.refuse("must have the type `text` in this kind of message"));
    }
    header.text("text", HEADER)?;
    Ok(())
}

fn media_or_text_header(header: &Node<'_>) -> Result<(), Refusal> {
    let kind = header.text("type", HEADER)?;
    if kind == "text" {
        return text_header(header);
    }
    if !matches!(kind, "image" | "video" | "document") {
        return Err(header.refuse("must have one of the types text, image, video, document"));
    }
    let media = header.object(kind)?;
    media.optional_file_name("filename")?;
    match (media.at("link"), media.optional_text("id", PROVIDER_ID)?) {
        (None, Some(_)) => Ok(()),
        (Some(link), None) => {
            let text = link.as_text(crate::link::MAX_CHARS)?;
            Link::parse(text).map(drop).map_err(|wrong| link.refuse(wrong))
        }
        _ => Err(media.refuse("must have either a `link` or the `id` of an uploaded file")),
    }
}

fn footer(root: &Node<'_>) -> Result<(), Refusal> {
    match root.optional_object("footer")? {
        Some(footer) => footer.text("text", FOOTER).map(drop),
        None => Ok(()),
    }
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
    let parsed = file.get("link").and_then(Value::as_str).map(Link::parse);
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
