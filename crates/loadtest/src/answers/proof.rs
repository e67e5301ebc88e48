//! Whether each message of a person is in a conversation once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;

use super::AnswersWritten;
use crate::stop::Stop;
use crate::verdict::{Outcome, count, number};
use store::Store;

/// How long missing messages are waited for while none is written.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two looks into the database.
const PAUSE: Duration = Duration::from_millis(500);

/// The messages that people wrote, compared with those in the service's database.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnswerProof {
    /// Messages that people wrote.
    pub written: u64,
    /// Those among them that came twice to the service.
    pub repeated: u64,
    /// Those that are in a conversation.
    pub found: u64,
    /// Those that are in none.
    pub missing: u64,
    /// Those that are in conversations more than once.
    pub doubled: u64,
    /// Messages that people wrote in a second.
    pub per_s: f64,
    /// How long after the end of the test the last of them was in the database, in seconds, to half a second.
    pub waited_s: f64,
}

impl AnswersWritten {
    /// Waits until all messages are in the database, as long as more of them come, and counts them.
    pub(crate) async fn settle(&self, store: &Store, stop: &Stop) -> anyhow::Result<AnswerProof> {
        let begun = Instant::now();
        let (mut moved_at, mut found) = (begun, self.count(store).await?);
        while found.missing > 0 && moved_at.elapsed() < PATIENCE && !stop.is_urgent() {
            tokio::time::sleep(PAUSE).await;
            let now = self.count(store).await?;
            if now.missing < found.missing {
                moved_at = Instant::now();
            }
            found = now;
        }
        Ok(AnswerProof { waited_s: (moved_at - begun).as_secs_f64(), ..found })
    }

    async fn count(&self, store: &Store) -> anyhow::Result<AnswerProof> {
        let mut times: HashMap<String, u32> = HashMap::new();
        for channel in &self.channels {
            let company =
                store.channels().find(*channel).await?.context("a channel of the test is gone")?.company_id;
            for id in store.of(company).conversations().provider_ids(*channel).await? {
                *times.entry(id).or_default() += 1;
            }
        }
        let times: Vec<_> = self.ids.iter().map(|id| times.get(id).copied().unwrap_or_default()).collect();
        let is = |wanted: fn(u32) -> bool| times.iter().filter(|times| wanted(**times)).count() as u64;
        let written = self.ids.len() as u64;
        let lasted = self.lasted.as_secs_f64();
        Ok(AnswerProof {
            written,
            repeated: self.repeated,
            found: is(|times| times > 0),
            missing: is(|times| times == 0),
            doubled: is(|times| times > 1),
            per_s: if lasted > 0.0 { written as f64 / lasted } else { 0.0 },
            waited_s: 0.0,
        })
    }
}

impl AnswerProof {
    /// Whether each is there once.
    pub(crate) fn judge(&self) -> (Outcome, String) {
        let Self { written, repeated, found, missing, doubled, per_s, waited_s: _ } = self;
        let mut answer = format!(
            "{} of {} are in conversations, {per_s:.0} in a second, {} of them told twice",
            number(*found),
            count(*written, "message"),
            number(*repeated)
        );
        for (messages, what) in [(*missing, "are in none"), (*doubled, "are there more than once")] {
            if messages > 0 {
                answer = format!("{answer}; {} {what}", number(messages));
            }
        }
        let outcome = if missing + doubled > 0 || *written == 0 { Outcome::Bad } else { Outcome::Good };
        (outcome, format!("{answer}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_missing_or_doubled_fails_the_test() {
        let good = AnswerProof {
            written: 9,
            repeated: 1,
            found: 9,
            missing: 0,
            doubled: 0,
            per_s: 3.0,
            waited_s: 0.5,
        };
        assert_eq!(good.judge().0, Outcome::Good);
        let missing = AnswerProof { found: 8, missing: 1, ..good }.judge();
        assert!(missing.0 == Outcome::Bad && missing.1.contains("1 are in none"), "{missing:?}");
        assert_eq!(AnswerProof { doubled: 1, ..good }.judge().0, Outcome::Bad);
        assert_eq!(AnswerProof { written: 0, found: 0, ..good }.judge().0, Outcome::Bad);
    }
}
