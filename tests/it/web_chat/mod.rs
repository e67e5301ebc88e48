//! A company's web sessions: the whole service over HTTP with the real driver, connected to a WhatsApp of the
//! test's own.

mod contacts;
mod conversations;
mod dry_runs;
mod examples;
mod fair;
mod files;
mod graph;
mod killed;
mod limits;
mod linking;
mod links;
mod message_types;
mod number_checks;
mod opt_outs;
mod passkey;
mod refused;
mod repeated;
mod restricted;
mod samples;
mod side_by_side;
mod states;
mod texts;
mod waiting;
pub(crate) mod world;

/// The number of the account that most tests link to.
const OWN: &str = "5511900000001";
/// The number of another account.
const OTHER: &str = "5531966665555";
const MARIA: &str = "5511988887777";
const JOAO: &str = "5521977776666";
const GROUP: &str = "120363000000000001";
