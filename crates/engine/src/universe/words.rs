//! The words for what happens in a world, for people who read its trace.

use std::fmt;

use super::ledger::LedgerEvent;
use super::web::WebEvent;
use super::world::Event;
use crate::channel::machine::{Answered, Attempt, Effect, Input};
use store::ledger::{OutcomeOf, PendingWrites};

/// An effect in words; `None` for an effect without interest.
pub(super) fn effect(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Attempt(Attempt { ticket, generation, .. }) => {
            format!("attempt {} to {:?} by connector {generation}", ticket.key(), ticket.recipient)
        }
        Effect::Write { writes, is_awaited: _ } => format!("write {}", batch(writes)),
        Effect::Fetch(fetch) => format!("fetch {:?}, room {}", fetch.size, fetch.room),
        Effect::ReadStates { question, messages } => format!("read states, {question:?}: {messages:?}"),
        Effect::Publish(connection) => format!("publish {connection:?}"),
        Effect::WakeAt(_) => "set the timer".to_owned(),
        Effect::Reply(caller, answer) => format!("reply to {caller:?}: {answer:?}"),
        Effect::End => "end".to_owned(),
        _ => return None,
    })
}

/// A batch in words.
pub(super) fn batch(batch: &PendingWrites) -> String {
    let sends: Vec<_> = batch.sends.iter().map(|send| format!("{} {:?}", send.id, send.state)).collect();
    let outcomes: Vec<_> = batch
        .outcomes
        .iter()
        .map(|OutcomeOf { send_id, outcome: it, .. }| {
            format!("{send_id}.{} {:?} until {:?}", it.position.ordinal, it.state, it.retry_at)
        })
        .collect();
    let (blocks, receipts) = (batch.blocks.len(), batch.receipts.len());
    format!("{sends:?} {blocks} blocks {receipts} receipts {outcomes:?} {:?}", batch.marks)
}

/// An event of a web session in words.
fn web(event: &WebEvent) -> String {
    match event {
        WebEvent::Does { channel, .. } => {
            format!("channel {channel}: something for its session is done")
        }
        WebEvent::Wakes { channel } => format!("channel {channel}: its session's timer"),
        WebEvent::Step { session, .. } => format!("session {session} goes on"),
        WebEvent::LetIn(_) => "a message of a session is let in".to_owned(),
        WebEvent::HandsOver { send_id } => format!("{send_id} is handed over"),
        WebEvent::NoWord { send_id, .. } => format!("there is no word of {send_id}"),
        WebEvent::TimeOut { send_id } => format!("the client of {send_id} waits no longer"),
        WebEvent::HearAgain { channel, .. } => format!("channel {channel}: receipts are told again"),
        WebEvent::Receipt { send_id, state, .. } => format!("WhatsApp says that {send_id} is {state:?}"),
        WebEvent::Person { channel, action } => format!("channel {channel}: a person: {action:?}"),
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tell { channel, input, .. } => write!(f, "channel {channel}: {}", name(input)),
            Self::Timer { channel, .. } => write!(f, "channel {channel}: timer"),
            Self::Read { channel, .. } => write!(f, "channel {channel}: the store is read"),
            Self::Account { account, input, .. } => write!(f, "account {account}: {input:?}"),
            Self::AccountReads { account, .. } => write!(f, "account {account}: the store is read"),
            Self::CommitApplies { number } => write!(f, "the database ends commit {number}"),
            Self::Ledger { event, .. } => match **event {
                LedgerEvent::Gathered => f.write_str("the ledger has gathered"),
                LedgerEvent::CommitReports => f.write_str("the ledger hears of its commit"),
                LedgerEvent::Settles(_) => f.write_str("the database settles sends in doubt"),
                LedgerEvent::Timer(_) => f.write_str("the ledger's timer"),
                LedgerEvent::GoesOn(_) => f.write_str("a client goes on with its audience"),
            },
            Self::Web { event, .. } => write!(f, "{}", web(event)),
            Self::Webhook { channel, receipt } => {
                write!(f, "channel {channel}: the provider tells that {} is {:?}", receipt.key, receipt.state)
            }
            Self::Wrote(message) => write!(f, "the provider tells of {}", message.provider_id),
            Self::Node { life, event } => match life {
                Some(life) => write!(f, "node {life}: {event}"),
                None => write!(f, "{event}"),
            },
            Self::Person(action) => write!(f, "a person: {action:?}"),
            Self::Changes { .. } => f.write_str("changes are looked for"),
            Self::Expiry { .. } => f.write_str("expired sends are looked for"),
            Self::Overlooked { .. } => f.write_str("overlooked sends are looked for"),
            Self::Ends { .. } => f.write_str("the process that lost the lease ends"),
            Self::Second => f.write_str("a second is over"),
            Self::Restart => f.write_str("the process starts again"),
            Self::Reconnects(channel) => write!(f, "channel {channel} gets a new token"),
            Self::TemplateResumes(id) => write!(f, "template {id} may be sent again"),
            Self::Calm => f.write_str("trouble is over"),
            Self::Look => f.write_str("checks whether all is done"),
        }
    }
}

fn name(input: &Input) -> String {
    match input {
        Input::Started => "started".to_owned(),
        Input::Timer => "timer".to_owned(),
        Input::Accepted { sends, is_late } => {
            let ids: Vec<_> = sends.iter().map(|send| send.id.to_string()).collect();
            format!("accepted {}{}", ids.join(", "), if *is_late { ", late" } else { "" })
        }
        Input::Answered(Answered { ticket, reply, .. }) => format!("answered {}: {reply:?}", ticket.key()),
        Input::Written(result) => format!("written {result:?}"),
        Input::Fetched { size, result } => {
            let found = result
                .as_ref()
                .map(|fetched| fetched.found.iter().map(|found| found.id()).collect::<Vec<_>>());
            format!("fetched {size:?}: {found:?}")
        }
        Input::WaitsRead { send_id, result } => format!("waits of {send_id} read: {}", result.is_ok()),
        Input::RecipientsRead { send_id, from, result } => {
            format!("recipients of {send_id} from {from} read: {}", result.as_ref().map_or(0, Vec::len))
        }
        Input::StatesRead { question, result } => format!("states read, {question:?}: {result:?}"),
        Input::WebActivityRead(_) => "web activity read".to_owned(),
        Input::Connected { generation, result } => format!("connected {generation}: {}", result.is_ok()),
        Input::Probed { health, .. } => format!("probed: {health:?}"),
        Input::ConnectionSaved(saved) => format!("connection saved: {saved:?}"),
        Input::TemplateMarked { template_id, .. } => format!("template {template_id} marked"),
        Input::PermitsGranted(_) => "permits granted".to_owned(),
        Input::Refreshed(channel) => {
            format!("refreshed: {:?}, tier {}", channel.connection.status, channel.tier)
        }
        Input::Released { send_id, over, .. } => format!("released {send_id}, over {over:?}"),
        Input::Admit { .. } => "admit".to_owned(),
        Input::AdmitLookup { .. } => "admit a lookup".to_owned(),
        Input::Look => "look".to_owned(),
        Input::Overlooked { direct, bulk } => format!("overlooked {direct:?} {bulk:?}"),
        Input::ClockWasSet => "the clock was set".to_owned(),
        Input::Account(news) => format!("the account says: {news:?}"),
        Input::TemplatesChanged(changed) => format!("templates changed: {changed:?}"),
        Input::Heard(messages) => format!("heard {messages:?}"),
        Input::Troubled(troubled) => format!("troubled: {:?}", troubled.disposition),
        Input::Recheck => "recheck".to_owned(),
        Input::Stop(_) => "stop".to_owned(),
    }
}
