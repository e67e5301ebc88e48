//! The steps of connecting a program, and what went wrong at one, in the person's language.

use maud::{Markup, html};

use crate::connector::webhook::DeliveryFault;
use crate::console::component::icon::Icon;
use crate::console::pages::webhooks::fault_words;
use crate::console::text::Text;
use crate::engine::programs::{ProgramFault, ProgramStep};

/// What is known of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Yes,
    No,
    NotAsked,
}

/// What is true once a step passed.
const fn key(step: ProgramStep) -> &'static str {
    match step {
        ProgramStep::Address => "programs-step-address",
        ProgramStep::Token => "programs-step-token",
        ProgramStep::Rights => "programs-step-rights",
        ProgramStep::Key => "programs-step-key",
        ProgramStep::BaseUrl => "programs-step-base",
        ProgramStep::Inbox => "programs-step-inbox",
        ProgramStep::Webhook => "programs-step-webhook",
    }
}

/// A list of steps.
pub(super) fn list(text: Text, steps: impl IntoIterator<Item = (ProgramStep, Passed)>) -> Markup {
    html! {
        ul.checks aria-label=(text.get("programs-checks")) {
            @for (step, passed) in steps {
                @let (icon, word) = match passed {
                    Passed::Yes => (Icon::Done, "channels-check-yes"),
                    Passed::No => (Icon::Bad, "channels-check-no"),
                    Passed::NotAsked => (Icon::ToDo, "channels-check-open"),
                };
                li { (icon) span { (text.get(key(step))) ": " strong { (text.get(word)) } } }
            }
        }
    }
}

/// What went wrong, and what to do. `line` is the one in the program's environment that leads it here.
pub(super) fn words(text: Text, fault: &ProgramFault, line: &str) -> String {
    let plain = match fault {
        ProgramFault::Delivery(fault) => return delivery(text, fault),
        ProgramFault::SeveralAccounts(accounts) => {
            let accounts: Vec<_> =
                accounts.iter().map(|account| format!("{} ({})", account.id, account.name)).collect();
            return text.with("programs-fault-several", [("accounts", accounts.join(", ").into())]);
        }
        ProgramFault::NeverAsked => {
            return text.with("programs-fault-base", [("line", line.into())]);
        }
        ProgramFault::Refused { status, said } => {
            let words = text.with("programs-fault-refused", [("status", status.to_string().into())]);
            return if said.is_empty() { words } else { format!("{words} [{said}]") };
        }
        ProgramFault::NotAdded(sentence) => {
            return format!("{} [{sentence}]", text.get("programs-fault-webhook"));
        }
        ProgramFault::NotChatwoot => "programs-fault-other-program",
        ProgramFault::TokenRefused => "programs-fault-token",
        ProgramFault::NoAdministrator => "programs-fault-rights",
        ProgramFault::InboxGone => "programs-fault-inbox-gone",
        ProgramFault::WantsReconnecting => "programs-fault-reconnect",
        ProgramFault::KeyRevoked => "programs-fault-key",
        ProgramFault::WebhookGone => "programs-fault-webhook-gone",
        ProgramFault::WebhookDisabled => "programs-fault-webhook-disabled",
        ProgramFault::NoWebhook => "programs-fault-no-webhook",
    };
    text.get(plain)
}

fn delivery(text: Text, fault: &DeliveryFault) -> String {
    let status = match fault {
        DeliveryFault::Status(status) => Some(*status),
        _ => None,
    };
    fault_words(text, fault.kind(), status)
}
