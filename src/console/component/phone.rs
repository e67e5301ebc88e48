//! A message as a phone shows it: header, text, footer, lists, buttons, cards. Its parts are those of a
//! template in the provider's form, or of a message in the same form. Unknown parts are shown by their names.

use maud::{Markup, html};
use serde_json::Value;

use crate::console::text::Text;

/// The most cards, buttons and parts that are drawn: more than a provider allows.
const MOST: usize = 20;
/// The most bytes of a line that are drawn: a provider allows 1,024 characters for all of them.
const LONGEST: usize = 8 * 1024;
/// How deep formats are drawn within one another.
const DEEPEST: usize = 3;

/// The name of a variable, and its value.
type Example = (String, String);

/// The message with these parts.
pub(in crate::console) fn phone(text: Text, components: &Value) -> Markup {
    html! {
        div.phone { div.bubble { (parts(text, components)) } (buttons_of(text, components)) }
        @for cards in of_type(components, "CAROUSEL") {
            ul.cards {
                @for card in list(cards, "cards") {
                    @let card = &card["components"];
                    li.phone { div.bubble { (parts(text, card)) } (buttons_of(text, card)) }
                }
            }
        }
    }
}

fn parts(text: Text, components: &Value) -> Markup {
    html! {
        @for part in components.as_array().into_iter().flatten().take(MOST) {
            @match kind(part).as_str() {
                "HEADER" => (header(text, part)),
                "BODY" => (body(text, part)),
                "FOOTER" => (footer(text, part)),
                "LIMITED_TIME_OFFER" => {
                    p.offer {
                        strong { bdi { (part["limited_time_offer"]["text"].as_str().unwrap_or_default()) } }
                        span.soft { (text.get("templates-offer")) }
                    }
                }
                "LIST" => (sections(part)),
                // Shown below the message.
                "BUTTONS" | "CAROUSEL" => {}
                other => p.soft { (text.with("templates-part", [("type", other.to_owned().into())])) },
            }
        }
    }
}

fn header(text: Text, part: &Value) -> Markup {
    let format = part["format"].as_str().unwrap_or("TEXT").to_uppercase();
    let link = part["link"].as_str().filter(|link| !link.is_empty());
    let file = |key: &str| {
        html! { p.file { (text.get(key)) @if let Some(link) = link { br; bdi { (link) } } } }
    };
    match format.as_str() {
        "TEXT" => html! { p.head { bdi { (written(wording(part), &examples(part, "header_text"))) } } },
        "IMAGE" => file("templates-image"),
        "VIDEO" => file("templates-video"),
        "AUDIO" => file("send-kind-audio"),
        "GIF" => file("templates-gif"),
        "DOCUMENT" => file("templates-document"),
        "LOCATION" => file("templates-location"),
        "PRODUCT" => file("templates-product"),
        other => html! { p.file { (text.with("templates-part", [("type", other.to_owned().into())])) } },
    }
}

fn body(text: Text, part: &Value) -> Markup {
    html! {
        @if wording(part).is_empty() {
            // An authentication template, whose text is the provider's.
            p { (text.get("templates-code-body")) " " mark { "123456" } }
        } @else {
            @for line in wording(part).split('\n') { p dir="auto" { (written(line, &examples(part, "body_text"))) } }
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
            p.footer dir="auto" { (wording(part)) }
        }
    }
}

/// The entries of a menu or a list of products, in sections.
fn sections(part: &Value) -> Markup {
    html! {
        @for section in list(part, "sections") {
            @if let Some(title) = section["title"].as_str().filter(|title| !title.is_empty()) {
                p { strong { bdi { (title) } } }
            }
            ul {
                @for row in list(section, "rows") {
                    li {
                        bdi { (row["title"].as_str().unwrap_or_default()) }
                        @if let Some(more) = row["description"].as_str().filter(|more| !more.is_empty()) {
                            br; span.soft { bdi { (more) } }
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
        other => (text.with("templates-part", [("type", other.to_owned().into())]), None),
    };
    html! {
        strong { bdi { @if label.is_empty() { (what) } @else { (label) } } }
        span.soft {
            @if !label.is_empty() { (what) }
            @if let Some(detail) = detail { " " bdi { (marked(detail, &[])) } }
        }
    }
}

fn code(button: &Value) -> Option<&str> {
    button["example"].as_str().or_else(|| button["example"][0].as_str())
}

/// A line with WhatsApp's formatting (bold, italic, strikethrough and monospace), and with its variables
/// marked.
fn written(line: &str, examples: &[Example]) -> Markup {
    nested(&line[..line.floor_char_boundary(LONGEST)], examples, DEEPEST)
}

fn nested(line: &str, examples: &[Example], depth: usize) -> Markup {
    if depth == 0 {
        return marked(line, examples);
    }
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((sign, before, inside, after)) = formatted(rest) {
        spans.push((sign, before, inside));
        rest = after;
    }
    html! {
        @for (sign, before, inside) in spans {
            (marked(before, examples))
            @match sign {
                '*' => strong { (nested(inside, examples, depth - 1)) },
                '_' => em { (nested(inside, examples, depth - 1)) },
                '~' => s { (nested(inside, examples, depth - 1)) },
                _ => code { (marked(inside, examples)) },
            }
        }
        (marked(rest, examples))
    }
}

/// The first part of a line that is enclosed in two equal formatting characters.
fn formatted(line: &str) -> Option<(char, &str, &str, &str)> {
    let is_edge = |beside: Option<char>| beside.is_none_or(|beside| !beside.is_alphanumeric());
    for (start, sign) in line.char_indices().filter(|(_, sign)| matches!(sign, '*' | '_' | '~' | '`')) {
        let mark = if line[start..].starts_with("```") { "```" } else { &line[start..=start] };
        let rest = &line[start + mark.len()..];
        let end = rest.match_indices(mark).map(|(end, _)| end).find(|end| {
            let inside = &rest[..*end];
            !inside.is_empty()
                && !inside.starts_with(char::is_whitespace)
                && !inside.ends_with(char::is_whitespace)
                && is_edge(rest[end + mark.len()..].chars().next())
        });
        if let Some(end) = end.filter(|_| is_edge(line[..start].chars().next_back())) {
            return Some((sign, &line[..start], &rest[..end], &rest[end + mark.len()..]));
        }
    }
    None
}

/// A text with its variables marked: each shows its example, and its name when the person points at it.
fn marked(line: &str, examples: &[Example]) -> Markup {
    html! {
        @for (index, piece) in line.split("{{").enumerate() {
            @if index == 0 {
                (piece)
            } @else if let Some((name, rest)) = piece.split_once("}}") {
                @let name = name.trim();
                @let example = examples.iter().find(|(known, _)| known == name).map(|(_, example)| example);
                mark title=(format!("{{{{{name}}}}}")) {
                    @if let Some(example) = example { (example) } @else { "{{" (name) "}}" }
                }
                (rest)
            } @else {
                "{{" (piece)
            }
        }
    }
}

/// The example values that were given to the provider, by the names of their variables.
fn examples(part: &Value, field: &str) -> Vec<Example> {
    let given = &part["example"][field];
    let row = given.as_array().filter(|row| row.iter().all(Value::is_string)).or_else(|| given[0].as_array());
    let placed = row.into_iter().flatten().filter_map(Value::as_str).enumerate();
    let placed = placed.map(|(place, example)| ((place + 1).to_string(), example.to_owned()));
    let named = part["example"][format!("{field}_named_params")].as_array().into_iter().flatten();
    let named = named.filter_map(|given| {
        Some((given["param_name"].as_str()?.to_owned(), given["example"].as_str()?.to_owned()))
    });
    placed.chain(named).take(MOST).collect()
}

fn wording(part: &Value) -> &str {
    part["text"].as_str().unwrap_or_default()
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

    fn shown(components: &Value) -> String {
        phone(Text(Language::English), components).into_string()
    }

    #[test]
    fn every_part_of_a_template_is_drawn() {
        let page = shown(&json!([
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
        let page = shown(&json!([
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
        let page = shown(&json!([
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
        let page = shown(&json!([{"type": "BODY", "text": "<b>snake_case_name</b> 2*3*4 {{open *a b"}]));
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
            assert!(shown(&components).contains("phone"), "{components}");
        }
    }
}
