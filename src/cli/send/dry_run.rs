//! What the service says about a send before it goes: counts, problems by line, and the first messages.

use serde_json::Value;

use super::body::SendBody;
use super::service::{SendTemplate, text};
use crate::cli::output::Output;

/// The most problems that a person is shown; --json has those that the answer has.
const MOST_PROBLEMS: usize = 50;

/// The answer to a dry run.
pub(super) fn show(
    output: &Output,
    answer: &Value,
    body: &SendBody,
    template: Option<&SendTemplate>,
) -> anyhow::Result<()> {
    if output.json {
        return output.record(answer, "");
    }
    let count = |field: &str| answer[field].as_u64().unwrap_or_default();
    let mut rows = vec![
        vec!["rows".to_owned(), body.lines.len().to_string()],
        vec!["would get it".to_owned(), count("recipients_count").to_string()],
        vec!["would be skipped".to_owned(), count("skipped_count").to_string()],
    ];
    let instead = &answer["template_instead"];
    if let Some(count) = instead["recipients_count"].as_u64() {
        rows.push(vec!["of them the template instead".to_owned(), count.to_string()]);
    }
    if let Some(lacking) = answer["contact_fields"]["lacking_count"].as_u64().filter(|lacking| *lacking > 0) {
        rows.push(vec!["lack a contact field".to_owned(), lacking.to_string()]);
    }
    if let Some(seconds) = answer["estimated_seconds"].as_u64() {
        let span = humantime::format_duration(std::time::Duration::from_secs(seconds)).to_string();
        rows.push(vec!["would take".to_owned(), span]);
    }
    for (what, cost) in [("would cost", &answer["cost"]), ("the template would cost", &instead["cost"])] {
        if let Some(amount) = cost["amount"].as_str() {
            rows.push(vec![what.to_owned(), format!("{amount} {}", text(cost, "currency"))]);
        }
    }
    if !body.ignored.is_empty() {
        rows.push(vec!["columns that are not used".to_owned(), body.ignored.join(", ")]);
    }
    let unused = answer["ignored"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let unused: Vec<_> = unused.map(|name| name.trim_start_matches("values.")).collect();
    if !unused.is_empty() {
        rows.push(vec!["without a place in the message".to_owned(), unused.join(", ")]);
    }
    output.table(&["what", "figure"], rows.into_iter())?;
    problems(output, answer, body)?;
    for example in answer["examples"].as_array().into_iter().flatten() {
        let number = example["phone_number"].as_str().or(example["recipient"].as_str()).unwrap_or_default();
        let words = rendered(&example["content"], template);
        output.text(&format!("\nto {number}:\n{}", indented(&words)))?;
    }
    output.text("\nnothing was sent: this was a dry run")
}

/// A table of the recipients who are skipped, each by the line of the file; nothing when there are none.
pub(super) fn problems(output: &Output, answer: &Value, body: &SendBody) -> anyhow::Result<()> {
    let skipped = answer["skipped"].as_array().map(Vec::as_slice).unwrap_or_default();
    if skipped.is_empty() {
        return Ok(());
    }
    let row = |entry: &Value| {
        let line = body.line(&entry["index"]).map_or_else(String::new, |line| line.to_string());
        vec![
            line,
            text(entry, "input").to_owned(),
            text(entry, "field").to_owned(),
            text(entry, "reason").to_owned(),
        ]
    };
    let shown = skipped.iter().take(MOST_PROBLEMS).map(row);
    output.table(&["line", "skipped", "field", "description"], shown)?;
    let all = answer["skipped_count"].as_u64().unwrap_or(skipped.len() as u64);
    let more = all.saturating_sub(skipped.len().min(MOST_PROBLEMS) as u64);
    if more > 0 { output.text(&format!("and {more} more")) } else { Ok(()) }
}

/// The words of a message: those of its template, or its own.
fn rendered(content: &Value, template: Option<&SendTemplate>) -> String {
    let Some(template) = template.filter(|_| text(content, "type") != "text") else {
        let own = ["message", "caption", "link"].map(|field| text(content, field));
        return own.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    };
    let parts = template.components.as_array().into_iter().flatten();
    let words = parts.filter_map(|part| {
        let kind = part["type"].as_str()?.to_ascii_lowercase();
        let given = content["components"].as_array().into_iter().flatten();
        let parameters = given.filter(|given| text(given, "type").eq_ignore_ascii_case(&kind));
        let parameters: Vec<&Value> =
            parameters.flat_map(|given| given["parameters"].as_array().into_iter().flatten()).collect();
        Some(replaced(part["text"].as_str()?, &parameters))
    });
    words.collect::<Vec<_>>().join("\n")
}

/// A template's text with the values of its variables, `{{1}}` or `{{name}}`.
fn replaced(template: &str, parameters: &[&Value]) -> String {
    let (mut words, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, after)) = behind.split_once("}}") else { break };
        words.push_str(before);
        let named = parameters.iter().find(|parameter| text(parameter, "parameter_name") == name.trim());
        let place = || name.trim().parse::<usize>().ok()?.checked_sub(1);
        let value = named.or_else(|| parameters.get(place()?)).map(|parameter| text(parameter, "text"));
        words.push_str(value.filter(|value| !value.is_empty()).unwrap_or("…"));
        rest = after;
    }
    words + rest
}

fn indented(words: &str) -> String {
    words.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_reads_as_its_recipient_reads_it() {
        let template = SendTemplate {
            id: Some(1),
            components: json!([
                { "type": "HEADER", "format": "TEXT", "text": "Order {{1}}" },
                { "type": "BODY", "text": "Hello {{name}}, {{1}} is {{2}}. {{3}}" },
                { "type": "FOOTER", "text": "Acme {{" },
                { "type": "BUTTONS", "buttons": [] },
            ]),
        };
        let content = json!({ "components": [
            { "type": "header", "parameters": [{ "type": "text", "text": "A-1" }] },
            { "type": "body", "parameters": [
                { "type": "text", "text": "x" },
                { "type": "text", "text": "packed" },
                { "type": "text", "parameter_name": "name", "text": "Ana" },
            ] },
        ] });
        let words = rendered(&content, Some(&template));
        assert_eq!(words, "Order A-1\nHello Ana, x is packed. Ana\nAcme {{");
        assert_eq!(rendered(&json!({ "message": "hi" }), None), "hi");
        let own = json!({ "type": "text", "message": "hi" });
        assert_eq!(rendered(&own, Some(&template)), "hi", "the template is for others");
    }
}
