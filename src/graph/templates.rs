//! The templates of an account: those of a business account, and those of the company's web sessions, which are texts.

pub(super) mod library;
pub(super) mod written;

use std::sync::Arc;

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::call::Call;
use super::object::asked;
use super::refusal::DoorRefusal;
use crate::domain::channel::Channel;
use crate::domain::graph::{template_id, template_of};
use crate::domain::page::{Page, PageRequest};
use crate::domain::template::{LOCAL_ACCOUNT, Status};
use crate::engine::records::templates::{Listed, Record};

/// Records in a part when a program names no number, and the most.
const USUAL: u64 = 25;
const MOST: u64 = 1_000;
/// The most templates of an account at Meta, and of the web sessions of a company.
const MOST_AT_META: u64 = 6_000;
const MOST_LOCAL: u64 = 250;

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
    let of_account = account.waba_id.as_deref().unwrap_or(LOCAL_ACCOUNT);
    let status = call.parameter("status").map(str::to_ascii_uppercase);
    let request = PageRequest { page: page.into(), limit };
    let records = call.state.engine.company(call.caller.company_id).await?;
    let Page { records, total } = match call.parameter("name") {
        // The name is the whole one: programs take the first template of the answer.
        Some(name) => Page::of(records.templates().languages_of(of_account, name).await?, request),
        None => {
            let filter = Listed { waba_id: Some(of_account), status: status.as_deref(), ..Listed::default() };
            records.templates().page(request, filter).await?
        }
    };
    let is_last = page.saturating_mul(limit) >= total;
    let (language, category) = (call.parameter("language"), call.parameter("category"));
    let is_meant = |record: &Record| {
        record.status != Status::Deleted
            && status.as_ref().is_none_or(|status| record.status.as_str() == status)
            && language.is_none_or(|language| record.language == language)
            && category.is_none_or(|category| record.category.as_str().eq_ignore_ascii_case(category))
    };
    let data: Vec<_> =
        records.into_iter().filter(is_meant).map(|record| asked(&call, described(record))).collect();
    let mut answer = json!({ "data": data });
    if !is_last {
        let after = (page + 1).to_string();
        answer["paging"] = json!({ "cursors": { "after": after }, "next": next(&call, &after) });
    }
    if call.parameter("summary").is_some() {
        answer["summary"] = json!({
            "total_count": total,
            "message_template_count": total,
            "message_template_limit": if account.waba_id.is_some() { MOST_AT_META } else { MOST_LOCAL },
            "are_translations_complete": true,
        });
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

/// A template of the company, and a channel of its account.
pub(super) struct FoundTemplate {
    pub(super) template: Record,
    pub(super) channel: Arc<Channel>,
}

/// The template with this id, if the caller may use its account.
pub(super) async fn find(call: &Call, id: &str) -> Result<Option<FoundTemplate>, DoorRefusal> {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    let records = call.state.engine.company(call.caller.company_id).await?;
    let found = match template_of(id) {
        Some(own) => records.templates().find(own).await?.filter(|found| found.waba_id == LOCAL_ACCOUNT),
        None => records.templates().with_provider_id(id).await?,
    };
    drop(records);
    let Some(template) = found else { return Ok(None) };
    let channels = call.door().channels().await?;
    let channel = channels.into_iter().find(|channel| channel.template_account() == template.waba_id);
    let Some(channel) = channel else { return Ok(None) };
    call.check_proof(&channel).await?;
    Ok(Some(FoundTemplate { template, channel }))
}

/// Shows a template.
pub(super) fn show(call: &Call, template: Record) -> HttpResponse {
    HttpResponse::Ok().json(asked(call, described(template)))
}

/// The id of a template: the provider's, or ours.
fn id_of(record: &Record) -> String {
    if record.waba_id == LOCAL_ACCOUNT { template_id(record.id) } else { record.provider_id.clone() }
}

fn described(record: Record) -> Map<String, Value> {
    let id = id_of(&record);
    let components = if record.components.is_array() { record.components } else { json!([]) };
    let mut fields = vec![
        ("id", json!(id)),
        ("name", json!(record.name)),
        ("language", json!(record.language)),
        ("status", json!(record.status.to_string())),
        ("category", json!(record.category.to_string())),
        ("parameter_format", json!(record.parameter_format.as_str())),
        ("components", components),
    ];
    if let Some(score) = record.quality_score {
        let date = record.updated_at.millis().div_euclid(1_000);
        fields.push(("quality_score", json!({ "score": score, "date": date })));
    }
    if let Some(reason) = record.rejected_reason {
        fields.push(("rejected_reason", json!(reason)));
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
