//! Takes what the log tells into threads, and writes mails from those that are due.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tokio::time::timeout;
use uuid::Uuid;

use crate::Engine;
use crate::machine::alert;
use clock::Timestamp;
use domain::alert::{AlertItem, AlertThread};
use domain::event::log::{Fact, Sequence};
use store::Store;
use store::alerts::{AlertListener, MOST_MAILS, NewMail, ThreadKey};
use store::event_log::Reader;

/// How often threads that are due are looked for, and whether this node does the housekeeping.
const LOOK: Duration = Duration::from_secs(1);
/// How often the place in the log is written while nothing happens that people are told of.
const WRITE: Duration = Duration::from_secs(30);
/// How often threads that are no longer needed are removed, and how long they are kept.
const TIDY: Duration = Duration::from_secs(60 * 60);
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The most subjects of a mail.
const MOST_ITEMS: usize = 30;

pub(super) struct Collector {
    engine: Engine,
    /// How far the log was read, and how far the store knows that; `None` if another node may have read it since.
    place: Option<(Sequence, Sequence)>,
    written: Instant,
    tidied: Option<Instant>,
    /// Whether it was logged that alerts cannot be read.
    is_failing: bool,
}

/// The mail of one person before it is written.
struct MailDraft {
    user_id: Uuid,
    items: Vec<AlertItem>,
    more: u64,
}

impl Collector {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, place: None, written: Instant::now(), tidied: None, is_failing: false }
    }

    /// Reads what is new, writes the mails that are due, and waits for more. Returns the pause before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        if !self.engine.alert_mails().are_sent_here() {
            self.place = None;
            return LOOK;
        }
        let mut through = self.engine.0.tail.through();
        let block = *through.borrow_and_update();
        match self.work(block).await {
            Ok(()) => self.is_failing = false,
            Err(error) => {
                self.place = None;
                if std::mem::replace(&mut self.is_failing, true) {
                    tracing::debug!(%error, "alerts still cannot be read");
                } else {
                    tracing::warn!(%error, "alerts cannot be read, people are told later");
                }
                return LOOK;
            }
        }
        let _ = timeout(LOOK, through.changed()).await;
        Duration::ZERO
    }

    async fn work(&mut self, through: i64) -> store::Result<()> {
        self.collect(through).await?;
        let (store, now) = (self.engine.store(), Timestamp::now());
        tell(store, now).await?;
        if self.tidied.is_none_or(|last| last.elapsed() >= TIDY) {
            store.alerts().forget(now.minus(KEPT)).await?;
            // The log forgets readers that are not used.
            let stored = self.place.map(|(_, stored)| stored);
            store.event_log().register_at(Reader::Alerts, stored, now).await?;
            self.tidied = Some(Instant::now());
        }
        Ok(())
    }

    /// Takes what is new in the log into its threads.
    async fn collect(&mut self, through: i64) -> store::Result<()> {
        let store = self.engine.store();
        loop {
            let now = Timestamp::now();
            let (read, stored) = match self.place {
                Some(place) => place,
                None => {
                    let place = store.event_log().register(Reader::Alerts, now).await?;
                    (place, place)
                }
            };
            let page = store.alerts().facts((read, through)).await?;
            let next = page.next.max(read);
            let threads = heard(store, page.facts, now).await?;
            let is_due = next > stored && self.written.elapsed() >= WRITE;
            if threads.is_empty() && !is_due {
                self.place = Some((next, stored));
            } else if store.alerts().heard(stored, next, &threads).await? {
                self.place = Some((next, next));
                self.written = Instant::now();
            } else {
                // Another process did it, or the reader was forgotten: begin with what is stored.
                self.place = None;
                return Ok(());
            }
            if !page.more {
                return Ok(());
            }
        }
    }
}

/// The threads that these facts of companies change.
async fn heard(store: &Store, facts: Vec<(Uuid, Fact)>, now: Timestamp) -> store::Result<Vec<AlertThread>> {
    let key = |company: Uuid, fact: &Fact| -> Option<ThreadKey> {
        fact.alert().map(|(kind, _)| (company, kind, fact.alert_subject()))
    };
    let mut keys: Vec<_> = facts.iter().filter_map(|(company, fact)| key(*company, fact)).collect();
    keys.sort_unstable_by_key(|(company, kind, subject)| (*company, kind.as_str(), *subject));
    keys.dedup();
    let stored = store.alerts().threads(&keys).await?;
    let stored = stored.into_iter().map(|thread| ((thread.company_id, thread.kind, thread.subject), thread));
    let mut threads: HashMap<ThreadKey, AlertThread> = stored.collect();
    let mut changed = HashSet::new();
    for (company, fact) in facts {
        let Some((kind, turn)) = fact.alert() else { continue };
        let key = (company, kind, fact.alert_subject());
        let thread = threads.entry(key).or_insert_with(|| AlertThread::new(company, kind, key.2));
        if alert::hear(thread, fact, turn, now) {
            changed.insert(key);
        }
    }
    // In one order, so that two processes that write the same ones do not wait for each other.
    Ok(keys.iter().filter(|key| changed.contains(*key)).filter_map(|key| threads.remove(key)).collect())
}

/// Writes mails with what is due, a company at a time.
async fn tell(store: &Store, now: Timestamp) -> store::Result<()> {
    let alerts = store.alerts();
    for (company, last) in alerts.due_companies(now).await? {
        if !alert::may_tell(last, now) {
            continue;
        }
        let (waiting, _) = alerts.waiting().await?;
        if waiting >= MOST_MAILS {
            return Ok(());
        }
        let mut threads = alerts.due(company, now).await?;
        let items: Vec<_> = threads.iter().filter_map(AlertThread::item).collect();
        let listeners = store.of(company).alerts().listeners().await?;
        let drafts: Vec<_> = listeners.iter().filter_map(|listener| draft(listener, &items)).collect();
        let mails = drafts.iter().map(|draft| NewMail {
            user_id: draft.user_id,
            company_id: company,
            items: &draft.items,
            more: draft.more,
        });
        let mails: Vec<_> = mails.collect();
        threads.iter_mut().for_each(|thread| alert::told(thread, now));
        alerts.tell(&threads, &mails, now).await?;
    }
    Ok(())
}

/// What a person is told of these; `None` if it is nothing.
fn draft(listener: &AlertListener, items: &[AlertItem]) -> Option<MailDraft> {
    let is_wanted = |item: &&AlertItem| listener.kinds.iter().any(|kind| kind.as_str() == item.kind);
    let mut items: Vec<_> = items.iter().filter(is_wanted).cloned().collect();
    let more = items.len().saturating_sub(MOST_ITEMS) as u64;
    items.truncate(MOST_ITEMS);
    (!items.is_empty()).then_some(MailDraft { user_id: listener.user_id, items, more })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::alert::AlertKind;

    #[test]
    fn a_mail_has_what_its_recipient_wants_and_counts_what_has_no_room() {
        let item = |kind: AlertKind| AlertItem {
            kind: kind.as_str().to_owned(),
            count: 1,
            since: Timestamp::from_millis(0),
            facts: Vec::new(),
        };
        let listener = |kinds: &[AlertKind]| AlertListener {
            user_id: Uuid::from_u128(1),
            email: String::new(),
            name: String::new(),
            language: None,
            time_zone: None,
            kinds: kinds.to_vec(),
        };
        let mut items = vec![item(AlertKind::Send)];
        items.extend((0..MOST_ITEMS + 7).map(|_| item(AlertKind::Channel)));
        assert!(draft(&listener(&[AlertKind::Key]), &items).is_none());
        let one = draft(&listener(&[AlertKind::Send]), &items).unwrap();
        assert_eq!((one.items.len(), one.more), (1, 0));
        let all = draft(&listener(&[AlertKind::Channel]), &items).unwrap();
        assert_eq!((all.items.len(), all.more), (MOST_ITEMS, 7));
    }
}
