//! What needs attention: numbers and webhooks that do not work, templates that cannot be sent, quotas that are nearly used up,
//! and tokens and keys that end soon.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use futures_util::future::{join, join_all};
use maud::{Markup, html};
use tokio::time::timeout;
use uuid::Uuid;

use super::PATIENCE;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::notice::{alarm, warning};
use crate::console::component::time::ahead;
use crate::console::error::Result;
use crate::console::pages::channel::words;
use crate::console::pages::webhooks::stopped;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind, Status};
use crate::domain::limit;
use crate::domain::page::PageRequest;
use crate::domain::provider::TokenEnd;
use crate::domain::template;
use crate::domain::webhook::Endpoint;
use crate::engine::records::keys::ApiKey;
use crate::engine::records::templates::Record as TemplateRecord;

/// Alerts of one kind that are shown; the page of their kind has all of them.
const MOST: u64 = 3;
/// The channels whose quotas and tokens are looked at, the newest ones.
const CHANNELS: u64 = 20;
/// How long a refused template is an alert: there is nothing to wait for.
const REFUSED_LATELY: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long before its end a key or a token is an alert.
const SOON: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How old the provider's word on the end of a token may be.
const TOKEN_AGE: Duration = Duration::from_secs(3_600);

/// Everything that needs attention.
pub(super) struct Alerts {
    channels: Vec<Channel>,
    webhooks: Vec<Endpoint>,
    templates: Vec<TemplateRecord>,
    quotas: Vec<LowQuota>,
    /// Channels whose tokens end soon.
    tokens: Vec<(Channel, Timestamp)>,
    keys: Vec<ApiKey>,
}

/// A quota of a channel that is nearly used up.
struct LowQuota {
    channel_id: Uuid,
    channel: String,
    name: limit::Name,
    left: u64,
    most: u64,
}

/// Reads what needs attention in a company.
pub(super) async fn read(state: &Data<State>, company: Uuid, now: Timestamp) -> Result<Alerts> {
    let records = state.engine.company(company).await?;
    let channels = records.channels().refused(MOST).await?;
    let templates = records.templates().troubled(now.minus(REFUSED_LATELY), MOST).await?;
    let keys = records.keys().expiring(now, now.plus(SOON), MOST).await?;
    let first = PageRequest { page: 1, limit: CHANNELS };
    let known = records.channels().page(first, None).await?.records;
    drop(records);
    let webhooks = state.engine.webhook_endpoints().endpoints(company).await?;
    let connected: Vec<_> =
        known.into_iter().filter(|channel| channel.connection.status == Status::Connected).collect();
    let (tokens, quotas) =
        join(ending_tokens(state, connected.clone(), now), low_quotas(state, connected)).await;
    Ok(Alerts { channels, webhooks, templates, quotas, tokens, keys })
}

/// The channels whose tokens end soon. The provider is asked seldom, and in the background: its answer is shown once it is there.
async fn ending_tokens(
    state: &Data<State>,
    channels: Vec<Channel>,
    now: Timestamp,
) -> Vec<(Channel, Timestamp)> {
    let business = channels.into_iter().filter(|channel| channel.kind == Kind::BusinessAccount);
    let asked = business.map(async |channel| {
        // A channel that got another token connects again.
        let key =
            format!("token {} {} {}", channel.company_id, channel.id, channel.connection.since.millis());
        let (own, id) = (state.clone(), channel.id);
        let asking = actix_web::rt::spawn(async move {
            own.shared.get(key, TOKEN_AGE, async || Ok(own.engine.channels().token_end(id).await?)).await
        });
        match *timeout(PATIENCE, asking).await.ok()?.ok()?.ok()? {
            TokenEnd::At(end) if now < end && end < now.plus(SOON) => Some((channel, end)),
            TokenEnd::At(_) | TokenEnd::Never | TokenEnd::Unknown => None,
        }
    });
    let mut ending: Vec<_> = join_all(asked).await.into_iter().flatten().collect();
    ending.sort_by_key(|(_, end)| *end);
    ending.truncate(MOST as usize);
    ending
}

/// The quotas that are nearly used up, of the channels that tell it in time.
async fn low_quotas(state: &State, channels: Vec<Channel>) -> Vec<LowQuota> {
    let asked = channels.into_iter().map(async |channel| {
        let channel = Arc::new(channel);
        // Each has a time of its own, so that a slow one hides no other.
        let limits = timeout(PATIENCE, state.engine.channels().limits(&channel)).await.ok()?.ok()?;
        Some((channel, limits))
    });
    // A channel that does not answer in time is asked again when the page is refreshed.
    let told = join_all(asked).await;
    let low = told.iter().flatten().flat_map(|(channel, limits)| {
        limits.limits.iter().filter_map(move |limit| {
            let (left, most) = limit.low_quota()?;
            Some(LowQuota {
                channel_id: channel.id,
                channel: channel.name.clone(),
                name: limit.name,
                left,
                most,
            })
        })
    });
    low.collect()
}

/// The alerts, the most urgent first; a live part.
pub(super) fn show(viewer: &Viewer, alerts: &Alerts) -> Markup {
    let text = viewer.text;
    html! {
        div.alerts id="alerts" {
            @for channel in &alerts.channels { (refused(viewer, channel)) }
            @for (channel, end) in &alerts.tokens {
                (warning(&html! {
                    p {
                        (text.with("overview-alert-token", [("name", channel.name.as_str().into())])) " "
                        (ahead(viewer, *end)) ". "
                        a href=(format!("/console/channels/{}", channel.id)) { (text.get("overview-alert-token-see")) }
                    }
                }))
            }
            (stopped(text, &alerts.webhooks))
            @for template in &alerts.templates { (troubled(viewer, template)) }
            @for quota in &alerts.quotas { (low_quota(viewer, quota)) }
            // Only owners see the page of keys.
            @if viewer.is_owner() {
                @for (key, end) in alerts.keys.iter().filter_map(|key| Some((key, key.expires_at?))) {
                    (warning(&html! {
                        p {
                            (text.with("overview-alert-key", [("name", key.name.as_str().into())])) " "
                            (ahead(viewer, end)) ". "
                            a href="/console/keys" { (text.get("overview-alert-key-see")) }
                        }
                    }))
                }
            }
        }
    }
}

fn refused(viewer: &Viewer, channel: &Channel) -> Markup {
    let text = viewer.text;
    let key = match channel.connection.status {
        Status::Blocked => "overview-alert-blocked",
        _ => "overview-alert-disconnected",
    };
    alarm(&html! {
        p {
            (text.with(key, [("name", channel.name.as_str().into())])) " "
            a href=(format!("/console/channels/{}", channel.id)) { (text.get("overview-alert-channel-see")) }
        }
    })
}

fn troubled(viewer: &Viewer, template: &TemplateRecord) -> Markup {
    let text = viewer.text;
    let key = match template.status {
        template::Status::Paused => "overview-alert-template-paused",
        template::Status::Disabled => "overview-alert-template-disabled",
        _ => "overview-alert-template-rejected",
    };
    let query =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("search", &template.name).finish();
    let name = format!("{} ({})", template.name, template.language);
    warning(&html! {
        p {
            (text.with(key, [("name", name.into())])) " "
            a href=(format!("/console/templates?{query}")) { (text.get("overview-alert-template-see")) }
        }
    })
}

fn low_quota(viewer: &Viewer, quota: &LowQuota) -> Markup {
    let text = viewer.text;
    let said = [
        ("name", quota.channel.as_str().into()),
        ("limit", words::limit(text, quota.name).into()),
        ("left", quota.left.into()),
        ("most", quota.most.into()),
    ];
    warning(&html! {
        p {
            (text.with("overview-alert-quota", said)) " "
            a href=(format!("/console/channels/{}", quota.channel_id)) { (text.get("overview-alert-quota-see")) }
        }
    })
}
