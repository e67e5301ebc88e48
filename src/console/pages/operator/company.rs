//! One company, for operators: what belongs to it, what to do next, its name and tier, and whether it is disabled.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::channel_list;
use crate::accounts::{self, Invite, Member, Role};
use crate::clock::Timestamp;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::confirm::confirm;
use crate::console::component::copy;
use crate::console::component::field::{Field, faults};
use crate::console::component::icon::Icon;
use crate::console::component::notice;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::companies::role as role_word;
use crate::console::pages::link::note_invalid;
use crate::console::query::{Id, Query};
use crate::console::visitor::Person;
use crate::console::{State, address};
use crate::engine;
use crate::engine::records::companies::{Belongings, Company};

/// The name of the link that is shown once.
const LINK: &str = "company_link";
/// The longest name, and the longest name of a tier.
const NAME: usize = 200;
const TIER: usize = 40;
/// The roles, as forms name them.
const ROLES: [&str; 4] = ["owner", "member", "viewer", "agent"];

/// The page of a company.
pub(crate) fn place(id: Uuid) -> String {
    format!("/console/operator/companies/{id}")
}

/// The two forms of the page. The one that is shown again replaces the empty one.
#[derive(Default)]
struct CompanyForms {
    change: Option<Form>,
    invite: Option<Form>,
}

pub(crate) async fn show(person: Person, state: Data<State>, query: Query, id: Id) -> Result<Page> {
    let company = find(&state, id).await?;
    page(&person, &state, &query, &company, CompanyForms::default()).await
}

/// Sets name and tier.
pub(crate) async fn change(
    person: Person,
    state: Data<State>,
    query: Query,
    id: Id,
    mut form: Form,
) -> Result<Answer> {
    let company = find(&state, id).await?;
    let (name, tier) = (form.required("name", NAME), form.required("tier", TIER));
    if name.chars().any(char::is_control) {
        form.fault("name", person.text.get("link-invalid-name"));
    }
    let records = state.engine.operator().await?;
    if !tier.is_empty() && records.tiers().find(&tier).await?.is_none() {
        form.fault("tier", person.text.get("fault-field-choice"));
    }
    if !form.has_faults() {
        match records.change_company(&person.who(), &company, &name, &tier).await {
            Ok(_) => {
                drop(records);
                return Ok(done(&person, &state, &company, "operator-company-saved"));
            }
            Err(engine::Error::Refused(_)) => form.fault("name", person.text.get("operator-name-taken")),
            Err(error) => return Err(error.into()),
        }
    }
    drop(records);
    let forms = CompanyForms { change: Some(form), ..CompanyForms::default() };
    Ok(page(&person, &state, &query, &company, forms).await?.unprocessable().into())
}

/// Invites a person to the company; the link is shown once.
pub(crate) async fn invite(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    query: Query,
    id: Id,
    mut form: Form,
) -> Result<Answer> {
    let company = find(&state, id).await?;
    let email = form.required("email", 254);
    let role = form.choice("role", &ROLES).and_then(Role::parse);
    if let Some(role) = role.filter(|_| !form.has_faults()) {
        let invite =
            Invite { email: &email, name: "", company: Some((company.id, role)), is_operator: false };
        match state.accounts.invite(&person.who(), invite).await {
            Ok(link) => {
                let link = format!("{}{}", address::base(&request, &state), link.path());
                state.flashes.put(person.session, LINK, link);
                return Ok(Answer::to(place(company.id)));
            }
            Err(accounts::Error::Invalid { .. }) => note_invalid(&mut form, "email"),
            Err(error) => return Err(error.into()),
        }
    }
    let forms = CompanyForms { invite: Some(form), ..CompanyForms::default() };
    Ok(page(&person, &state, &query, &company, forms).await?.unprocessable().into())
}

/// Keeps the company's people and programs out, and pauses its sends.
pub(crate) async fn disable(person: Person, state: Data<State>, id: Id) -> Result<Answer> {
    set_disabled(&person, &state, id, true).await
}

/// Lets the company's people and programs in again.
pub(crate) async fn enable(person: Person, state: Data<State>, id: Id) -> Result<Answer> {
    set_disabled(&person, &state, id, false).await
}

async fn set_disabled(person: &Person, state: &State, id: Id, disabled: bool) -> Result<Answer> {
    let company = find(state, id).await?;
    let records = state.engine.operator().await?;
    records.companies().set_disabled(&person.who(), &company, disabled).await?;
    drop(records);
    let said = if disabled { "operator-company-is-disabled" } else { "operator-company-is-enabled" };
    Ok(done(person, state, &company, said))
}

fn done(person: &Person, state: &State, company: &Company, key: &str) -> Answer {
    Answer::done(state, person, person.text.get(key), place(company.id))
}

async fn find(state: &State, id: Id) -> Result<Company> {
    state.engine.operator().await?.companies().find(id.0).await?.ok_or(Error::NotFound)
}

async fn page(
    person: &Person,
    state: &State,
    query: &Query,
    company: &Company,
    CompanyForms { change, invite }: CompanyForms,
) -> Result<Page> {
    let text = person.text;
    let request = query.page_of("channels", 20);
    let records = state.engine.operator().await?;
    let belongings = records.companies().belongings(company.id, Timestamp::now()).await?;
    let channels = records.channels().page(request, Some(&company.id.to_string())).await?;
    let tiers = records.tiers().all().await?;
    drop(records);
    let members = state.accounts.members(company.id).await?;
    let link = state.flashes.take(person.session, LINK);
    let change = change.unwrap_or_else(|| {
        Form::filled(text, [("name", company.name.clone()), ("tier", company.tier.clone())])
    });
    let invite = invite.unwrap_or_else(|| Form::filled(text, [("role", "owner".to_owned())]));
    let tiers = tiers.iter().map(|tier| (&tier.name, &tier.name));
    let tier_hint = text.get("operator-company-tier-hint");
    let body = html! {
        @if let Some(link) = &link {
            (notice::warning(&html! { p { (text.get("company-link-once")) } }))
            (copy::block(text, &text.get("company-link"), link))
        }
        @if company.disabled_at.is_some() {
            (notice::warning(&html! { p { (text.get("operator-company-disabled-why")) } }))
        }
        (facts(person, company, belongings))
        (steps(person, company, belongings))
        section aria-labelledby="change" {
            h2 id="change" { (text.get("operator-company-change")) }
            form.panel method="post" action=(place(company.id)) {
                (faults(&change))
                (Field::new(&change, "name", &text.get("company-name")).required().most(NAME).text())
                (Field::new(&change, "tier", &text.get("company-tier")).hint(&tier_hint).select(tiers))
                button type="submit" { (text.get("operator-company-save")) }
            }
        }
        (channel_list(person, query, request, &channels))
        section aria-labelledby="members" {
            h2 id="members" { (text.get("company-members")) }
            @if members.is_empty() { p { (text.get("operator-company-no-members")) } }
            @else { (members_table(person, &members)) }
            (invitation(company, &invite))
        }
        section aria-labelledby="disable" {
            h2 id="disable" { (text.get("operator-company-access")) }
            p { (text.get("operator-company-disable-what")) }
            @if company.disabled_at.is_some() {
                form method="post" action={ (place(company.id)) "/enable" } {
                    button.plain type="submit" { (text.get("operator-company-enable")) }
                }
            } @else {
                (confirm(
                    text,
                    &format!("{}/disable", place(company.id)),
                    &text.get("operator-company-disable"),
                    &text.with("operator-company-disable-question", [("name", company.name.as_str().into())]),
                ))
            }
        }
    };
    let page = Page::new(company.name.clone(), Menu::Operator, body);
    Ok(if link.is_some() { page.secret() } else { page })
}

fn facts(person: &Person, company: &Company, belongings: Belongings) -> Markup {
    let text = person.text;
    let Belongings { owners, members, keys, channels, connected } = belongings;
    html! {
        dl.facts.panel {
            dt { (text.get("company-tier")) }
            dd { a href=(format!("/console/operator/tiers/{}", company.tier)) { (company.tier) } }
            dt { (text.get("company-members")) }
            dd { (text.with("operator-company-members", [("members", members.into()), ("owners", owners.into())])) }
            dt { (text.get("operator-company-keys")) } dd { (text.number(keys)) }
            dt { (text.get("shell-channels")) }
            dd { (text.with("operator-company-channels", [("channels", channels.into()), ("connected", connected.into())])) }
            dt { (text.get("operator-company-since")) } dd { (moment(person, company.created_at)) }
            @if let Some(at) = company.disabled_at {
                dt { (badge(Tone::Bad, &text.get("companies-disabled"))) } dd { (moment(person, at)) }
            }
            dt { (text.get("shell-id")) } dd { (copy::id(text, company.id)) }
        }
    }
}

/// What to do until a company can send, each ticked off once it is done; nothing when all is.
fn steps(person: &Person, company: &Company, belongings: Belongings) -> Markup {
    let text = person.text;
    let steps = [
        (!company.tier.is_empty(), "operator-step-tier", "operator-step-tier-why"),
        (belongings.owners > 0, "operator-step-owner", "operator-step-owner-why"),
        (belongings.channels > 0, "operator-step-number", "operator-step-number-why"),
    ];
    if steps.iter().all(|(is_done, ..)| *is_done) {
        return html! {};
    }
    html! {
        section.panel aria-labelledby="steps" {
            h2 id="steps" { (text.get("operator-steps")) }
            ol.steps {
                @for (is_done, title, why) in steps {
                    li.done[is_done] {
                        (if is_done { Icon::Done } else { Icon::ToDo })
                        div.what {
                            strong { (text.get(title)) }
                            @if is_done { " " span.badge.good { (text.get("overview-first-done")) } }
                            p { (text.get(why)) }
                        }
                    }
                }
            }
        }
    }
}

fn members_table(person: &Person, members: &[Member]) -> Markup {
    let text = person.text;
    let columns = Column::all(text, ["company-person", "companies-role", "account-last-used"]);
    let rows = members.iter().map(|member| {
        vec![
            html! {
                a href=(super::users::place(member.user_id)) { bdi { (member.name) } }
                @if member.is_disabled { " " span.soft { (text.get("company-disabled")) } }
                div.soft { bdi { (member.email) } }
            },
            html! { (role_word(text, member.role)) },
            maybe(person, member.last_used_at),
        ]
    });
    table(&text.get("company-members"), &columns, rows)
}

fn invitation(company: &Company, form: &Form) -> Markup {
    let text = form.text();
    let roles = Role::ALL.map(|role| (role.as_str(), role_word(text, role)));
    html! {
        form.panel method="post" action={ (place(company.id)) "/invite" } {
            h3 { (text.get("company-invite-title")) }
            (faults(form))
            (Field::new(form, "email", &text.get("sign-in-email")).required().autocomplete("off").input("email"))
            (Field::new(form, "role", &text.get("companies-role")).select(roles))
            button.plain type="submit" { (text.get("company-invite")) }
        }
    }
}
