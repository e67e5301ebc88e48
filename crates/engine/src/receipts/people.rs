//! What webhooks say about the names of people: which numbers are one person, and whose number an id stands for.
//!
//! Pairs of numbers are noticed here and written once a second. A statement of a person whose number is not known waits
//! in the store, and is applied when a webhook names both.

use std::collections::HashMap;

use uuid::Uuid;

use super::sorted::Names;
use super::{Error, opt_outs};
use crate::ledger::Hear;
use crate::notices::share_suppressions;
use crate::receipts::Webhooks;
use connectors::update::{Heard, Update};
use domain::message::Key;
use domain::phone::PhoneNumber;
use store::suppressions::Word;

/// The people of one query, and the pairs of numbers of one write.
const AT_ONCE: usize = 500;

impl Webhooks<'_> {
    /// Gives receipts without our key the key of the message, if the provider accepted it lately under this id.
    pub(super) fn name_messages(&self, heard: &mut [Heard]) {
        for heard in heard {
            if let Update::Receipt(receipt) = &mut heard.update
                && receipt.key.is_none()
            {
                receipt.key = self.engine.0.shared.message_ids.get(receipt.provider_message_id.as_str());
            }
        }
    }

    /// Takes in the names of people that a webhook says, once its receipts are written.
    pub(super) async fn take_in_names(&self, company_id: Uuid, names: Names) -> Result<(), Error> {
        let Names { known_as, recipients, writers } = names;
        let people = &self.engine.0.shared.people;
        // People write for themselves, and few do: their ids are kept. Of recipients, the last ones are remembered.
        let is_news = |(user, number): &&(String, PhoneNumber)| !people.is_kept(company_id, user, *number);
        let news: Vec<_> = writers.iter().filter(is_news).cloned().collect();
        for news in news.chunks(AT_ONCE) {
            self.engine.store().of(company_id).persons().keep_users(news).await?;
            news.iter().for_each(|(user, number)| people.meet(company_id, user, *number, true));
        }
        recipients.iter().for_each(|(user, number)| people.meet(company_id, user, *number, false));
        for met in [writers, recipients] {
            let awaited = people.awaited(company_id, &met);
            self.apply_statements(company_id, awaited).await?;
        }
        self.learn_from_receipts(company_id, known_as).await
    }

    /// Notices the recipients whose numbers the provider names otherwise. The store is asked only about people of whom
    /// no answer and no receipt came lately.
    async fn learn_from_receipts(
        &self,
        company_id: Uuid,
        known_as: Vec<(Key, PhoneNumber)>,
    ) -> Result<(), Error> {
        let people = &self.engine.0.shared.people;
        let unconfirmed =
            known_as.into_iter().filter(|(_, known_as)| !people.is_confirmed(company_id, *known_as));
        let unconfirmed: Vec<_> = unconfirmed.collect();
        for some in unconfirmed.chunks(AT_ONCE) {
            let keys: Vec<_> = some.iter().map(|(key, _)| *key).collect();
            let written_to = self.engine.store().of(company_id).sends().recipients_of(&keys).await?;
            for (key, known_as) in some {
                if let Some(number) = written_to.get(key) {
                    people.notice(company_id, *number, *known_as);
                }
            }
        }
        Ok(())
    }

    /// Applies the waiting statements of people whose numbers are known now.
    async fn apply_statements(&self, company_id: Uuid, met: Vec<(String, PhoneNumber)>) -> Result<(), Error> {
        if met.is_empty() {
            return Ok(());
        }
        // First, so that a statement that is kept meanwhile waits again.
        self.engine.0.shared.people.no_longer_wait(company_id, &met);
        let applied = self.apply_statements_of(company_id, &met).await;
        if applied.is_err() {
            self.engine.0.shared.people.wait_for(company_id, met.into_iter().map(|(user, _)| user));
        }
        applied
    }

    async fn apply_statements_of(
        &self,
        company_id: Uuid,
        met: &[(String, PhoneNumber)],
    ) -> Result<(), Error> {
        for met in met.chunks(opt_outs::AT_ONCE) {
            let numbers: HashMap<_, _> = met.iter().map(|(user, number)| (user.as_str(), *number)).collect();
            let statements =
                self.engine.store().of(company_id).persons().statements_of(numbers.keys().copied()).await?;
            let word = |statement: &store::persons::users::Statement| {
                let recipient = *numbers.get(statement.user_id.as_str())?;
                let (scope, said_at, says) = (statement.scope, statement.said_at, statement.says);
                Some(Word { company_id, recipient, scope, said_at, says })
            };
            let words = statements.iter().filter_map(word).collect();
            let words = self.engine.0.shared.people.words_of_people(words);
            // A person makes few kinds of statements.
            for words in words.chunks(opt_outs::AT_ONCE) {
                let hear = Hear { suppressions: words.to_vec(), ..Hear::default() };
                self.write_some(hear, false).await?;
                self.engine.0.shared.suppressions.look_up(self.engine.store(), words).await?;
                share_suppressions(&self.engine.0.shared, words).await?;
            }
            self.engine.store().of(company_id).persons().remove_statements(&statements).await?;
        }
        Ok(())
    }

    /// Writes the pairs of numbers that were noticed since the last call, and applies statements whose people were met
    /// on this node.
    pub(crate) async fn learn_people(&self) -> Result<(), Error> {
        let people = &self.engine.0.shared.people;
        let mut pairs = HashMap::<Uuid, Vec<_>>::new();
        for (company, number, known_as) in people.take_noticed() {
            pairs.entry(company).or_default().push((number, known_as));
        }
        // Every node reads the numbers and suppressions again, because their revision is another.
        let mut learned = 0;
        for (company, pairs) in pairs {
            for some in pairs.chunks(AT_ONCE) {
                match self.engine.store().of(company).persons().learn_numbers(some).await {
                    Ok(news) => learned += news,
                    Err(error) => {
                        // They are noticed again with the next messages to these people, and now.
                        some.iter().for_each(|(number, known_as)| people.notice(company, *number, *known_as));
                        return Err(error.into());
                    }
                }
            }
        }
        if learned > 0 {
            tracing::info!(
                pairs = learned,
                "the provider knows recipients under other numbers than were written to"
            );
        }
        for (company, met) in people.met_since() {
            self.apply_statements(company, met).await?;
        }
        Ok(())
    }
}
