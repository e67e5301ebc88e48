//! What people say with opt-out words, to business accounts and to web sessions.

use uuid::Uuid;

use super::part::{Part, Refused};
use super::sorted::{Names, said_at};
use super::{Error, Webhooks};
use crate::conversations::HeardMessage;
use clock::Timestamp;
use connectors::update::{Heard, Update};
use domain::automatic::AnswerRules;
use domain::inbound::{Direction, InboundMessage};
use domain::opt_out::{LONGEST_TEXT, OptOutWords, Said};
use domain::suppression::{Source, Suppression};
use store::suppressions::{Kept, Says, Word};

/// What a message says with a word that stops messages, or one that takes that back.
pub(super) fn statements(
    message: &InboundMessage,
    words: &OptOutWords,
    now: Timestamp,
) -> impl Iterator<Item = Refused> + use<> {
    // What a person says to a group is no word to the company.
    let text = message.text().filter(|text| text.len() <= LONGEST_TEXT && message.peer.group.is_none());
    let (says, scopes): (Says, &'static [Suppression]) =
        match (text.and_then(|text| words.meaning(text)), words.scope) {
            (None, _) => (Says::Resume, &[]),
            // What was stopped before the company changed what a word stops comes back too.
            (Some(Said::Start), _) => (Says::StartWord, &Suppression::ALL),
            (Some(Said::Stop), Some(Suppression::Marketing)) => (Says::StopWord, &[Suppression::Marketing]),
            (Some(Said::Stop), _) => (Says::StopWord, &[Suppression::Everything]),
        };
    let (recipient, user) = (message.peer.number, message.peer.user_id.clone());
    let said_at = said_at(message.at, now);
    scopes.iter().map(move |scope| {
        let (scope, user) = (*scope, user.clone());
        Refused { key: None, recipient, user, scope, said_at, says }
    })
}

impl Webhooks<'_> {
    /// What the company does with what people write. The store is asked only for webhooks with messages of people.
    pub(super) async fn rules_for(&self, company_id: Uuid, heard: &[Heard]) -> Result<AnswerRules, Error> {
        let is_of_person = |heard: &Heard| {
            let Update::Inbound(message) = &heard.update else { return false };
            message.direction == Direction::In && !message.is_past
        };
        if heard.iter().any(is_of_person) {
            return Ok(self.engine.store().of(company_id).automatic().rules().await?);
        }
        Ok(AnswerRules::default())
    }

    /// The statements of a part about the company's recipients. Those of people whose numbers are not known are kept until
    /// they are.
    pub(super) async fn words_in(&self, company_id: Uuid, part: &Part) -> Result<Vec<Word>, Error> {
        let written_to = self.engine.store().of(company_id).sends().recipients_of(&part.keys()).await?;
        let numbers = self.engine.0.shared.numbers_of_users(company_id, part.users()).await?;
        let number_of = |user: &str| numbers.get(user).copied();
        let people = &self.engine.0.shared.people;
        let words = part.words(company_id, |key| written_to.get(&key).copied(), number_of);
        let unnamed = part.statements(number_of);
        if !unnamed.is_empty() {
            self.engine.store().of(company_id).persons().keep_statements(&unnamed).await?;
            people.wait_for(company_id, unnamed.into_iter().map(|statement| statement.user_id));
        }
        let mut words = people.words_of_people(words);
        words.extend(self.words_of_moved(company_id, &part.heard).await?);
        Ok(words)
    }

    /// Who stopped messages to a number has stopped them to the number that takes its place, too.
    async fn words_of_moved(&self, company_id: Uuid, heard: &[HeardMessage]) -> Result<Vec<Word>, Error> {
        let now = Timestamp::now();
        let moved = heard.iter().filter_map(|heard| Some((heard.moved()?, said_at(heard.message.at, now))));
        let moved: Vec<_> = moved.collect();
        if moved.is_empty() {
            return Ok(Vec::new());
        }
        let people = &self.engine.0.shared.people;
        let former: Vec<_> =
            moved.iter().flat_map(|((_, former), _)| people.forms(company_id, *former)).collect();
        let kept = self.engine.store().of(company_id).suppressions().among(&former, now).await?;
        let mut words = Vec::new();
        for ((number, former), said_at) in moved {
            let (recipient, former) = (people.person(company_id, number), people.person(company_id, former));
            let own = kept.iter().filter(|kept| people.person(company_id, kept.record.recipient) == former);
            words.extend(own.map(|Kept { record, source, .. }| {
                let provider_code = record.provider_code;
                let says = match (record.until, source) {
                    (Some(until), _) => Says::Hold { until, provider_code },
                    (None, Some(Source::Message)) => Says::StopWord,
                    (None, _) => Says::Stop { provider_code },
                };
                Word { company_id, recipient, scope: record.scope, said_at, says }
            }));
        }
        Ok(words)
    }

    /// The statements in messages to a web session, for the commit of the messages.
    pub(crate) async fn words_of_session(
        &self,
        company_id: Uuid,
        heard: &[HeardMessage],
        words: &OptOutWords,
    ) -> Result<Vec<Word>, Error> {
        let now = Timestamp::now();
        let refused: Vec<_> = heard.iter().flat_map(|heard| statements(&heard.message, words, now)).collect();
        if refused.is_empty() {
            return Ok(Vec::new());
        }
        self.words_in(company_id, &Part { refused, ..Part::default() }).await
    }

    /// Takes in the names of the people who wrote to a web session, once their messages are written.
    pub(crate) async fn meet_writers(&self, company_id: Uuid, heard: &[HeardMessage]) -> Result<(), Error> {
        let own = heard.iter().map(|heard| &heard.message.peer).filter(|peer| peer.group.is_none());
        let writers = own.filter_map(|peer| peer.user_id.clone().zip(peer.number)).collect();
        self.take_in_names(company_id, Names { writers, ..Names::default() }).await
    }
}
