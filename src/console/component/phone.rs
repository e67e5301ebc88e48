//! A message as a phone shows it: header, text, footer, lists, buttons, cards. Its parts are those of a
//! template in the provider's form, or of a message in the same form. Unknown parts are shown by their names.

use maud::{Markup, html};
use serde_json::Value;

use super::formatting::{self, Example, LABEL_CHARS, LINK_CHARS, beginning, marked, plain};
use crate::console::text::Text;

/// The most cards, buttons and parts that are drawn: more than a provider allows.
const MOST: usize = 20;

/// The message with these parts. The texts of a template have variables.
pub(crate) fn phone(text: Text, components: &Value) -> Markup {
    shown(text, components, true)
}

/// The message with these parts, whose texts are sent as they are.
pub(crate) fn literal(text: Text, components: &Value) -> Markup {
    shown(text, components, false)
}

fn shown(text: Text, components: &Value, has_variables: bool) -> Markup {
    html! {
        div.phone { div.bubble { (parts(text, components, has_variables)) } (buttons_of(text, components)) }
        @for cards in of_type(components, "CAROUSEL") {
            ul.cards {
                @for card in list(cards, "cards") {
                    @let card = &card["components"];
                    li.phone { div.bubble { (parts(text, card, has_variables)) } (buttons_of(text, card)) }
                }
            }
        }
    }
}

fn parts(text: Text, components: &Value, has_variables: bool) -> Markup {
    html! {
        @for part in components.as_array().into_iter().flatten().take(MOST) {
            @match kind(part).as_str() {
                "HEADER" => (header(text, part, has_variables)),
                "BODY" => (body(text, part, has_variables)),
                "FOOTER" => (footer(text, part)),
                "LIMITED_TIME_OFFER" => {
                    p.offer {
                        strong { bdi { (plain(text_of(&part["limited_time_offer"], "text"), LABEL_CHARS)) } }
                        span.soft { (text.get("templates-offer")) }
                    }
                }
                "LIST" => (sections(part)),
                // Shown below the message.
                "BUTTONS" | "CAROUSEL" => {}
                other => p.soft { (unknown(text, other)) },
            }
        }
    }
}

fn header(text: Text, part: &Value, has_variables: bool) -> Markup {
    let format = part["format"].as_str().unwrap_or("TEXT").to_uppercase();
    let link = part["link"].as_str().filter(|link| !link.is_empty());
    let file =
        |key: &str| html! { p.file { (text.get(key)) @if let Some(link) = link { br; (address(link)) } } };
    match format.as_str() {
        "TEXT" => {
            let examples = has_variables.then(|| examples(part, "header_text"));
            html! { p.head { bdi { (formatting::line(wording(part), examples.as_deref())) } } }
        }
        "IMAGE" => match part["own"].as_str() {
            // Only a picture of our own is shown: the browser asks no other host.
            Some(own) => html! { img.picture src=(own) alt=(text.get("templates-image")); },
            None => file("templates-image"),
        },
        "VIDEO" => file("templates-video"),
        "AUDIO" => file("send-kind-audio"),
        "GIF" => file("templates-gif"),
        "DOCUMENT" => file("templates-document"),
        "LOCATION" => file("templates-location"),
        "PRODUCT" => file("templates-product"),
        other => html! { p.file { (unknown(text, other)) } },
    }
}

/// The host of a file, with the whole address when the person points at it.
fn address(link: &str) -> Markup {
    let shown = beginning(link, LINK_CHARS);
    let host = url::Url::parse(shown).ok().and_then(|link| link.host_str().map(str::to_owned));
    html! {
        @match host {
            Some(host) => bdi title=(shown) { (host) },
            None => bdi { (plain(link, LINK_CHARS)) },
        }
    }
}

fn body(text: Text, part: &Value, has_variables: bool) -> Markup {
    let examples = has_variables.then(|| examples(part, "body_text"));
    html! {
        @if wording(part).is_empty() {
            // An authentication template, whose text is the provider's.
            p { (text.get("templates-code-body")) " " mark { "123456" } }
        } @else {
            (formatting::lines(wording(part), examples.as_deref()))
        }
        @if part["add_security_recommendation"] == true { p { (text.get("templates-code-safety")) } }
    }
}

fn footer(text: Text, part: &Value) -> Markup {
    let minutes = part["code_expiration_minutes"].as_u64();
    html! {
        @if let Some(minutes) = minutes {
            p.footer { (text.with("templates-code-expiry", [("minutes", minutes.into())])) }
        } @else {
            p.footer dir="auto" { (plain(wording(part), LABEL_CHARS)) }
        }
    }
}

/// The entries of a menu or a list of products, in sections.
fn sections(part: &Value) -> Markup {
    html! {
        @for section in list(part, "sections") {
            @if let Some(title) = section["title"].as_str().filter(|title| !title.is_empty()) {
                p { strong { bdi { (plain(title, LABEL_CHARS)) } } }
            }
            ul {
                @for row in list(section, "rows") {
                    li {
                        bdi { (plain(text_of(row, "title"), LABEL_CHARS)) }
                        @if let Some(more) = row["description"].as_str().filter(|more| !more.is_empty()) {
                            br; span.soft { bdi { (plain(more, LABEL_CHARS)) } }
                        }
                    }
                }
            }
        }
    }
}

fn buttons_of(text: Text, components: &Value) -> Markup {
    html! {
        @for part in of_type(components, "BUTTONS") {
            ul.answers {
                @for button in list(part, "buttons") { li { (one_button(text, button)) } }
            }
        }
    }
}

fn one_button(text: Text, button: &Value) -> Markup {
    let label = button["text"].as_str().unwrap_or_default();
    let (what, detail) = match kind(button).as_str() {
        "QUICK_REPLY" => (text.get("templates-button-reply"), None),
        "URL" => (text.get("templates-button-url"), button["url"].as_str()),
        "PHONE_NUMBER" => (text.get("templates-button-call"), button["phone_number"].as_str()),
        "COPY_CODE" => (text.get("templates-button-copy"), code(button)),
        "OTP" => (text.get("templates-button-otp"), None),
        "FLOW" => (text.get("templates-button-flow"), None),
        "LIST" => (text.get("templates-button-list"), None),
        "CATALOG" | "MPM" | "SPM" => (text.get("templates-button-products"), None),
        "VOICE_CALL" => (text.get("templates-button-voice"), None),
        other => (unknown(text, other), None),
    };
    html! {
        strong { bdi { @if label.is_empty() { (what) } @else { (plain(label, LABEL_CHARS)) } } }
        span.soft {
            @if !label.is_empty() { (what) }
            @if let Some(detail) = detail { " " bdi { (marked(beginning(detail, LINK_CHARS), Some(&[]))) } }
        }
    }
}

fn code(button: &Value) -> Option<&str> {
    button["example"].as_str().or_else(|| button["example"][0].as_str())
}

/// The example values that were given to the provider, by the names of their variables.
fn examples(part: &Value, field: &str) -> Vec<Example> {
    let shown = |example: &str| beginning(example, LABEL_CHARS).to_owned();
    let given = &part["example"][field];
    let row = given.as_array().filter(|row| row.iter().all(Value::is_string)).or_else(|| given[0].as_array());
    let placed = row.into_iter().flatten().filter_map(Value::as_str).enumerate();
    let placed = placed.map(|(place, example)| ((place + 1).to_string(), shown(example)));
    let named = part["example"][format!("{field}_named_params")].as_array().into_iter().flatten();
    let named = named.filter_map(|given| {
        Some((given["param_name"].as_str()?.to_owned(), shown(given["example"].as_str()?)))
    });
    placed.chain(named).take(MOST).collect()
}

/// The example value of a variable in the `header` or the `body` of these parts.
pub(crate) fn example(components: &Value, part: &str, variable: &str) -> Option<String> {
    let field = if part == "header" { "header_text" } else { "body_text" };
    let kind = part.to_uppercase();
    let part = of_type(components, &kind).next()?;
    examples(part, field).into_iter().find_map(|(name, example)| (name == variable).then_some(example))
}

fn wording(part: &Value) -> &str {
    text_of(part, "text")
}

fn text_of<'a>(part: &'a Value, field: &str) -> &'a str {
    part[field].as_str().unwrap_or_default()
}

/// The name of a part that this program does not know.
fn unknown(text: Text, kind: &str) -> String {
    text.with("templates-part", [("type", beginning(kind, LABEL_CHARS).to_owned().into())])
}

fn kind(part: &Value) -> String {
    part["type"].as_str().unwrap_or_default().to_uppercase()
}

fn list<'a>(part: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    part[field].as_array().into_iter().flatten().take(MOST)
}

fn of_type<'a>(components: &'a Value, wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    let parts = components.as_array().into_iter().flatten();
    parts.filter(move |part| kind(part) == wanted).take(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::console::language::Language;

    fn drawn(components: &Value) -> String {
        phone(Text(Language::English), components).into_string()
    }

    #[test]
    fn every_part_of_a_template_is_drawn() {
        let page = drawn(&json!([
            {"type": "HEADER", "format": "TEXT", "text": "Hi {{1}}", "example": {"header_text": ["Ana"]}},
            {"type": "BODY", "text": "*Order* _{{1}}_\nhas ~not~ left", "example": {"body_text": [["A1"]]}},
            {"type": "BODY", "text": "Dear {{first_name}}", "example": {
                "body_text_named_params": [{"param_name": "first_name", "example": "Bia"}],
            }},
            {"type": "FOOTER", "text": "Bye"},
            {"type": "BUTTONS", "buttons": [
                {"type": "QUICK_REPLY", "text": "Stop"},
                {"type": "URL", "text": "Shop", "url": "https://a.example/{{1}}"},
                {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+5511988887777"},
                {"type": "COPY_CODE", "example": "SAVE10"},
            ]},
        ]));
        for part in [
            r#"<mark title="{{1}}">Ana</mark>"#,
            "<strong>Order</strong>",
            r#"<em><mark title="{{1}}">A1</mark></em>"#,
            "<s>not</s>",
            r#"<mark title="{{first_name}}">Bia</mark>"#,
            "Bye",
            "Stop",
            r#"https://a.example/<mark title="{{1}}">{{1}}</mark>"#,
            "+5511988887777",
            "SAVE10",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn files_cards_codes_and_unknown_parts_are_named() {
        let page = drawn(&json!([
            {"type": "HEADER", "format": "VIDEO"},
            {"type": "BODY", "add_security_recommendation": true},
            {"type": "FOOTER", "code_expiration_minutes": 5},
            {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "Today"}},
            {"type": "HOLOGRAM"},
            {"type": "CAROUSEL", "cards": [{"components": [
                {"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "First card"},
            ]}]},
        ]));
        for part in ["Video", "5 minutes", "Today", "HOLOGRAM", "First card", "Image"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn a_menu_is_drawn_in_its_sections_and_a_file_with_its_address() {
        let page = drawn(&json!([
            {"type": "HEADER", "format": "audio", "link": "https://a.example/<a>"},
            {"type": "LIST", "sections": [
                {"title": "Cakes", "rows": [{"title": "Carrot", "description": "with icing"}]},
                {"rows": [{"title": "Bread"}]},
            ]},
            {"type": "BUTTONS", "buttons": [{"type": "LIST", "text": "Menu"}]},
        ]));
        for part in ["https://a.example/&lt;a&gt;", "Cakes", "Carrot", "with icing", "Bread", "Menu"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn markup_in_a_template_stays_text_and_formatting_characters_within_words_stay() {
        let page = drawn(&json!([{"type": "BODY", "text": "<b>snake_case_name</b> 2*3*4 {{open *a b"}]));
        assert!(page.contains("&lt;b&gt;snake_case_name&lt;/b&gt; 2*3*4 {{open *a b"), "{page}");
    }

    #[test]
    fn invalid_templates_break_nothing() {
        for components in [
            json!(null),
            json!("x"),
            json!([1, null, {"type": 7}]),
            json!([{"type": "BUTTONS", "buttons": 1}]),
        ] {
            assert!(drawn(&components).contains("phone"), "{components}");
        }
    }
}
