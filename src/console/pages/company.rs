//! The company: its tier, the token for programs, its members and invitations.

pub(crate) mod links;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};

use super::alerts;
use super::companies::role as role_word;
use super::link::note_invalid;
use crate::accounts::{self, Invitation, Invite, Member, Role};
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment};
use crate::console::component::{copy, countries};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::console::{State, address};
use crate::domain::phone::Country;
use crate::engine::records::country::OwnCountry;
use crate::surface::Listener;

/// The path of this page.
const PLACE: &str = "/console/company";
/// The name of the value that is shown once.
const TOKEN: &str = "token";
const LINK: &str = "link";
const MEMBER_LINK: &str = "member_link";
/// The roles, as forms name them.
const ROLES: [&str; 4] = ["owner", "member", "viewer", "agent"];

pub(crate) async fn show(viewer: Viewer, state: Data<State>, request: HttpRequest) -> Result<Page> {
    page(&viewer, &state, &request, &Form::filled(viewer.text, [("role", "member".to_owned())])).await
}

/// Creates a token with which programs read contacts and tags as long as the session lasts.
pub(crate) async fn token(viewer: Viewer, state: Data<State>) -> Result<Answer> {
    let token = state.accounts.new_api_token(&viewer.signed_in, &viewer.origin).await?;
    state.flashes.put(viewer.session, TOKEN, token.expose());
    Ok(Answer::to(format!("{PLACE}#access")))
}

/// Invites a person; the link is shown once.
pub(crate) async fn invite(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let email = form.required("email", 254);
    let role = form.choice("role", &ROLES).and_then(Role::parse);
    if let Some(role) = role.filter(|_| !form.has_faults()) {
        let invite =
            Invite { email: &email, name: "", company: Some((viewer.company.id, role)), is_operator: false };
        let invited = state
            .once
            .attempt(&viewer, &form, async || {
                let link = match state.accounts.invite(&viewer.who(), invite).await {
                    Ok(link) => link,
                    Err(accounts::Error::Invalid { field, .. }) => return Ok(Err(field)),
                    Err(error) => return Err(error.into()),
                };
                state.flashes.put(
                    viewer.session,
                    LINK,
                    format!("{}{}", address::base(&request, &state), link.path()),
                );
                Ok(Ok(Answer::to(format!("{PLACE}#members"))))
            })
            .await?;
        match invited {
            Ok(answer) => return Ok(answer),
            Err(field) => note_invalid(&mut form, field),
        }
    }
    Ok(page(&viewer, &state, &request, &form).await?.unprocessable().into())
}

pub(crate) async fn withdraw(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    state.accounts.withdraw_invitation(&viewer.who(), Some(viewer.company.id), id.0).await?;
    Ok(done(&viewer, &state, "company-withdrawn"))
}

/// Sets the country of the company's numbers.
pub(crate) async fn set_country(viewer: Viewer, state: Data<State>, form: Form) -> Result<Answer> {
    let code = form.words().one("country");
    let country = Country::parse(code);
    if country.is_none() && !code.is_empty() {
        return Err(Error::Unreadable);
    }
    let records = state.engine.company(viewer.company.id).await?;
    records.set_country(&viewer.who(), country).await?;
    drop(records);
    Ok(done(&viewer, &state, "company-country-set"))
}

/// Gives a member another role.
pub(crate) async fn set_role(viewer: Viewer, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let role = Role::parse(form.words().one("role")).ok_or(Error::Unreadable)?;
    let set = state.accounts.set_role(&viewer.who(), viewer.company.id, id.0, role).await;
    after(&viewer, &state, set, "company-role-set")
}

/// Removes a member from the company.
pub(crate) async fn remove(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    let removed = state.accounts.remove_member(&viewer.who(), viewer.company.id, id.0).await;
    after(&viewer, &state, removed, "company-removed")
}

fn after(viewer: &Viewer, state: &State, result: accounts::Result<()>, key: &str) -> Result<Answer> {
    match result {
        Ok(()) => Ok(done(viewer, state, key)),
        Err(accounts::Error::LastOwner) => {
            state.flashes.put(viewer.session, "fault", viewer.text.get("company-last-owner"));
            Ok(Answer::to(PLACE))
        }
        Err(error) => Err(error.into()),
    }
}

fn done(viewer: &Viewer, state: &State, key: &str) -> Answer {
    Answer::done(state, viewer, viewer.text.get(key), PLACE)
}

async fn page(viewer: &Viewer, state: &State, request: &HttpRequest, form: &Form) -> Result<Page> {
    let text = viewer.text;
    let id = viewer.company.id;
    let (tier, country) = {
        let records = state.engine.company(id).await?;
        (records.details().await?.map(|company| company.tier), records.country().await?)
    };
    let members = state.accounts.members(id).await?;
    let invitations =
        if viewer.is_owner() { state.accounts.invitations(Some(id)).await? } else { Vec::new() };
    let mails = alerts::of_company(viewer, state).await?;
    let [token, link, member_link] =
        [TOKEN, LINK, MEMBER_LINK].map(|name| state.flashes.take(viewer.session, name));
    let is_secret = token.is_some() || link.is_some() || member_link.is_some();
    let body = html! {
        @if let Some(sentence) = state.flashes.take(viewer.session, "fault") { (notice::fault(&sentence)) }
        dl.facts.panel {
            dt { (text.get("company-name")) } dd { bdi { (viewer.company.name) } }
            dt { (text.get("company-tier")) } dd { bdi { (tier.unwrap_or_default()) } p.hint { (text.get("company-tier-hint")) } }
            dt { (text.get("company-own-role")) } dd { (role_word(text, viewer.company.role)) }
            dt { (text.get("shell-id")) } dd { (copy::id(text, id)) }
        }
        @if viewer.is_owner() {
            section.panel aria-labelledby="look" {
                h2 id="look" { (text.get("look-title")) }
                p { (text.get("look-what")) }
                p { a.button.plain href="/console/company/look" { (text.get("company-look-change")) } }
            }
        }
        (country_form(viewer, country))
        // The operators' listener does not serve what the token opens, and the other one grants no operator's rights.
        @if Listener::of(request) != Listener::Operator || viewer.signed_in.own_role.is_some() {
            (access(viewer, &address::base(request, state), token.as_deref()))
        }
        section aria-labelledby="members" {
            h2 id="members" { (text.get("company-members")) }
            @if let Some(link) = &link {
                (notice::warning(&html! { p { (text.get("company-link-once")) } }))
                (copy::block(text, &text.get("company-link"), link))
            }
            @if let Some(link) = &member_link {
                (notice::warning(&html! { p { (text.get("company-member-link-once")) } }))
                (copy::block(text, &text.get("company-member-link"), link))
            }
            (members_table(viewer, &members))
            @if viewer.is_owner() {
                (invitation_form(form))
                @if !invitations.is_empty() { (invitations_table(viewer, &invitations)) }
            }
        }
        (mails)
    };
    let page = Page::new(text.get("company-title"), Menu::Company, body);
    Ok(if is_secret { page.secret() } else { page })
}

/// The country of the company's numbers.
fn country_form(viewer: &Viewer, OwnCountry { set, guessed }: OwnCountry) -> Markup {
    let text = viewer.text;
    let form = Form::filled(text, [("country", set.map_or("", Country::code).to_owned())]);
    let guess = guessed.filter(|_| set.is_none()).map(|country| countries::name(text, country));
    html! {
        section.panel aria-labelledby="country" {
            h2 id="country" { (text.get("company-country-title")) }
            p { (text.get("company-country-what")) }
            @if let Some(guess) = guess { p { (text.with("company-country-guess", [("country", guess.into())])) } }
            form method="post" action=(format!("{PLACE}/country")) {
                fieldset.plain disabled[!viewer.may_work()] {
                    (Field::new(&form, "country", &text.get("company-country")).select(countries::options(text)))
                    @if viewer.may_work() { button.plain type="submit" { (text.get("company-country-save")) } }
                }
            }
        }
    }
}

fn access(viewer: &Viewer, base: &str, token: Option<&str>) -> Markup {
    let text = viewer.text;
    html! {
        section.panel aria-labelledby="access" {
            h2 id="access" { (text.get("company-access")) }
            p { (text.get("company-access-what")) }
            @if let Some(token) = token {
                (notice::warning(&html! { p { (text.get("company-token-once")) } }))
                (copy::block(text, &text.get("company-token"), token))
                (copy::block(text, &text.get("company-token-command"),
                    &format!("curl '{base}/api/v1/contacts?limit=1' \\\n  -H 'Authorization: Bearer {token}'")))
            }
            form method="post" action="/console/company/token" {
                button.plain type="submit" {
                    @if viewer.signed_in.token_company_id.is_some() { (text.get("company-token-again")) }
                    @else { (text.get("company-token-new")) }
                }
            }
        }
    }
}

fn members_table(viewer: &Viewer, members: &[Member]) -> Markup {
    let text = viewer.text;
    let columns =
        Column::all(text, ["company-person", "sign-in-email", "companies-role", "account-last-used", ""]);
    let rows = members.iter().map(|member| {
        let label = text.with("company-role-of", [("name", member.name.as_str().into())]);
        let role = html! {
            @if viewer.is_owner() {
                form.row method="post" action=(format!("{PLACE}/members/{}/role", member.user_id)) {
                    select name="role" aria-label=(label) {
                        @for role in Role::ALL {
                            option value=(role.as_str()) selected[role == member.role] { (role_word(text, role)) }
                        }
                    }
                    button.quiet type="submit" { (text.get("company-role-save")) }
                }
            } @else { (role_word(text, member.role)) }
        };
        let question = text.with("company-remove-question", [("name", member.name.as_str().into())]);
        let action = format!("{PLACE}/members/{}/remove", member.user_id);
        vec![
            html! { bdi { (member.name) } @if member.is_disabled { " " span.soft { (text.get("company-disabled")) } } },
            html! { bdi { (member.email) } },
            role,
            maybe(viewer, member.last_used_at),
            html! {
                @if viewer.is_owner() {
                    @if member.user_id != viewer.signed_in.user.id && !member.is_disabled { (link_button(viewer, member)) }
                    (confirm(text, &action, &text.get("company-remove"), &question))
                }
            },
        ]
    });
    table(&text.get("company-members"), &columns, rows)
}

/// The button for a link with which a member chooses a new password.
fn link_button(viewer: &Viewer, member: &Member) -> Markup {
    let label = viewer.text.with("company-link-of", [("name", member.name.as_str().into())]);
    html! {
        form method="post" action=(format!("{PLACE}/members/{}/link", member.user_id)) {
            button.plain type="submit" aria-label=(label) { (viewer.text.get("users-password-link")) }
        }
    }
}

fn invitation_form(form: &Form) -> Markup {
    let text = form.text();
    let roles = [Role::Member, Role::Agent, Role::Viewer, Role::Owner].map(|role| {
        let does = match role {
            Role::Owner => "company-owner-does",
            Role::Member => "company-member-does",
            Role::Viewer => "company-viewer-does",
            Role::Agent => "company-agent-does",
        };
        (role.as_str(), text.get(does))
    });
    html! {
        section.panel aria-labelledby="invite" {
            h3 id="invite" { (text.get("company-invite-title")) }
            p { (text.get("company-invite-how")) }
            form method="post" action="/console/company/invitations" {
                (faults(form)) (once(form))
                (Field::new(form, "email", &text.get("sign-in-email")).required().autocomplete("off").input("email"))
                (Field::new(form, "role", &text.get("companies-role")).radios(roles))
                button type="submit" { (text.get("company-invite")) }
            }
        }
    }
}

fn invitations_table(viewer: &Viewer, invitations: &[Invitation]) -> Markup {
    let text = viewer.text;
    let columns = Column::all(text, ["sign-in-email", "companies-role", "company-valid-until", ""]);
    let rows = invitations.iter().map(|invitation| {
        let action = format!("{PLACE}/invitations/{}/withdraw", invitation.id);
        let question = text.with("company-withdraw-question", [("email", invitation.email.as_str().into())]);
        vec![
            html! { bdi { (invitation.email) } },
            html! { @if let Some(company) = &invitation.company { (role_word(text, company.role)) } },
            moment(viewer, invitation.expires_at),
            html! {
                form method="post" action=(format!("{PLACE}/invitations/{}/again", invitation.id)) {
                    button.plain type="submit" { (text.get("company-invite-again")) }
                }
                (confirm(text, &action, &text.get("company-withdraw"), &question))
            },
        ]
    });
    html! {
        h3 { (text.get("company-invitations")) }
        (table(&text.get("company-invitations"), &columns, rows))
    }
}
