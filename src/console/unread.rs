//! The number of conversations with something unread, which the navigation of every page shows.

use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use super::State;
use super::error::Result;
use super::visitor::Person;

/// The most that are counted: the navigation shows one more as "99+".
pub(super) const MOST: u64 = 100;
/// How old the number may be.
pub(super) const AGE: Duration = Duration::from_secs(3);
/// How long a page waits for it. A later page shows it.
const PATIENCE: Duration = Duration::from_millis(30);

/// The number for a person who has chosen a company; `None` when it is not known in time.
pub(super) async fn of(state: &State, person: &Person) -> Option<u64> {
    let company = person.company.as_ref()?.id;
    timeout(PATIENCE, count(state, company, None, AGE)).await.ok()?.ok()
}

/// The number, not older than `age`: of the conversations of a user and those of nobody, or of all without a user.
pub(super) async fn count(state: &State, company: Uuid, user: Option<Uuid>, age: Duration) -> Result<u64> {
    let key = format!("unread {company} {}", user.unwrap_or_default());
    let read = state
        .shared
        .get(key, age, async || Ok(state.engine.conversations(company).count_unread(user, MOST).await?));
    Ok(*read.await?)
}

/// The number as people read it.
pub(super) fn shown(unread: u64) -> String {
    if unread >= MOST { format!("{}+", MOST - 1) } else { unread.to_string() }
}
