//! The operations on the model and on the real store, and the model's answers.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::time::Duration;

use uuid::Uuid;

use crate::universe::model::Model;
use crate::universe::model::templates::Listing;
use clock::Timestamp;
use domain::message::{Key, State};
use domain::phone::PhoneNumber;
use domain::send::{Control, Progress};
use store::Error;
use store::ledger::PendingWrites;
use store::sends::{Ready, Size};
use store::suppressions::Subject;

/// When the real store says that it paused a template: it asks the system's clock, which is far ahead of the tests'.
pub(super) const PAUSED_AT: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// The longest that a recipient is held.
pub(super) const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3_600);

/// A business account with its company and channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) company_id: Uuid,
    pub(super) waba_id: &'static str,
    pub(super) channels: [Uuid; 2],
}

const fn account(company: u128, waba_id: &'static str, channels: [u128; 2]) -> Account {
    let [first, second] = channels;
    let channels = [Uuid::from_u128(first), Uuid::from_u128(second)];
    Account { company_id: Uuid::from_u128(company), waba_id, channels }
}

pub(super) const ACCOUNTS: [Account; 2] = [account(1, "waba-1", [11, 12]), account(2, "waba-2", [21, 22])];

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a few thousand of them live at once")]
pub(super) enum Operation {
    Commit {
        batch: PendingWrites,
        now: Timestamp,
    },
    /// Another process takes the lease.
    LoseLease,
    /// This process has the lease again.
    RegainLease,
    Control {
        company_id: Uuid,
        send_id: Uuid,
        control: Control,
    },
    Cancel {
        company_id: Uuid,
        send_id: Uuid,
        now: Timestamp,
    },
    Reschedule {
        company_id: Uuid,
        send_id: Uuid,
        start: Timestamp,
        now: Timestamp,
    },
    Expire {
        now: Timestamp,
        limit: u32,
    },
    PutOffUnknown {
        until: Timestamp,
    },
    EndLeft {
        now: Timestamp,
    },
    ClockWentBack {
        now: Timestamp,
    },
    Settle {
        sends: Vec<Uuid>,
        now: Timestamp,
    },
    RemoveUnresolved,
    PauseTemplate {
        id: i64,
    },
    ChangeTemplate {
        account: Account,
        id: i64,
        name: String,
        status: Option<&'static str>,
        category: Option<&'static str>,
        said_at: Timestamp,
    },
    ListTemplates {
        account: Account,
        listed: Vec<Listing>,
        as_of: Timestamp,
    },
    Read(Read),
}

#[derive(Debug, Clone)]
pub(super) enum Read {
    Unfinished { channel: Uuid, size: Size, ready: Ready, limit: usize },
    UnfinishedAmong(Vec<Uuid>),
    Waiting { send_id: Uuid, horizon: Timestamp, limit: usize },
    States { send_id: Uuid, ordinals: Vec<u64> },
    RecipientsOf { company_id: Uuid, keys: Vec<Key> },
    Recorded { send_id: Uuid, progress: Progress },
    Block { send_id: Uuid, ordinal: u64 },
    NextDue { channel: Uuid, now: Timestamp },
    WaitingTemplates { channel: Uuid, size: Size, now: Timestamp, after: Uuid, limit: usize },
    TemplateRecipients { account: Account, since: Timestamp, now: Timestamp },
    WebAttempts { channel: Uuid, since: Timestamp },
    SendOfStamp { channel: Uuid, send_id: Uuid },
    Suppressions { now: Timestamp },
    SuppressionsAmong { subjects: Vec<Subject>, now: Timestamp },
}

/// Things without a promised order, as sorted text.
pub(super) fn sorted<T: Debug>(things: impl IntoIterator<Item = T>) -> String {
    let mut things: Vec<_> = things.into_iter().map(|thing| format!("{thing:?}")).collect();
    things.sort_unstable();
    things.join("; ")
}

/// The time in a send's id, and its end.
pub(super) fn stamp(send_id: Uuid) -> (u64, [u8; 3]) {
    let [.., one, two, three] = *send_id.as_bytes();
    ((send_id.as_u128() >> 80) as u64, [one, two, three])
}

/// The kind of an error, which callers act on.
pub(super) fn kind(error: &Error) -> String {
    match error {
        Error::Taken(_) => "taken".to_owned(),
        Error::Missing(_) => "missing".to_owned(),
        Error::Fenced => "fenced".to_owned(),
        Error::Impossible(_) => "impossible".to_owned(),
        other => format!("{other}"),
    }
}

pub(super) fn ask_model(
    model: &mut Model,
    epoch: &mut u64,
    operation: &Operation,
    numbers: &HashMap<(String, String), i64>,
) -> String {
    let done = || "done".to_owned();
    match operation {
        Operation::Commit { batch, now } => match model.commit(*epoch, batch, *now) {
            Ok(found) => {
                format!("{} {} {:?}", sorted(found.gone), sorted(found.overtaken), found.ignored)
            }
            Err(error) => kind(&error),
        },
        Operation::LoseLease => {
            model.take_lease();
            done()
        }
        Operation::RegainLease => {
            *epoch = model.take_lease();
            done()
        }
        Operation::Control { company_id, send_id, control } => {
            format!("{:?}", model.control_send(*company_id, *send_id, *control))
        }
        Operation::Cancel { company_id, send_id, now } => {
            format!("{:?}", model.cancel_send(*company_id, *send_id, *now))
        }
        Operation::Reschedule { company_id, send_id, start, now } => {
            format!("{:?}", model.reschedule_send(*company_id, *send_id, *start, *now))
        }
        Operation::Expire { now, limit } => {
            format!("{:?}", model.expire_sends(*now, usize::try_from(*limit).unwrap()))
        }
        Operation::PutOffUnknown { until } => model.put_off_unknown(*until).to_string(),
        Operation::EndLeft { now } => model.end_left_messages(*now).to_string(),
        Operation::ClockWentBack { now } => model.clock_went_back(*now, LONGEST_HOLD).to_string(),
        Operation::Settle { sends, now } => sorted(model.settle(sends, *now)),
        Operation::RemoveUnresolved => match model.remove_unresolved(*epoch) {
            Ok(removed) => removed.to_string(),
            Err(error) => kind(&error),
        },
        Operation::PauseTemplate { id } => {
            model.pause_template(*id, PAUSED_AT);
            done()
        }
        Operation::ChangeTemplate { id, status, category, said_at, .. } => {
            model.change_template(*id, *status, *category, *said_at);
            done()
        }
        Operation::ListTemplates { account, listed, as_of } => {
            let number = |name: &str| numbers[&(account.waba_id.to_owned(), name.to_owned())];
            model.list_templates(account.waba_id, listed, *as_of, number);
            done()
        }
        Operation::Read(read) => read_model(model, read),
    }
}

fn read_model(model: &Model, read: &Read) -> String {
    match read {
        Read::Unfinished { channel, size, ready, limit } => {
            format!("{:?}", model.unfinished(*channel, *size, *ready, *limit))
        }
        Read::UnfinishedAmong(sends) => format!("{:?}", model.unfinished_among(sends)),
        Read::Waiting { send_id, horizon, limit } => {
            format!("{:?}", model.waiting(*send_id, *horizon, *limit))
        }
        Read::States { send_id, ordinals } => sorted(model.message_states(*send_id, ordinals)),
        Read::RecipientsOf { company_id, keys } => sorted(model.recipients_of(*company_id, keys)),
        Read::Recorded { send_id, progress } => format!("{:?}", model.recorded(*send_id, *progress)),
        Read::Block { send_id, ordinal } => match model.block_at(*send_id, *ordinal) {
            Ok(block) => format!("{block:?}"),
            Err(error) => kind(&error),
        },
        Read::NextDue { channel, now } => format!("{:?}", model.next_due_send(*channel, *now)),
        Read::WaitingTemplates { channel, size, now, after, limit } => {
            format!("{:?}", model.waiting_templates(*channel, *size, *now, *after, *limit))
        }
        Read::TemplateRecipients { account, since, now } => {
            sorted(model.template_recipients(&account.channels, (*since, *now)))
        }
        Read::WebAttempts { channel, since } => format!("{:?}", model.web_attempts_since(*channel, *since)),
        Read::SendOfStamp { channel, send_id } => {
            let (millis, tail) = stamp(*send_id);
            format!("{:?}", model.send_of_stamp(*channel, millis, tail))
        }
        Read::Suppressions { now } => sorted(model.suppressions(*now)),
        Read::SuppressionsAmong { subjects, now } => sorted(model.suppressions_among(subjects, *now)),
    }
}

/// The cases that the operations of a test must meet; otherwise the comparison covers less than it seems to.
pub(super) const EXPECTED: &[&str] = &[
    "taken",
    "missing",
    "fenced",
    "gone",
    "overtaken",
    "receipt of no send",
    "receipt of no attempt",
    "canceled",
    "moved",
    "expired",
    "put off",
    "ended",
    "clock moved rows",
    "accepted after doubt",
    "unresolved removed",
    "unfinished",
    "unfinished among",
    "waiting",
    "waiting later",
    "states",
    "recipients",
    "recorded",
    "block",
    "no block",
    "due",
    "waiting templates",
    "template recipients",
    "web attempts",
    "send of a stamp",
    "suppressions",
    "suppressions among",
];

/// Notes the cases that an operation met.
pub(super) fn note(operation: &Operation, answer: &str, met: &mut BTreeSet<&'static str>) {
    let mut note = |what, is_met: bool| {
        if is_met {
            met.insert(what);
        }
    };
    let is_some = !matches!(answer, "" | "[]" | "0" | "None");
    match operation {
        Operation::Commit { .. } => {
            note("taken", answer == "taken");
            note("missing", answer == "missing");
            note("fenced", answer == "fenced");
            note("overtaken", answer.contains("Key"));
            note("gone", answer.contains('-') && !answer.starts_with(' '));
            note(
                "receipt of no send",
                answer.contains("unknown_send") && !answer.contains("unknown_send: 0"),
            );
            note("receipt of no attempt", answer.contains("attempted") && !answer.contains("attempted: 0"));
        }
        Operation::Cancel { .. } => note("canceled", answer.contains("Canceled")),
        Operation::Reschedule { .. } => note("moved", answer.contains("Done")),
        Operation::Expire { .. } => note("expired", is_some),
        Operation::PutOffUnknown { .. } => note("put off", is_some),
        Operation::EndLeft { .. } => note("ended", is_some),
        Operation::ClockWentBack { .. } => note("clock moved rows", is_some),
        Operation::Settle { .. } => note("accepted after doubt", is_some),
        Operation::RemoveUnresolved => note("unresolved removed", is_some && answer != "fenced"),
        Operation::Read(read) => {
            let what = match read {
                Read::Unfinished { .. } => "unfinished",
                Read::UnfinishedAmong(_) => "unfinished among",
                Read::Waiting { .. } => {
                    note("waiting later", answer.contains("later_due: Some"));
                    note("waiting", answer.contains("Position"));
                    return;
                }
                Read::States { .. } => "states",
                Read::RecipientsOf { .. } => "recipients",
                Read::Recorded { .. } => "recorded",
                Read::Block { .. } if answer == "impossible" => "no block",
                Read::Block { .. } => "block",
                Read::NextDue { .. } => "due",
                Read::WaitingTemplates { .. } => "waiting templates",
                Read::TemplateRecipients { .. } => "template recipients",
                Read::WebAttempts { .. } => "web attempts",
                Read::SendOfStamp { .. } => "send of a stamp",
                Read::Suppressions { .. } => "suppressions",
                Read::SuppressionsAmong { .. } => "suppressions among",
            };
            note(what, is_some);
        }
        Operation::LoseLease
        | Operation::RegainLease
        | Operation::Control { .. }
        | Operation::PauseTemplate { .. }
        | Operation::ChangeTemplate { .. }
        | Operation::ListTemplates { .. } => {}
    }
}

impl Model {
    /// The states of these messages of a send that have a row.
    fn message_states(&self, send_id: Uuid, ordinals: &[u64]) -> HashMap<u64, State> {
        let rows = ordinals
            .iter()
            .filter_map(|ordinal| Some((*ordinal, self.message(Key { send_id, ordinal: *ordinal })?.state)));
        rows.collect()
    }

    /// The recipients' numbers of these messages of a company that have a row.
    fn recipients_of(&self, company_id: Uuid, keys: &[Key]) -> HashMap<Key, PhoneNumber> {
        let rows = keys.iter().filter_map(|key| Some((*key, self.message(*key)?)));
        let own = rows.filter(|(_, row)| row.company_id == company_id);
        own.filter_map(|(key, row)| Some((key, row.recipient?))).collect()
    }
}
