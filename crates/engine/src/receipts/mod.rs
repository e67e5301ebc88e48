//! Receipts and the provider's other webhooks: stored, then passed to the channels concerned.
//!
//! Not an actor: it owns nothing. Rows go to the ledger, which commits them with everything else; notices go to the
//! channels' actors. Everything may come twice and in any order: a repetition changes nothing.

mod family;
mod notices;
mod opt_outs;
mod part;
mod people;
mod sorted;
mod spoken;
pub(super) mod webhook;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use self::family::{Family, Whom};
use self::notices::{Notice, Of};
pub(super) use self::opt_outs::Intake;
use self::part::Part;
use self::sorted::Sorted;
use super::channel::{Input, Troubled};
use super::ledger::Hear;
use super::notices::{Told, share_suppressions};
use super::{Engine, Error};
use crate::health::Health;
use clock::Timestamp;
use connectors::Disposition;
use connectors::update::{Heard, TemplateChange};
use domain::automatic::AnswerRules;
use domain::channel::Channel;
use domain::opt_out::OptOutWords;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use domain::template::Status;
use store::Store;
use store::templates::Said;
use vault::Vault;

/// A webhook with at most this many updates is sorted on its own thread; a larger one is sorted where it holds up no
/// other request.
const SORTED_IN_PLACE: usize = 1_000;
/// The number of sends in one query.
const SENDS_AT_ONCE: usize = 1_000;

/// Webhooks of the provider: their secrets, and what they report.
#[derive(Clone, Copy)]
pub struct Webhooks<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Webhooks of the provider: their secrets, and what they report.
    pub const fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { engine: self }
    }
}

impl Webhooks<'_> {
    /// The secret with which the provider signs webhooks to this channel's address; `None` when the channel has none.
    pub async fn app_secret(&self, channel: &Channel) -> Result<Option<Arc<Secret>>, Error> {
        Ok(self.engine.0.app_secrets.find(self.secrets(), channel).await?)
    }

    /// The verify token, which the provider sends when this channel's address is registered; `None` while nobody
    /// requested one.
    pub async fn verify_token(&self, channel: &Channel) -> Result<Option<Arc<Secret>>, Error> {
        Ok(self.engine.0.verify_tokens.find(self.secrets(), channel).await?)
    }

    /// The means to read sealed secrets.
    fn secrets(&self) -> (&Store, &Vault, &Health) {
        let shared = &self.engine.0.shared;
        (&shared.store, &shared.vault, &shared.health)
    }

    /// Takes in a webhook at this channel's address: everything that has to last is durable when this returns. Parts
    /// about other channels of the same company reach those; parts about other companies are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now: the provider repeats it.
    pub async fn hear(&self, channel: &Arc<Channel>, mut heard: Vec<Heard>) -> Result<(), Error> {
        let family = Arc::new(self.family(channel, &heard).await?);
        self.name_messages(&mut heard);
        let rules = self.rules_for(channel.company_id, &heard).await?;
        let sorted = sort(&family, rules.words.clone(), heard).await?;
        self.keep(channel.company_id, sorted.parts, &rules).await?;
        self.take_in_names(channel.company_id, sorted.names).await?;
        self.engine.store().event_log().tell_said(channel.company_id, sorted.said).await?;
        sorted.counts.record();
        for (channel_id, messages) in sorted.told {
            self.engine.owners().tell_heard(channel_id, messages).await?;
        }
        self.notify(&family, &sorted.notices).await?;
        self.hold_templates(&family, &sorted.held_templates.into_iter().collect::<Vec<_>>()).await?;
        for whom in sorted.relisted {
            self.want_templates(family.channel(whom)).await?;
        }
        self.change_templates(&family, sorted.templates).await
    }

    /// The channels that the webhook may be about; the store is asked only if that may be more than the channel itself.
    async fn family(&self, channel: &Arc<Channel>, heard: &[Heard]) -> Result<Family, Error> {
        let mut others = Vec::new();
        if Family::is_needed(channel, heard) {
            others = self.engine.store().of(channel.company_id).channels().business_accounts().await?;
        }
        let others = others.into_iter().filter(|other| other.id != channel.id).map(Arc::new);
        Ok(Family::new(Arc::clone(channel), others))
    }

    /// Writes what has to last, one part after the other, so that other writes can go in between.
    async fn keep(&self, company_id: Uuid, parts: Vec<Part>, rules: &AnswerRules) -> Result<(), Error> {
        let words = parts.iter().map(|part| part.refused.len()).sum();
        let is_large = parts.len() > 1 || words > opt_outs::AT_ONCE;
        let mut waiting = self.engine.0.intake.enter(words)?;
        for part in parts {
            let words = part.refused.len();
            self.keep_part(company_id, part, rules, is_large).await?;
            waiting.written(words);
        }
        Ok(())
    }

    async fn keep_part(
        &self,
        company_id: Uuid,
        part: Part,
        rules: &AnswerRules,
        is_large: bool,
    ) -> Result<(), Error> {
        let words = self.words_in(company_id, &part).await?;
        let Part { receipts, refused: _, heard } = part;
        let shared = &self.engine.0.shared;
        let inbound = shared.rows_of_heard(company_id, heard, rules, Timestamp::now()).await?;
        let (mut hear, mut said) = (Hear { receipts, inbound, ..Hear::default() }, 0);
        let mut written = Ok(());
        while written.is_ok() && (said < words.len() || !hear.is_empty()) {
            let some = &words[said..words.len().min(said + opt_outs::AT_ONCE)];
            hear.suppressions = some.to_vec();
            hear.is_paced = is_large;
            written = self.write_some(std::mem::take(&mut hear), is_large).await;
            said += if written.is_ok() { some.len() } else { 0 };
        }
        let said = &words[..said];
        // The statement may be older than a known one: the store has the one that counts.
        self.engine.0.shared.suppressions.look_up(self.engine.store(), said).await?;
        share_suppressions(&self.engine.0.shared, said).await?;
        written
    }

    /// Writes what one commit takes of a webhook.
    async fn write_some(&self, hear: Hear, is_large: bool) -> Result<(), Error> {
        let (intake, words) = (&self.engine.0.intake, hear.suppressions.len());
        let _turn = if is_large { Some(intake.turn().await) } else { None };
        let began = Instant::now();
        intake.write(words, self.engine.0.shared.ledger.send(hear)).await??;
        if is_large && words > 0 {
            opt_outs::rest(began, self.engine.store()).await;
        }
        Ok(())
    }

    /// Holds the templates of these sends, which the provider holds back.
    async fn hold_templates(&self, family: &Family, sends: &[(Uuid, Timestamp)]) -> Result<(), Error> {
        let company_id = family.own().company_id;
        let mut held = HashMap::<i64, Timestamp>::new();
        for sends in sends.chunks(SENDS_AT_ONCE) {
            let ids: Vec<_> = sends.iter().map(|(send_id, _)| *send_id).collect();
            let of_send = self.engine.store().of(company_id).templates().of_sends(&ids).await?;
            for (template, at) in sends.iter().filter_map(|(id, at)| Some((*of_send.get(id)?, *at))) {
                let last = held.entry(template).or_insert(at);
                *last = at.max(*last);
            }
        }
        for (template, said_at) in held {
            let Some(template) = self.engine.store().of(company_id).templates().find(template).await? else {
                continue;
            };
            // Until the provider says otherwise.
            let said = Said { status: Some(Status::Paused.as_str()), ..Said::default() };
            let (waba_id, name, language) = (&template.waba_id, &template.name, &template.language);
            if self
                .engine
                .store()
                .of(company_id)
                .templates()
                .change(waba_id, name, language, said, said_at)
                .await?
            {
                tracing::warn!(
                    template.id = template.id,
                    template = name,
                    "the provider holds a template back"
                );
                self.want_templates(family.own()).await?;
            }
        }
        Ok(())
    }

    /// Writes changes of templates.
    async fn change_templates(
        &self,
        family: &Family,
        templates: Vec<((Whom, String, String), TemplateChange, Timestamp)>,
    ) -> Result<(), Error> {
        for ((whom, name, language), change, said_at) in templates {
            let channel = family.channel(whom);
            let Some(account) = &channel.waba_id else { continue };
            let company_id = channel.company_id;
            let (name, language) = (name.as_str(), language.as_str());
            let said = match &change {
                TemplateChange::Status { status, title } => {
                    Said { status: Some(status.as_str()), reason: title.as_deref(), ..Said::default() }
                }
                TemplateChange::Quality(score) => Said { quality_score: Some(score), ..Said::default() },
                TemplateChange::Category(category) => {
                    Said { category: Some(category.as_str()), ..Said::default() }
                }
            };
            if self
                .engine
                .store()
                .of(company_id)
                .templates()
                .change(account, name, language, said, said_at)
                .await?
            {
                tracing::info!(channel.id = %channel.id, channel.name = %channel.name, template = name, language, ?change, "a template changed");
            } else if self
                .engine
                .store()
                .of(company_id)
                .templates()
                .named(account, name, language)
                .await?
                .is_none()
            {
                self.want_templates(channel).await?;
            }
        }
        Ok(())
    }

    /// Requests a listing of the account's templates.
    async fn want_templates(&self, channel: &Arc<Channel>) -> Result<(), Error> {
        if self.engine.owners().tell(channel, &Told::Templates).await?.is_none() {
            // The channel's actor says whether templates can be listed through it.
            self.engine.directory().wake(channel);
            self.engine.list_templates_soon(channel);
        }
        Ok(())
    }

    /// Whether the owner of the channel is another node; if so, tells it.
    async fn is_told(&self, channel: &Arc<Channel>, told: &Told) -> Result<bool, Error> {
        Ok(self.engine.owners().tell(channel, told).await?.is_some())
    }

    /// Passes the notices to their channels.
    async fn notify(&self, family: &Family, notices: &[(Whom, Notice)]) -> Result<(), Error> {
        for (whom, notice) in notices {
            for channel in family.channels(*whom) {
                let directory = self.engine.directory();
                let taken_at = self.taken_at(channel, notice).await?;
                match notice {
                    // A failure before a person reconnected the channel says nothing about the channel now.
                    Notice::Trouble { disposition, failure, at, .. }
                        if disposition.refusal(failure).is_some() && *at < channel.connection.since => {}
                    Notice::Recheck(numbers) if !numbers.may_be(shown(channel)) => {}
                    Notice::Trouble { disposition, failure, of, .. }
                        if self
                            .is_told(
                                channel,
                                &Told::troubled(*disposition, failure, of.is_message(), taken_at),
                            )
                            .await? => {}
                    Notice::Recheck(_) if self.is_told(channel, &Told::Recheck).await? => {}
                    Notice::Trouble { disposition, failure, at: _, of } => {
                        directory.wake(channel);
                        let (disposition, failure) = (*disposition, failure.clone());
                        let is_of_message = of.is_message();
                        let troubled = Troubled { disposition, failure, is_of_message, taken_at };
                        directory.ask(channel.id, Input::Troubled(troubled)).await;
                    }
                    Notice::Recheck(_) => {
                        directory.wake(channel);
                        directory.ask(channel.id, Input::Recheck).await;
                    }
                }
            }
        }
        Ok(())
    }

    /// When the provider took the message that met this trouble, where that decides: a number that sends too fast.
    async fn taken_at(&self, channel: &Channel, notice: &Notice) -> Result<Option<Timestamp>, Error> {
        match notice {
            Notice::Trouble { disposition: Disposition::SlowNumber, of: Of::Message(Some(key)), .. } => {
                Ok(self.engine.store().of(channel.company_id).sends().taken_at(*key).await?)
            }
            _ => Ok(None),
        }
    }
}

/// Sorts a webhook; a large one on a thread that serves no requests.
async fn sort(family: &Arc<Family>, words: OptOutWords, heard: Vec<Heard>) -> Result<Sorted, Error> {
    let now = Timestamp::now();
    if heard.len() <= SORTED_IN_PLACE {
        return Ok(Sorted::new(family, &words, heard, now));
    }
    let family = Arc::clone(family);
    tokio::task::spawn_blocking(move || Sorted::new(&family, &words, heard, now)).await.map_err(|error| {
        tracing::error!(%error, "sorting a webhook was interrupted");
        Error::Internal
    })
}

/// The channel's phone number.
fn shown(channel: &Channel) -> Option<PhoneNumber> {
    channel.phone_number.as_deref().and_then(|number| PhoneNumber::parse(number).ok())
}

#[cfg(test)]
mod tests;
