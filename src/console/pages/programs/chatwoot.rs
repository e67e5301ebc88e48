//! Connecting Chatwoot: with its address and the token of an administrator, both sides are set up.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};

use super::words::{self, Passed};
use super::{ADDRESS, CHECKED, channel_field, chosen, connecting, line, offered, place};
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::options::GraphPlace;
use crate::console::page::Page;
use crate::console::visitor::Viewer;
use crate::console::{State, address};
use crate::domain::channel::Channel;
use crate::domain::graph::ProgramKind;
use crate::domain::secret::Secret;
use crate::engine;
use crate::engine::programs::{MOST_PROGRAMS, NewChatwoot, NotConnected, ProgramStep, Programs};
use crate::error::{Code, Refusal};

/// The steps of connecting Chatwoot, in their order.
const STEPS: [ProgramStep; 6] = [
    ProgramStep::Address,
    ProgramStep::Token,
    ProgramStep::Rights,
    ProgramStep::BaseUrl,
    ProgramStep::Inbox,
    ProgramStep::Webhook,
];
/// The longest name of an inbox, in characters.
const NAME: usize = 100;
/// The most digits of an account.
const ACCOUNT: usize = 18;

/// Why a form did not connect Chatwoot.
enum Stopped {
    Not(NotConnected),
    /// The company has as many programs as it may have.
    Full,
}

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Page, Error> {
    let channels = with_numbers(&viewer, &state).await?;
    Ok(page(&viewer, &state, &request, &Form::new(viewer.text), &channels, None))
}

/// Connects Chatwoot, or says at which step it stopped.
pub(in crate::console) async fn connect(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer, Error> {
    let text = viewer.text;
    let channels = with_numbers(&viewer, &state).await?;
    let channel = chosen(&mut form, &channels);
    let typed = form.required("address", ADDRESS);
    let token = Secret::new(form.password("token").trim().to_owned());
    let account = read_account(&mut form);
    let inbox_name = form.optional("inbox", NAME);
    if state.options.graph == GraphPlace::Closed {
        form.general_fault(text.get("programs-closed"));
    }
    let Some(channel) = channel.filter(|_| !form.has_faults()) else {
        return Ok(page(&viewer, &state, &request, &form, &channels, None).unprocessable().into());
    };
    let phone_number = plain_number(channel).unwrap_or_default();
    let new = NewChatwoot { address: typed, token, account, inbox_name, phone_number };
    let act = async || {
        let programs = Programs::new(&state.engine, viewer.company.id);
        match programs.connect_chatwoot(&viewer.who(), channel, new).await {
            Ok(Ok(program)) => {
                let shown = words::list(text, STEPS.map(|step| (step, Passed::Yes))).into_string();
                state.flashes.put(viewer.session, CHECKED, format!("{} {shown}", program.id));
                state.flashes.put(viewer.session, "done", text.get("programs-chatwoot-done"));
                Ok(Ok(Answer::to(place(program.id))))
            }
            Ok(Err(not)) => Ok(Err(Stopped::Not(not))),
            Err(engine::Error::Refused(Refusal { code: Code::TooManyWebhooks, .. })) => {
                Ok(Err(Stopped::Full))
            }
            Err(error) => Err(error.into()),
        }
    };
    let not = match state.once.attempt(&viewer, &form, act).await? {
        Ok(answer) => return Ok(answer),
        Err(Stopped::Full) => {
            form.general_fault(text.with("programs-full", [("most", MOST_PROGRAMS.into())]));
            None
        }
        Err(Stopped::Not(not)) => {
            let line = line(ProgramKind::Chatwoot, &address::base(&request, &state));
            let mut said = words::words(text, &not.fault, &line);
            if not.leaves_inbox {
                said = format!("{said} {}", text.get("programs-inbox-left"));
            }
            form.fault(field(not.step), said);
            Some(not)
        }
    };
    Ok(page(&viewer, &state, &request, &form, &channels, not.as_ref()).unprocessable().into())
}

/// The field that a step is about.
const fn field(step: ProgramStep) -> &'static str {
    match step {
        ProgramStep::Address => "address",
        ProgramStep::Token => "token",
        ProgramStep::Rights => "account",
        ProgramStep::Key | ProgramStep::BaseUrl | ProgramStep::Inbox | ProgramStep::Webhook => "",
    }
}

/// The account, if one is typed.
fn read_account(form: &mut Form) -> Option<u64> {
    let typed = form.optional("account", ACCOUNT)?;
    let account = typed.parse().ok().filter(|account| *account > 0);
    if account.is_none() {
        form.fault("account", form.text().get("programs-account-wrong"));
    }
    account
}

/// The number of a channel, with `+` and digits alone.
fn plain_number(channel: &Channel) -> Option<String> {
    let digits: String = channel.phone_number.as_deref()?.chars().filter(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("+{digits}"))
}

/// The channels that have a number: Chatwoot finds its inbox by it.
async fn with_numbers(viewer: &Viewer, state: &State) -> Result<Vec<Channel>, Error> {
    let mut channels = offered(viewer, state).await?;
    channels.retain(|channel| plain_number(channel).is_some());
    Ok(channels)
}

fn page(
    viewer: &Viewer,
    state: &State,
    request: &HttpRequest,
    form: &Form,
    channels: &[Channel],
    not: Option<&NotConnected>,
) -> Page {
    let text = viewer.text;
    let fields = html! {
        @if let Some(not) = not { section.panel { (passed(viewer, not)) } }
        form.panel method="post" {
            h2 { (text.get("programs-then")) }
            (faults(form)) (once(form))
            (channel_field(form, channels))
            (Field::new(form, "address", &text.get("programs-chatwoot-address")).hint(&text.get("programs-chatwoot-address-hint")).required().most(ADDRESS).autocomplete("off").input("url"))
            (Field::new(form, "token", &text.get("programs-token")).hint(&text.get("programs-token-hint")).required().autocomplete("off").password())
            (Field::new(form, "account", &text.get("programs-account")).hint(&text.get("programs-account-hint")).most(ACCOUNT).autocomplete("off").text())
            (Field::new(form, "inbox", &text.get("programs-inbox")).hint(&text.get("programs-inbox-hint")).most(NAME).text())
            p.soft { (text.get("programs-chatwoot-does")) }
            button type="submit" { (text.get("programs-chatwoot")) }
        }
    };
    connecting((viewer, state), request, ProgramKind::Chatwoot, channels, &fields)
}

/// The steps before the one that failed passed, and those after it were not made.
fn passed(viewer: &Viewer, not: &NotConnected) -> Markup {
    let of = |step: ProgramStep| match step.cmp(&not.step) {
        std::cmp::Ordering::Less => Passed::Yes,
        std::cmp::Ordering::Equal => Passed::No,
        std::cmp::Ordering::Greater => Passed::NotAsked,
    };
    words::list(viewer.text, STEPS.map(|step| (step, of(step))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;
    use crate::console::text::Text;

    #[test]
    fn an_account_is_a_number_or_nothing() {
        for (typed, account, is_fault) in
            [("", None, false), ("3", Some(3), false), ("0", None, true), ("shop", None, true)]
        {
            let mut form = Form::filled(Text(Language::English), [("account", typed.to_owned())]);
            assert_eq!(read_account(&mut form), account, "{typed}");
            assert_eq!(form.has_faults(), is_fault, "{typed}");
        }
    }
}
