//! Adding a channel: a business account, which is checked at the provider first, or a web session, which waits for a phone.

use actix_web::web::Data;
use maud::html;

use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::message::Failure;
use crate::domain::secret::Secret;
use crate::engine::{Addition, Check, NotAdded, Number, Unfit};

/// The longest name of a channel, in characters.
const NAME: usize = 200;
/// The most digits of a provider's id. Its ids have some 15 digits.
const ID: usize = 32;
/// The longest token, in characters. No token of the provider is nearly as long.
const SECRET: usize = 16 * 1024;

pub(in crate::console) async fn show(viewer: Viewer) -> Page {
    let kind = Kind::BusinessAccount.as_str().to_owned();
    page(&viewer, &Form::filled(viewer.text, [("kind", kind)]))
}

/// Adds the channel. A business account that the provider does not confirm is not saved.
pub(in crate::console) async fn add(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    let kinds = [Kind::BusinessAccount.as_str(), Kind::WebSession.as_str()];
    let kind = form.choice("kind", &kinds);
    let name = form.required("name", NAME);
    if name.chars().any(char::is_control) {
        form.fault("name", viewer.text.get("channels-fault-name"));
    }
    let business = (kind == Some(Kind::BusinessAccount.as_str())).then(|| {
        let phone_number_id = id(&mut form, "phone_number_id");
        let waba_id = id(&mut form, "waba_id");
        let token = secret(&mut form, "token");
        if token.is_none() && form.fault_of("token").is_none() {
            form.fault("token", viewer.text.get("fault-field-missing"));
        }
        let app_secret = secret(&mut form, "app_secret");
        (phone_number_id, waba_id, token, app_secret)
    });
    if form.has_faults() {
        return Ok(page(&viewer, &form).unprocessable().into());
    }
    let (company_id, who) = (viewer.company.id, viewer.who());
    let number = business.and_then(|(phone_number_id, waba_id, token, app_secret)| {
        let token = token?;
        let check = Check::AtProvider;
        Some(Number { phone_number: None, phone_number_id, waba_id, token, app_secret, check })
    });
    let addition = Addition { company_id, name, tier: None, number };
    let mut refused = None;
    let act = async || {
        let channel = match state.engine.channels().add(&who, addition).await {
            Ok(channel) => channel,
            Err(NotAdded::Failed(error)) => return Err(error.into()),
            Err(unfit) => {
                refused = Some(unfit);
                return Err(Error::Unreadable);
            }
        };
        let Channel { id, name, .. } = channel;
        let said = viewer.text.with("channels-added", [("name", name.into())]);
        state.flashes.put(viewer.session, "done", said);
        Ok(Answer::to(format!("/console/channels/{id}")))
    };
    let answer = state.once.act(&viewer, &form, act).await;
    match refused {
        Some(unfit) => {
            refuse(&mut form, unfit);
            Ok(page(&viewer, &form).unprocessable().into())
        }
        None => answer,
    }
}

/// An id that the provider gave: digits.
fn id(form: &mut Form, name: &'static str) -> String {
    let id = form.required(name, ID);
    if !id.bytes().all(|digit| digit.is_ascii_digit()) {
        form.fault(name, form.text().get("channels-fault-id"));
    }
    id
}

/// A token or a secret, if one was typed.
pub(in crate::console) fn secret(form: &mut Form, name: &'static str) -> Option<Secret> {
    let typed = form.optional(name, SECRET)?;
    if !typed.bytes().all(|byte| byte.is_ascii_graphic()) {
        form.fault(name, form.text().get("channels-fault-secret"));
        return None;
    }
    Some(Secret::new(typed))
}

/// Notes the provider's refusal beside the field that it is about.
fn refuse(form: &mut Form, refused: NotAdded) {
    let (field, key, said) = match refused {
        NotAdded::Unfit(Unfit::Token(said)) => ("token", "channels-unfit-token", said),
        NotAdded::Unfit(Unfit::Number(said)) => ("phone_number_id", "channels-unfit-number", said),
        NotAdded::Unfit(Unfit::Account(said)) => ("waba_id", "channels-unfit-account", said),
        NotAdded::Unfit(Unfit::Restricted(said)) => ("", "channels-unfit-restricted", said),
        NotAdded::Unfit(Unfit::Away(said)) => ("", "channels-unfit-away", said),
        NotAdded::Taken | NotAdded::Failed(_) => {
            form.fault("phone_number_id", form.text().get("channels-unfit-taken"));
            return;
        }
    };
    let Failure { code, sentence } = said;
    // Most of the provider's sentences begin with the code.
    let code = code.map(|code| code.to_string()).filter(|code| !sentence.contains(code.as_str()));
    let code = code.map_or_else(String::new, |code| format!(" · {code}"));
    let words = form.text().get(key);
    form.fault(field, format!("{words} [{sentence}{code}]"));
}

fn page(viewer: &Viewer, form: &Form) -> Page {
    let text = viewer.text;
    let kinds = [
        (Kind::BusinessAccount.as_str(), text.get("channels-kind-business-long")),
        (Kind::WebSession.as_str(), text.get("channels-kind-web-long")),
    ];
    let body = html! {
        form method="post" {
            (faults(form)) (once(form))
            section.panel {
                (Field::new(form, "kind", &text.get("channels-kind")).radios(kinds))
                (Field::new(form, "name", &text.get("channels-name")).hint(&text.get("channels-name-hint")).required().most(NAME).text())
                p.hint { (text.get("channels-of-web-hint")) }
            }
            section.panel {
                h2 { (text.get("channels-of-business")) }
                p { (text.get("channels-of-business-hint")) }
                (Field::new(form, "phone_number_id", &text.get("channels-phone-number-id")).most(ID).text())
                (Field::new(form, "waba_id", &text.get("channels-waba-id")).most(ID).text())
                (Field::new(form, "token", &text.get("channels-token")).hint(&text.get("channels-token-hint")).autocomplete("off").password())
                (Field::new(form, "app_secret", &text.get("channels-app-secret")).hint(&text.get("channels-app-secret-hint")).autocomplete("off").password())
            }
            button type="submit" { (text.get("channels-add")) }
        }
    };
    Page::new(text.get("channels-new"), Menu::Channels, body)
}
