//! The templates of an account.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::call::Call;
use super::object::asked;
use super::refusal::DoorRefusal;
use crate::domain::page::{Page, PageRequest};
use crate::engine::records::templates::{Listed, Record};

/// Records in a part when a program names no number, and the most.
const USUAL: u64 = 25;
const MOST: u64 = 1_000;
/// The status of a template that is here only for the sends that used it.
const DELETED: &str = "DELETED";

/// Lists the templates of an account. The last part has no `paging`: some programs ask for more as long as there is a cursor.
pub(super) async fn list(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let limit = match call.parameter("limit") {
        None => USUAL,
        Some(limit) => limit
            .parse::<u64>()
            .ok()
            .filter(|limit| *limit > 0)
            .ok_or_else(|| DoorRefusal::because(100, "`limit` must be a number from 1"))?
            .min(MOST),
    };
    let page = match call.parameter("after") {
        None => 1,
        Some(after) => after
            .parse::<u64>()
            .ok()
            .filter(|page| *page > 0)
            .ok_or_else(|| DoorRefusal::because(100, "`after` must be a cursor of an earlier answer"))?,
    };
    let Page { records, total } = match &account.waba_id {
        Some(waba) => {
            let name = call.parameter("name");
            let filter = Listed {
                waba_id: Some(waba),
                status: call.parameter("status"),
                search: name,
                only_unfit: false,
            };
            let request = PageRequest { page: page.into(), limit };
            call.state.engine.company(call.caller.company_id).await?.templates().page(request, filter).await?
        }
        None => Page { records: Vec::new(), total: 0 },
    };
    let is_last = page.saturating_mul(limit) >= total;
    let (language, category) = (call.parameter("language"), call.parameter("category"));
    let is_meant = |record: &Record| {
        record.status.to_string() != DELETED
            && language.is_none_or(|language| record.language == language)
            && category.is_none_or(|category| record.category.to_string() == category)
    };
    let data: Vec<_> =
        records.into_iter().filter(is_meant).map(|record| asked(&call, described(record))).collect();
    let mut answer = json!({ "data": data });
    if !is_last {
        let after = (page + 1).to_string();
        answer["paging"] = json!({ "cursors": { "after": after }, "next": next(&call, &after) });
    }
    Ok(HttpResponse::Ok().json(answer))
}

/// The address of the next part: this one's, with another cursor.
fn next(call: &Call, after: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in call.parameters().iter().filter(|(name, _)| name != "after") {
        query.append_pair(name, value);
    }
    query.append_pair("after", after);
    format!("{}{}?{}", call.base(), call.request.path(), query.finish())
}

fn described(record: Record) -> Map<String, Value> {
    let components = if record.components.is_array() { record.components } else { json!([]) };
    let mut fields = vec![
        ("id", json!(record.provider_id)),
        ("name", json!(record.name)),
        ("language", json!(record.language)),
        ("status", json!(record.status.to_string())),
        ("category", json!(record.category.to_string())),
        ("parameter_format", json!(record.parameter_format.as_str())),
        ("components", components),
    ];
    if let Some(score) = record.quality_score {
        fields.push(("quality_score", json!({ "score": score })));
    }
    if let Some(reason) = record.rejected_reason {
        fields.push(("rejected_reason", json!(reason)));
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
