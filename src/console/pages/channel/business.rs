//! The parts of the page for a business account: its webhook, a new token, its templates, suppressions.

use actix_web::web::Data;
use maud::{Markup, html};

use super::{back, checks, of_kind, shape};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::copy::copy;
use crate::console::component::field::{Field, once};
use crate::console::component::notice::warning;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind, Status};
use crate::engine::Webhook;

/// Reconnects the channel, with a new token if one is given.
pub(crate) async fn reconnect(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::BusinessAccount).await?;
    let token = shape::token(&mut form);
    if form.has_faults() {
        return Ok(super::page(&viewer, &state, &channel, &form).await?.unprocessable().into());
    }
    let act = async || {
        state.engine.channels().reconnect(&viewer.who(), channel.id, token).await?;
        state.flashes.put(viewer.session, "done", viewer.text.get("channels-reconnecting"));
        Ok(back(&channel))
    };
    state.once.act(&viewer, &form, act).await
}

/// Sets the secret that signs webhooks.
pub(crate) async fn set_app_secret(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    mut form: Form,
) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::BusinessAccount).await?;
    let given = shape::app_secret(&mut form);
    if given.is_none() && !form.has_faults() {
        form.fault("app_secret", viewer.text.get("fault-field-missing"));
    }
    let Some(given) = given.filter(|_| !form.has_faults()) else {
        return Ok(super::page(&viewer, &state, &channel, &form).await?.unprocessable().into());
    };
    let act = async || {
        state.engine.webhooks().set_app_secret(&viewer.who(), channel.id, &given).await?;
        state.flashes.put(viewer.session, "done", viewer.text.get("channels-app-secret-kept"));
        Ok(back(&channel))
    };
    state.once.act(&viewer, &form, act).await
}

/// The part of the page.
pub(super) async fn part(viewer: &Viewer, state: &State, channel: &Channel, form: &Form) -> Result<Markup> {
    let text = viewer.text;
    let waba_id = channel.waba_id.as_deref().unwrap_or_default();
    let place = format!("/console/channels/{}", channel.id);
    Ok(html! {
        @if viewer.is_owner() {
            section.panel {
                h2 { (text.get("channels-reconnect-title")) }
                p { (text.get("channels-reconnect-hint")) }
                form method="post" action=(format!("{place}/reconnect")) {
                    (once(form))
                    (Field::new(form, "token", &text.get("channels-token")).hint(&text.get("channels-token-again")).autocomplete("off").password())
                    // A channel that sends needs no new connection.
                    button.plain[channel.connection.status == Status::Connected] type="submit" { (text.get("channels-reconnect")) }
                }
            }
            (checks::part(viewer, state, channel))
            (webhook(viewer, state, channel, form).await?)
        }
        section.panel {
            h2 { (text.get("channels-see-also")) }
            ul {
                li { a href=(format!("/console/templates?account={waba_id}")) { (text.get("channels-templates")) } }
                li { a href=(format!("{place}/profile")) { (text.get("profile-title")) } }
                li { a href="/console/suppressions" { (text.get("channels-suppressions")) } " " span.soft { (text.get("channels-suppressions-hint")) } }
            }
        }
    })
}

/// The settings for the provider's console. The verify token proves that the address is ours, so only owners
/// see it.
async fn webhook(viewer: &Viewer, state: &State, channel: &Channel, form: &Form) -> Result<Markup> {
    let text = viewer.text;
    let Webhook { path, verify_token, has_app_secret } = state.engine.webhooks().of(channel).await?;
    let base = state.options.public_url.as_ref();
    let is_https = base.is_some_and(|url| url.scheme() == "https");
    Ok(html! {
        section.panel {
            h2 { (text.get("channels-webhook")) }
            p { (text.get("channels-webhook-hint")) }
            dl.facts {
                dt { (text.get("channels-callback")) }
                dd {
                    @match base {
                        Some(url) => {
                            (copy(text, &text.get("channels-callback"), &format!("{}{path}", url.as_str().trim_end_matches('/'))))
                            @if !is_https { p.hint { (text.get("channels-callback-not-https")) } }
                        }
                        None => p { (text.get("channels-no-public-url")) " " (copy(text, &text.get("channels-callback-end"), &path)) },
                    }
                }
                dt { (text.get("channels-verify-token")) }
                dd { (copy(text, &text.get("channels-verify-token"), verify_token.expose())) }
            }
            @if !has_app_secret { (warning(&html! { p { (text.get("channels-no-app-secret")) } })) }
            form method="post" action=(format!("/console/channels/{}/app-secret", channel.id)) {
                (once(form))
                (Field::new(form, "app_secret", &text.get("channels-app-secret")).hint(&text.get("channels-app-secret-where")).autocomplete("off").password())
                button.plain type="submit" {
                    @if has_app_secret { (text.get("channels-app-secret-replace")) } @else { (text.get("channels-app-secret-save")) }
                }
            }
        }
    })
}
