//! The selection of the sends that a list shows.

use std::time::Duration;

use sea_orm::Value;
use uuid::Uuid;

use crate::contacts::folded;
use crate::retention::first_id_at;
use clock::Timestamp;
use domain::fold::like_anywhere;
use domain::send::{Control, Source, Stage, State};

/// The condition of a company's unfinished sends, for which there is an index. Its first parameter is the company.
pub(in crate::sends) const ALIVE: &str =
    "channel_id IN (SELECT id FROM channel WHERE company_id = $1) AND state < 2";

/// A send gets its id at most this long before it is written: its commit may have waited for the database, and its
/// audience may be large.
const LATEST_COMMIT: Duration = Duration::from_secs(60 * 60);

/// Which sends to list. Everything that is `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The stage of the sends.
    pub stage: Option<Stage>,
    /// Which channel sends them.
    pub channel_id: Option<Uuid>,
    /// The source of their audience.
    pub source: Option<Source>,
    /// The caller's reference.
    pub reference: Option<String>,
    /// A part of the given name; case and accents do not count.
    pub search: Option<String>,
    /// Accepted at this moment or later.
    pub from: Option<Timestamp>,
    /// Accepted before this moment.
    pub to: Option<Timestamp>,
}

impl Filter {
    /// Whether every send matches.
    pub(super) fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The condition as SQL, and its parameters, of which the first is the company.
    pub(in crate::sends) fn condition(&self, company_id: Uuid, now: Timestamp) -> (String, Vec<Value>) {
        let mut values: Vec<Value> = vec![company_id.into()];
        let alive = |control: Control| {
            format!("{ALIVE} AND state = {} AND control = {}", State::Active.as_i16(), control.as_i16())
        };
        let over = |state: State| format!("company_id = $1 AND state = {}", state.as_i16());
        let condition = match self.stage {
            None => format!("company_id = $1 AND state > {}", State::Resolving.as_i16()),
            Some(Stage::Scheduled) => {
                values.push(now.millis().into());
                format!("{} AND send_at > $2", alive(Control::Running))
            }
            Some(Stage::Active) => {
                values.push(now.millis().into());
                format!("{} AND (send_at IS NULL OR send_at <= $2)", alive(Control::Running))
            }
            Some(Stage::Paused) => alive(Control::Paused),
            Some(Stage::Finished) => over(State::Finished),
            Some(Stage::Canceled) => over(State::Canceled),
            Some(Stage::Expired) => over(State::Expired),
        };
        self.narrow(condition, values)
    }

    /// The first and the last id that a send of the filter's time can have.
    pub(in crate::sends) fn ids(&self) -> (Option<Uuid>, Option<Uuid>) {
        (self.from.map(|from| first_id_at(from.minus(LATEST_COMMIT))), self.to.map(first_id_at))
    }

    /// This condition, narrowed by everything but the stage, and its parameters.
    pub(in crate::sends) fn narrow(
        &self,
        mut condition: String,
        mut values: Vec<Value>,
    ) -> (String, Vec<Value>) {
        let Self { stage: _, channel_id, source, ref reference, ref search, from, to } = *self;
        let mut parameter = |value: Value| {
            values.push(value);
            values.len()
        };
        if let Some(channel_id) = channel_id {
            condition += &format!(" AND channel_id = ${}", parameter(channel_id.into()));
        }
        if let Some(source) = source {
            let id = parameter(source.id().into());
            let kind = source.kind();
            condition += &format!(
                " AND id IN (SELECT send_id FROM send_source WHERE source_id = ${id} AND kind = {kind})"
            );
        }
        if let Some(reference) = reference {
            condition += &format!(" AND reference = ${}", parameter(reference.as_str().into()));
        }
        if let Some(text) = folded(search.as_deref()) {
            let pattern = parameter(like_anywhere(&text).into());
            condition += &format!(
                " AND given_name_folded IS NOT NULL AND given_name_folded LIKE ${pattern} ESCAPE '\\'"
            );
        }
        // Ids rise with time and are in an index; where an id is not precise enough, the row is examined.
        if let Some(from) = from {
            let earliest = parameter(first_id_at(from.minus(LATEST_COMMIT)).into());
            let (first, at) = (parameter(first_id_at(from).into()), parameter(from.millis().into()));
            condition += &format!(" AND id >= ${earliest} AND (id >= ${first} OR created_at >= ${at})");
        }
        if let Some(to) = to {
            let (end, at) = (parameter(first_id_at(to).into()), parameter(to.millis().into()));
            let sure = parameter(first_id_at(to.minus(LATEST_COMMIT)).into());
            condition += &format!(" AND id < ${end} AND (id < ${sure} OR created_at < ${at})");
        }
        (condition, values)
    }
}
