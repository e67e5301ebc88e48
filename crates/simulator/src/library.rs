//! The provider's library of templates: a few of its kinds, which accounts copy under names of their own.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Value, json};

use super::error::GraphError;
use super::graph::Parameters;
use super::management::next;
use super::reply::answer;
use super::send::bearer;
use super::template::variables;
use super::world::World;

const PAGE: usize = 25;
/// The fields in which a search finds its words.
const SEARCHED: [&str; 4] = ["name", "header", "body", "footer"];

/// The templates, each in one language.
static TEMPLATES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let of_topic = |name: &str, topic: &str, usecase: &str, industry: &str| {
        json!({
            "name": name, "category": "UTILITY", "topic": topic, "usecase": usecase, "industry": [industry],
        })
    };
    let in_language = |template: &Value, language: &str, more: Value| {
        let mut template = template.clone();
        template["language"] = language.into();
        for (field, value) in more.as_object().into_iter().flatten() {
            template[field.as_str()] = value.clone();
        }
        template
    };
    let on_its_way = of_topic("delivery_update_1", "ORDER_MANAGEMENT", "DELIVERY_UPDATE", "E_COMMERCE");
    let on_its_way_in = |language: &str, body: &str, track: &str| {
        let button = json!({ "type": "URL", "text": track, "url": "https://www.example.com/{{1}}" });
        let more = json!({
            "body": body, "body_params": ["Ana", "A-1042"], "body_param_types": ["TEXT", "TEXT"], "buttons": [button],
        });
        in_language(&on_its_way, language, more)
    };
    let overdue = of_topic("payment_overdue_1", "PAYMENTS", "PAYMENT_OVERDUE", "FINANCIAL_SERVICES");
    let overdue_in = |language: &str, [header, body, footer, pay, call]: [&str; 5]| {
        let buttons = json!([
            { "type": "URL", "text": pay, "url": "https://www.example.com/" },
            { "type": "PHONE_NUMBER", "text": call, "phone_number": "+18005551234" },
        ]);
        let more = json!({
            "header": header, "body": body, "footer": footer, "body_params": ["Ana", "$75.00", "3 May"],
            "body_param_types": ["TEXT", "AMOUNT", "DATE"], "buttons": buttons,
        });
        in_language(&overdue, language, more)
    };
    let pick_up = of_topic("order_pick_up_1", "ORDER_MANAGEMENT", "ORDER_PICK_UP", "E_COMMERCE");
    let feedback = of_topic("feedback_survey_1", "CUSTOMER_FEEDBACK", "FEEDBACK_SURVEY", "E_COMMERCE");
    let code = of_topic("verify_code_1", "IDENTITY_VERIFICATION", "VERIFY_OTP", "FINANCIAL_SERVICES");
    let all = [
        on_its_way_in("en_US", "Hi {{1}}, your order {{2}} leaves us today.", "Track it"),
        on_its_way_in("es", "Hola {{1}}, su pedido {{2}} sale hoy.", "Seguirlo"),
        on_its_way_in("pt_BR", "Oi {{1}}, seu pedido {{2}} sai hoje.", "Acompanhar"),
        overdue_in(
            "en_US",
            [
                "A payment is overdue",
                "Hi {{1}}, {{2}} were due on {{3}}. Please pay soon.",
                "Paid already? Then all is well.",
                "Pay now",
                "Call us",
            ],
        ),
        overdue_in(
            "pt_BR",
            [
                "Pagamento em atraso",
                "Oi {{1}}, {{2}} venceram em {{3}}. Pague em breve.",
                "Já pagou? Então está tudo certo.",
                "Pagar agora",
                "Ligar",
            ],
        ),
        in_language(
            &pick_up,
            "en_US",
            json!({ "body": "Your order {{1}} waits for you at the desk.", "body_params": ["A-1042"] }),
        ),
        in_language(
            &feedback,
            "en_US",
            json!({
                "body": "Hi {{1}}, how was your order?", "body_params": ["Ana"],
                "buttons": [{ "type": "FLOW", "text": "Tell us" }],
            }),
        ),
        in_language(
            &code,
            "en_US",
            json!({
                "category": "AUTHENTICATION", "body": "{{1}} is your code.", "body_params": ["123456"],
                "buttons": [{ "type": "OTP", "text": "Copy code" }],
            }),
        ),
    ];
    let numbered = all.into_iter().enumerate().map(|(place, mut template)| {
        template["id"] = (7_000_000_000_000_001 + place as u64).to_string().into();
        template
    });
    numbered.collect()
});

/// `GET /message_template_library`: the templates with all of the given words, in parts.
pub(super) async fn list(world: Data<World>, query: Parameters, request: HttpRequest) -> HttpResponse {
    let verdict = world.admit(bearer(&request)).and_then(|()| {
        let text = |name: &str| query.get(name).map(String::as_str).filter(|text| !text.is_empty());
        let count = |name: &str, usual: usize| match text(name) {
            None => Ok(usual),
            Some(count) => count
                .parse::<usize>()
                .map_err(|_| GraphError::because(100, format!("{name} is not a number of this listing"))),
        };
        let (after, limit) = (count("after", 0)?, count("limit", PAGE)?.max(1));
        let is_word = |template: &Value, name: &str| match text(name) {
            None => true,
            Some(word) => template[name] == word,
        };
        let wanted: Vec<_> = TEMPLATES
            .iter()
            .filter(|template| {
                ["name", "topic", "usecase", "language"].iter().all(|name| is_word(template, name))
            })
            .filter(|template| {
                let industries = template["industry"].as_array().into_iter().flatten();
                text("industry").is_none_or(|word| industries.clone().any(|industry| industry == word))
            })
            .filter(|template| text("search").is_none_or(|words| has_words(template, words)))
            .collect();
        let part: Vec<_> = wanted.iter().skip(after).take(limit).collect();
        let end = after + part.len();
        let mut body = json!({ "data": part });
        if !part.is_empty() {
            body["paging"]["cursors"] = json!({ "before": after.to_string(), "after": end.to_string() });
        }
        if end < wanted.len() {
            body["paging"]["next"] = next(&request, &query, &end.to_string()).into();
        }
        Ok(body)
    });
    answer(&world, None, &verdict)
}

fn has_words(template: &Value, words: &str) -> bool {
    let words = words.to_lowercase();
    SEARCHED
        .iter()
        .any(|field| template[field].as_str().is_some_and(|text| text.to_lowercase().contains(&words)))
}

/// The parts of a copy of a template of the library, with what its buttons lead to.
pub(super) fn copied(
    (name, language, category): (&str, &str, &str),
    button_inputs: &Value,
    body_inputs: &Value,
) -> Result<Value, GraphError> {
    let found =
        TEMPLATES.iter().find(|template| template["name"] == name && template["language"] == language);
    let Some(template) = found else {
        return Err(GraphError::because(100, format!("the library has no template {name} in {language}")));
    };
    if template["category"] != category {
        let details = format!("category must be {}", template["category"].as_str().unwrap_or_default());
        return Err(GraphError::because(100, details));
    }
    let inputs = json_of("library_template_button_inputs", button_inputs)?;
    let mut inputs = inputs.as_array().cloned().unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(header) = template["header"].as_str() {
        parts.push(json!({ "type": "HEADER", "format": "TEXT", "text": header }));
    }
    let extras = json_of("library_template_body_inputs", body_inputs)?;
    let mut body = json!({ "type": "BODY", "text": template["body"], "example": { "body_text": [template["body_params"]] } });
    if extras["add_security_recommendation"] == true {
        body["add_security_recommendation"] = true.into();
    }
    parts.push(body);
    if extras["code_expiration_minutes"].is_u64() {
        parts.push(json!({ "type": "FOOTER", "code_expiration_minutes": extras["code_expiration_minutes"] }));
    } else if let Some(footer) = template["footer"].as_str() {
        parts.push(json!({ "type": "FOOTER", "text": footer }));
    }
    let mut buttons = Vec::new();
    for button in template["buttons"].as_array().into_iter().flatten() {
        buttons.push(filled(button, &mut inputs)?);
    }
    if !buttons.is_empty() {
        parts.push(json!({ "type": "BUTTONS", "buttons": buttons }));
    }
    Ok(parts.into())
}

/// The value of a field, which clients give as it is or as a text of JSON.
fn json_of(field: &str, value: &Value) -> Result<Value, GraphError> {
    match value {
        Value::String(text) => serde_json::from_str(text)
            .map_err(|error| GraphError::because(100, format!("{field} is no JSON: {error}"))),
        value => Ok(value.clone()),
    }
}

/// A button with what was given for it, which is taken from the inputs: the first one of its type.
fn filled(button: &Value, inputs: &mut Vec<Value>) -> Result<Value, GraphError> {
    let kind = button["type"].as_str().unwrap_or_default();
    let mut button = button.clone();
    if !["URL", "PHONE_NUMBER", "OTP"].contains(&kind) {
        return Ok(button);
    }
    let missing = |what: &str| {
        let details =
            format!("library_template_button_inputs needs {what} for the button of the type {kind}");
        GraphError::because(100, details)
    };
    let place = inputs.iter().position(|input| input["type"] == kind);
    let input = place.map(|place| inputs.remove(place)).ok_or_else(|| missing("an entry"))?;
    match kind {
        "URL" => {
            let address = input["url"]["base_url"].as_str().filter(|url| url.starts_with("http"));
            let address = address.ok_or_else(|| missing("url.base_url"))?;
            button["url"] = address.into();
            if !variables(address).is_empty() {
                let example = input["url"]["url_suffix_example"].as_str();
                button["example"] = json!([example.ok_or_else(|| missing("url.url_suffix_example"))?]);
            }
        }
        "PHONE_NUMBER" => {
            let number = input["phone_number"].as_str().filter(|number| number.starts_with('+'));
            button["phone_number"] = number.ok_or_else(|| missing("phone_number"))?.into();
        }
        _ => {
            let way = input["otp_type"].as_str().ok_or_else(|| missing("otp_type"))?;
            button["otp_type"] = way.into();
        }
    }
    Ok(button)
}
