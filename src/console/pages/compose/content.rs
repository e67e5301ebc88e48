//! The content: the fields of each kind of message, and the request that they form.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::choice::Choice;
use super::{instead, template};
use crate::console::component::emoji;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::interactive::{
    ButtonAction, ButtonTag, HeaderFile, HeaderTag, Interactive, InteractiveBody, InteractiveButtons,
    InteractiveFooter, InteractiveHeader, InteractiveList, InteractiveListBody, InteractiveProduct,
    InteractiveProductList, ListAction, ListRow, ListSection, ListTag, ProductAction, ProductItem,
    ProductListAction, ProductListTag, ProductSection, ProductTag, Reply, ReplyButton, ReplyTag, TextHeader,
    TextTag,
};

/// The lines of a text area that are read: more than a menu or a list of products may have, so that too many
/// are refused.
const LINES: usize = 100;

/// The kinds of messages that the page can write: all that the API accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Image,
    Video,
    Audio,
    Document,
    Template,
    /// A text with up to three buttons.
    Buttons,
    /// A text with a menu.
    List,
    /// A product of a catalogue.
    Product,
    /// Several products.
    Products,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Text,
        Self::Template,
        Self::Image,
        Self::Video,
        Self::Audio,
        Self::Document,
        Self::Buttons,
        Self::List,
        Self::Product,
        Self::Products,
    ];
    /// The kinds that a linked phone sends.
    pub(super) const OF_WEB_SESSIONS: [Self; 5] =
        [Self::Text, Self::Image, Self::Video, Self::Audio, Self::Document];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "document",
            Self::Template => "template",
            Self::Buttons => "buttons",
            Self::List => "list",
            Self::Product => "product",
            Self::Products => "products",
        }
    }

    pub(super) fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(Self::Text)
    }

    pub(super) fn word(self, text: Text) -> String {
        text.get(match self {
            Self::Text => "send-kind-text",
            Self::Image => "send-kind-image",
            Self::Video => "send-kind-video",
            Self::Audio => "send-kind-audio",
            Self::Document => "send-kind-document",
            Self::Template => "send-kind-template",
            Self::Buttons => "compose-kind-buttons",
            Self::List => "compose-kind-list",
            Self::Product => "compose-kind-product",
            Self::Products => "compose-kind-products",
        })
    }

    const fn has_caption(self) -> bool {
        matches!(self, Self::Image | Self::Video | Self::Document)
    }
}

/// The lines of a text area that are not blank.
pub(super) fn lines<'a>(words: &'a Words, name: &str) -> Vec<&'a str> {
    let lines = words.raw(name).unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).take(LINES).collect()
}

/// The lines of a text area in sections: a line with a colon at its end is the title of the lines below it.
pub(super) fn sections<'a>(words: &'a Words, name: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines(words, name) {
        match (line.strip_suffix(':'), sections.last_mut()) {
            (Some(title), _) => sections.push((title.trim_end(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => sections.push(("", vec![line])),
        }
    }
    sections
}

/// A row of a menu: its title and its description.
pub(super) fn row(line: &str) -> (&str, &str) {
    line.split_once('|').map_or((line, ""), |(title, rest)| (title.trim(), rest.trim()))
}

/// The content of the request, in the form of the API.
pub(super) fn body(choice: &Choice, words: &Words) -> Map<String, Value> {
    let text = |name: &str| words.raw(name).unwrap_or_default().replace("\r\n", "\n");
    let body = match choice.kind {
        Kind::Text => json!({"type": "text", "message": text("message")}),
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            json!({"type": choice.kind.as_str(), "link": words.one("link"), "caption": text("caption")})
        }
        Kind::Template => {
            let template = choice.template.as_ref();
            json!({
                "type": "template",
                "template_id": template.map(|template| template.id),
                "components": template.map(|template| template::components(template, words)),
                "contact_fields": true,
            })
        }
        Kind::Buttons | Kind::List | Kind::Product | Kind::Products => {
            json!({"type": "interactive", "interactive": interactive(choice.kind, words)})
        }
    };
    let Value::Object(mut fields) = body else { return Map::new() };
    instead::add(&mut fields, choice, words);
    fields
}

/// An interactive message with the parts that are filled in; `None` for the other kinds.
fn interactive(kind: Kind, words: &Words) -> Option<Interactive> {
    let message = words.raw("message").unwrap_or_default().replace("\r\n", "\n");
    let given = |field: &str| Some(words.one(field).to_owned()).filter(|text| !text.is_empty());
    let footer = given("footer").map(|text| InteractiveFooter { text });
    let header = || TextHeader { r#type: TextTag::Text, text: words.one("header").to_owned() };
    Some(match kind {
        Kind::Buttons => Interactive::Button(InteractiveButtons {
            r#type: ButtonTag::Button,
            header: given("header").map(|header| header_of(header_type(kind, words), header)),
            body: InteractiveBody { text: message },
            footer,
            action: ButtonAction { buttons: buttons(words) },
        }),
        Kind::List => Interactive::List(InteractiveList {
            r#type: ListTag::List,
            header: given("header").map(|_| header()),
            body: InteractiveListBody { text: message },
            footer,
            action: ListAction { button: words.one("menu").to_owned(), sections: menu(words) },
        }),
        Kind::Product => Interactive::Product(InteractiveProduct {
            r#type: ProductTag::Product,
            body: Some(InteractiveBody { text: message }).filter(|body| !body.text.trim().is_empty()),
            footer,
            action: ProductAction {
                catalog_id: words.one("catalog").to_owned(),
                product_retailer_id: words.one("product").to_owned(),
            },
        }),
        Kind::Products => Interactive::ProductList(InteractiveProductList {
            r#type: ProductListTag::ProductList,
            header: header(),
            body: InteractiveBody { text: message },
            footer,
            action: ProductListAction {
                catalog_id: words.one("catalog").to_owned(),
                sections: products(words),
            },
        }),
        Kind::Text | Kind::Template | Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            return None;
        }
    })
}

/// One button more than allowed is kept, so that too many are refused.
fn buttons(words: &Words) -> Vec<ReplyButton> {
    let titles = lines(words, "buttons").into_iter().take(ButtonAction::buttons().most + 1);
    let button = |(index, title): (usize, &str)| ReplyButton {
        r#type: ReplyTag::Reply,
        reply: Reply { id: format!("button-{}", index + 1), title: title.to_owned() },
    };
    titles.enumerate().map(button).collect()
}

/// The sections of a menu. The only one has the menu's own title if it has none.
fn menu(words: &Words) -> Vec<ListSection> {
    let sections = sections(words, "rows");
    let is_one = sections.len() == 1;
    let mut number = 0_u64;
    let mut row = |line: &str| {
        number += 1;
        let (title, description) = row(line);
        ListRow {
            id: format!("row-{number}"),
            title: title.to_owned(),
            description: Some(description.to_owned()).filter(|text| !text.is_empty()),
        }
    };
    let mut section = |(title, rows): (&str, Vec<&str>)| ListSection {
        title: Some(if is_one && title.is_empty() { words.one("menu") } else { title }.to_owned()),
        rows: rows.into_iter().map(&mut row).collect(),
    };
    sections.into_iter().map(&mut section).collect()
}

fn products(words: &Words) -> Vec<ProductSection> {
    let item = |id: &str| ProductItem { product_retailer_id: id.to_owned() };
    let section = |(title, ids): (&str, Vec<&str>)| ProductSection {
        title: Some(title.to_owned()),
        product_items: ids.into_iter().map(item).collect(),
    };
    sections(words, "products").into_iter().map(section).collect()
}

/// A header of this type: a text, or the link of a file.
fn header_of(kind: HeaderTag, given: String) -> InteractiveHeader {
    let mut header = InteractiveHeader { r#type: kind, text: None, image: None, video: None, document: None };
    let file = |link| Some(HeaderFile { link: Some(link), id: None, filename: None });
    match kind {
        HeaderTag::Text => header.text = Some(given),
        HeaderTag::Image => header.image = file(given),
        HeaderTag::Video => header.video = file(given),
        HeaderTag::Document => header.document = file(given),
    }
    header
}

/// The type of the header. Only a message with buttons may have a file as its header.
pub(super) fn header_type(kind: Kind, words: &Words) -> HeaderTag {
    let asked = HeaderTag::ALL.iter().find(|known| known.as_str() == words.one("header_type"));
    asked.copied().filter(|_| kind == Kind::Buttons).unwrap_or(HeaderTag::Text)
}

/// The fields for the content.
pub(super) fn fields(text: Text, choice: &Choice, form: &Form) -> Markup {
    let label = text.get("compose-message");
    let message = Field::new(form, "message", &label).required();
    let emoji = emoji::picker(text, &message.id());
    match choice.kind {
        Kind::Text => html! { (message.area(6)) (emoji) },
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => html! {
            (choice.files.field(form, ("link", &text.get("compose-link")), choice.kind.as_str(), choice.is_web()))
            @if choice.kind.has_caption() { (Field::new(form, "caption", &text.get("compose-caption")).area(3)) }
        },
        Kind::Template => html! {
            @if let Some(template) = &choice.template { (template::fields(text, template, (&choice.files, &choice.own), form)) }
        },
        Kind::Buttons => {
            let headers =
                HeaderTag::ALL.iter().map(|header| (header.as_str(), Kind::of(header.as_str()).word(text)));
            html! {
                (message.area(4)) (emoji)
                (Field::new(form, "buttons", &text.get("compose-buttons")).hint(&text.get("compose-buttons-hint")).required().area(3))
                (Field::new(form, "header_type", &text.get("compose-header-type")).select(headers))
                (Field::new(form, "header", &text.get("compose-header")).hint(&text.get("compose-header-hint")).text())
                (footer(text, form))
            }
        }
        Kind::List => html! {
            (message.area(4)) (emoji)
            (Field::new(form, "menu", &text.get("compose-menu")).hint(&text.get("compose-menu-hint")).required().most(ListAction::button().most).text())
            (Field::new(form, "rows", &text.get("compose-rows")).hint(&text.get("compose-rows-hint")).required().area(6))
            (Field::new(form, "header", &text.get("compose-header")).most(TextHeader::text().most).text())
            (footer(text, form))
        },
        Kind::Product => html! {
            (Field::new(form, "catalog", &text.get("compose-catalog")).hint(&text.get("compose-catalog-hint")).required().most(ProductAction::catalog_id().most).text())
            (Field::new(form, "product", &text.get("compose-product")).hint(&text.get("compose-product-hint")).required().most(ProductAction::product_retailer_id().most).text())
            (Field::new(form, "message", &label).area(3))
            (footer(text, form))
        },
        Kind::Products => html! {
            (Field::new(form, "header", &text.get("compose-header")).required().most(TextHeader::text().most).text())
            (message.area(4)) (emoji)
            (Field::new(form, "catalog", &text.get("compose-catalog")).hint(&text.get("compose-catalog-hint")).required().most(ProductAction::catalog_id().most).text())
            (Field::new(form, "products", &text.get("compose-products")).hint(&text.get("compose-products-hint")).required().area(6))
            (footer(text, form))
        },
    }
}

fn footer(text: Text, form: &Form) -> Markup {
    Field::new(form, "footer", &text.get("compose-footer")).most(InteractiveFooter::text().most).text()
}
