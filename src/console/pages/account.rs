//! A person's own account: name, language and zone; their number; password; second factor; sessions.

pub(crate) mod number;
pub(crate) mod sessions;

use actix_web::web::Data;
use maud::{Markup, PreEscaped, html};
use qrcode::QrCode;
use qrcode::render::svg;

use super::alerts;
use super::link::{new_password, note_invalid, note_refused, password_fields};
use crate::accounts::{self, OwnProfile, Proof, TotpConfirmed, TotpSetup};
use crate::clock::Timestamp;
use crate::console::answer::Answer;
use crate::console::component::copy;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::language::Language;
use crate::console::page::{Menu, Page};
use crate::console::text::Text;
use crate::console::visitor::{Person, Visitor};
use crate::console::zone::Zone;
use crate::console::{State, cookie};
use crate::domain::secret::Secret;

/// The path of this page.
const PLACE: &str = "/console/account";

/// The forms of the page. A form that is shown again replaces the empty one.
#[derive(Default)]
struct Forms {
    profile: Option<Form>,
    number: Option<number::Submitted>,
    password: Option<Form>,
    begin: Option<Form>,
    totp: Option<Form>,
    remove: Option<Form>,
}

pub(crate) async fn show(person: Person, state: Data<State>) -> Result<Page> {
    page(&person, &state, Forms::default()).await
}

/// Changes name, language and zone.
pub(crate) async fn profile(person: Person, state: Data<State>, mut form: Form) -> Result<Answer> {
    let name = form.required("name", 200);
    let language = Language::parse(form.words().one("language"));
    let typed = form.optional("time_zone", 64);
    let zone = typed.as_deref().and_then(|typed| Zone::read(typed, Timestamp::now()));
    if typed.is_some() && zone.is_none() {
        form.fault("time_zone", person.text.get("account-zone-unknown"));
    }
    if !form.has_faults() {
        let set = OwnProfile::of(&state.accounts)
            .set(&person.signed_in, &name, language, zone, &person.origin)
            .await;
        match set {
            Ok(()) => {
                // The next page is in the newly chosen language.
                let text = language.map_or(person.text, Text);
                return Ok(Answer::done(&state, &person, text.get("account-saved"), PLACE));
            }
            Err(accounts::Error::Invalid { field, .. }) => note_invalid(&mut form, field),
            Err(error) => return Err(error.into()),
        }
    }
    again(&person, &state, Forms { profile: Some(form), ..Forms::default() }).await
}

/// Replaces the password, which ends all other sessions.
pub(crate) async fn password(
    visitor: Visitor,
    person: Person,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer> {
    let (current, new) = (form.password("current"), new_password(&mut form, person.text));
    if !form.has_faults() {
        let changed = state.accounts.change_password(&person.signed_in, &current, &new, &person.origin).await;
        match changed {
            Ok(token) => {
                return Ok(renewed(&state, &visitor, &person, &token, "account-password-changed"));
            }
            Err(error) => not_own(&mut form, "current", error)?,
        }
    }
    again(&person, &state, Forms { password: Some(form), ..Forms::default() }).await
}

/// Begins the setup of a second factor, which may replace another one.
pub(crate) async fn begin_totp(person: Person, state: Data<State>, mut form: Form) -> Result<Answer> {
    let (password, code) = typed_proof(&person, &mut form);
    if !form.has_faults() {
        let proof = Proof { password: &password, code: code.as_deref() };
        match state.accounts.begin_totp(&person.signed_in, proof, &person.origin).await {
            Ok(_) => return Ok(Answer::to(format!("{PLACE}#totp"))),
            Err(error) => not_proven(&person, &mut form, error)?,
        }
    }
    again(&person, &state, Forms { begin: Some(form), ..Forms::default() }).await
}

/// The password, and the code of a person who has a second factor.
fn typed_proof(person: &Person, form: &mut Form) -> (String, Option<String>) {
    let password = form.password("current");
    let code = person.signed_in.user.has_totp.then(|| form.required("proof", 32));
    (password, code)
}

/// Notes that the password, or the code with it, is wrong.
fn not_proven(person: &Person, form: &mut Form, error: accounts::Error) -> Result<()> {
    if matches!(error, accounts::Error::Refused) && person.signed_in.user.has_totp {
        form.general_fault(person.text.get("account-proof-wrong"));
        return Ok(());
    }
    not_own(form, "current", error)
}

/// Confirms the second factor with a code; shows the recovery codes once.
pub(crate) async fn confirm_totp(
    visitor: Visitor,
    person: Person,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer> {
    let code = form.required("code", 32);
    if form.has_faults() {
        return again(&person, &state, Forms { totp: Some(form), ..Forms::default() }).await;
    }
    match state.accounts.confirm_totp(&person.signed_in, &code, &person.origin).await {
        Ok(TotpConfirmed { codes, token }) => {
            let codes: Vec<_> = codes.iter().map(|code| code.expose()).collect();
            state.flashes.put(person.session, "recovery", codes.join("\n"));
            let cookie = cookie::begin(token.expose(), visitor.is_https);
            Ok(Answer::with_cookie(format!("{PLACE}#totp"), cookie))
        }
        Err(accounts::Error::NotFound) => Ok(Answer::to(format!("{PLACE}#totp"))),
        Err(accounts::Error::Refused) => {
            form.fault("code", person.text.get("sign-in-wrong-code"));
            again(&person, &state, Forms { totp: Some(form), ..Forms::default() }).await
        }
        Err(error) => {
            not_own(&mut form, "code", error)?;
            again(&person, &state, Forms { totp: Some(form), ..Forms::default() }).await
        }
    }
}

/// Removes the second factor.
pub(crate) async fn remove_totp(
    visitor: Visitor,
    person: Person,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer> {
    let (password, code) = typed_proof(&person, &mut form);
    if !form.has_faults() {
        let proof = Proof { password: &password, code: code.as_deref() };
        match state.accounts.remove_totp(&person.signed_in, proof, &person.origin).await {
            Ok(token) => return Ok(renewed(&state, &visitor, &person, &token, "account-totp-removed")),
            Err(accounts::Error::NotFound) => return Ok(done(&state, &person, "account-totp-removed")),
            Err(error) => not_proven(&person, &mut form, error)?,
        }
    }
    again(&person, &state, Forms { remove: Some(form), ..Forms::default() }).await
}

/// Done, with a new cookie for the session: the old one no longer opens it.
fn renewed(state: &State, visitor: &Visitor, person: &Person, token: &Secret, key: &str) -> Answer {
    state.flashes.put(person.session, "done", person.text.get(key));
    Answer::with_cookie(PLACE, cookie::begin(token.expose(), visitor.is_https))
}

fn done(state: &State, person: &Person, key: &str) -> Answer {
    Answer::done(state, person, person.text.get(key), PLACE)
}

/// Notes that the password is not the person's.
fn not_own(form: &mut Form, field: &str, error: accounts::Error) -> Result<()> {
    let text = form.text();
    match error {
        accounts::Error::Refused => form.fault(field, text.get("account-password-wrong")),
        accounts::Error::TooMany { retry_after } => {
            let seconds = retry_after.as_secs().max(1);
            form.fault(field, text.with("sign-in-too-many", [("seconds", seconds.into())]));
            form.hold(retry_after);
        }
        other => note_refused(form, other)?,
    }
    Ok(())
}

async fn again(person: &Person, state: &State, forms: Forms) -> Result<Answer> {
    let shown = [&forms.password, &forms.begin, &forms.totp, &forms.remove]
        .into_iter()
        .flatten()
        .find_map(Form::held);
    let page = page(person, state, forms).await?.unprocessable();
    Ok(page.after(shown).into())
}

async fn page(person: &Person, state: &State, forms: Forms) -> Result<Page> {
    let (text, user) = (person.text, &person.signed_in.user);
    let sessions = state.accounts.sessions(user).await?;
    let recovery = state.flashes.take(person.session, "recovery");
    let left = if user.has_totp { state.accounts.recovery_codes_left(&person.signed_in).await? } else { 0 };
    let begun = state.accounts.begun_totp(&person.signed_in).await?;
    let mails = alerts::section(person, state).await?;
    let Forms { profile, number, password, begin, totp, remove } = forms;
    let profile = profile.unwrap_or_else(|| {
        let language = user.language.map_or("", Language::as_str).to_owned();
        let zone = user.time_zone.as_deref().map(|zone| Zone::named(zone).label(Timestamp::now()));
        let zone = zone.unwrap_or_default();
        Form::filled(text, [("name", user.name.clone()), ("language", language), ("time_zone", zone)])
    });
    let empty = || Form::new(text);
    let body = html! {
        div.columns {
            section.panel aria-labelledby="profile" {
                h2 id="profile" { (text.get("account-profile")) }
                (profile_form(person, &profile))
            }
            section.panel aria-labelledby="password" {
                h2 id="password" { (text.get("account-password")) }
                (password_form(user.email.as_str(), &password.unwrap_or_else(empty)))
            }
        }
        (number::section(person, number.as_ref()))
        section.panel aria-labelledby="totp" {
            h2 id="totp" { (text.get("account-totp")) }
            @if let Some(codes) = &recovery {
                (notice::warning(&html! { p { (text.get("account-recovery")) } }))
                (copy::block(text, &text.get("account-recovery-codes"), codes))
            }
            @if user.has_totp {
                p { (text.with("account-totp-on", [("left", left.into())])) }
            } @else if begun.is_none() {
                p { (text.get("account-totp-off")) }
            }
            @if let Some(setup) = &begun {
                (setup_form(&totp.unwrap_or_else(empty), setup))
            } @else {
                (begin_form(&user.email, &begin.unwrap_or_else(empty), user.has_totp))
            }
            @if user.has_totp { (remove_form(&user.email, &remove.unwrap_or_else(empty))) }
        }
        (mails)
        (sessions::section(person, &sessions))
    };
    let page = Page::new(text.get("account-title"), Menu::Account, body);
    Ok(if recovery.is_some() || begun.is_some() { page.secret() } else { page })
}

fn profile_form(person: &Person, form: &Form) -> Markup {
    let text = person.text;
    let languages = [(String::new(), text.get("account-language-browser"))].into_iter();
    let languages =
        languages.chain(Language::ALL.map(|one| (one.as_str().to_owned(), one.name().to_owned())));
    let now = Timestamp::now();
    let hint = match &person.signed_in.user.time_zone {
        None => text.with("account-zone-now", [("zone", person.zone.label(now).into())]),
        Some(_) => text.get("account-zone-none"),
    };
    let zones = Zone::labels(now);
    html! {
        form method="post" action="/console/account/profile" {
            (faults(form)) (once(form))
            p { (text.get("sign-in-email")) ": " bdi { (person.signed_in.user.email) } }
            (Field::new(form, "name", &text.get("account-name")).required().most(200).autocomplete("name").text())
            (Field::new(form, "language", &text.get("account-language")).select(languages))
            (Field::new(form, "time_zone", &text.get("account-zone")).hint(&hint).most(64).suggesting(zones.iter()))
            button type="submit" { (text.get("account-save")) }
        }
    }
}

fn password_form(email: &str, form: &Form) -> Markup {
    let text = form.text();
    html! {
        form method="post" action="/console/account/password" {
            (faults(form)) (once(form))
            (user_of_password(email))
            (Field::new(form, "current", &text.get("account-current")).required().autocomplete("current-password").password())
            (password_fields(form))
            p.hint { (text.get("account-password-hint")) }
            button.plain type="submit" { (text.get("account-password-change")) }
        }
    }
}

/// Password managers need to know the user of a password.
fn user_of_password(email: &str) -> Markup {
    html! { input type="text" name="username" value=(email) autocomplete="username" hidden; }
}

fn setup_form(form: &Form, setup: &TotpSetup) -> Markup {
    let text = form.text();
    let picture = QrCode::new(setup.url.expose())
        .map(|code| code.render::<svg::Color<'_>>().min_dimensions(200, 200).quiet_zone(true).build());
    html! {
        p { (text.get("account-totp-scan")) }
        @if let Ok(picture) = picture {
            div.qr role="img" aria-label=(text.get("account-totp-picture")) {
                (PreEscaped(picture.split_once("?>").map_or(picture.as_str(), |(_, svg)| svg)))
            }
        }
        p { (text.get("account-totp-type")) " " (copy::copy(text, &text.get("account-totp-secret"), setup.secret.expose())) }
        form method="post" action="/console/account/totp/confirm" {
            (faults(form))
            (Field::new(form, "code", &text.get("sign-in-code")).required().code())
            button type="submit" { (text.get("account-totp-confirm")) }
        }
    }
}

/// The fields of what a person proves again; `within` tells apart the fields of several forms.
fn proof_fields(email: &str, form: &Form, within: &'static str, has_totp: bool) -> Markup {
    let text = form.text();
    html! {
        (user_of_password(email))
        (Field::new(form, "current", &text.get("account-current")).within(within).required()
            .autocomplete("current-password").password())
        @if has_totp {
            (Field::new(form, "proof", &text.get("account-proof-code")).within(within)
                .hint(&text.get("sign-in-code-hint")).required().code())
        }
    }
}

fn begin_form(email: &str, form: &Form, has_totp: bool) -> Markup {
    let text = form.text();
    let button = if has_totp { "account-totp-replace" } else { "account-totp-begin" };
    html! {
        form method="post" action="/console/account/totp" {
            (faults(form))
            (proof_fields(email, form, "begin", has_totp))
            button.plain type="submit" { (text.get(button)) }
        }
    }
}

fn remove_form(email: &str, form: &Form) -> Markup {
    let text = form.text();
    html! {
        form method="post" action="/console/account/totp/remove" {
            (faults(form))
            (proof_fields(email, form, "remove", true))
            button.danger type="submit" { (text.get("account-totp-remove")) }
        }
    }
}
