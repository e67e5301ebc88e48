//! The rounds of the sentinel: changes, expiry, overlooked work, and a wall clock that was set.

use std::sync::Arc;
use std::time::Duration;

use super::life::{CHANGES, EXPIRY, LONGEST_HOLD, WORK};
use super::model::{Listing, TemplateRow};
use super::world::{Event, Phase, World};
use crate::channel::machine::Input;
use domain::send::State;
use store::sends::{Ready, Size};

/// How long after the end of trouble rounds come as often as in the engine, and how many times less often they come
/// later.
const OFTEN: Duration = Duration::from_secs(300);
const SELDOM: u32 = 40;

impl World {
    /// Takes up changes by other processes and by people.
    pub(super) fn take_up_changes(&mut self) {
        self.next_round(CHANGES, |life| Event::Changes { life });
        self.take_up_clock();
        self.look_at_sends();
        let Some(process) = &mut self.process else { return };
        let changed: Vec<_> = process
            .channels
            .iter_mut()
            .zip(&self.channels)
            .enumerate()
            .filter(|(_, (running, record))| running.revision < record.revision)
            .map(|(channel, (running, record))| {
                running.revision = record.revision;
                if running.machine.is_none() {
                    // The record has the results of another node.
                    running.shown = record.connection.clone();
                }
                (channel, Arc::new(record.clone()))
            })
            .collect();
        if changed.is_empty() {
            return;
        }
        let tiers = self.plan.tiers.iter();
        let tiers = tiers.filter_map(|tier| Some((tier.name.clone(), serde_json::to_string(tier).ok()?)));
        process.common.tiers.replace(tiers.collect::<Vec<_>>());
        for (channel, record) in changed {
            self.watch.retuned(channel, &self.plan, &record.tier, self.clock.elapsed());
            self.inform(channel, Input::Refreshed(record));
        }
    }

    /// Takes up that the wall clock was set since the last round.
    fn take_up_clock(&mut self) {
        let now = self.clock.now();
        let Some(process) = &mut self.process else { return };
        let set_by = std::mem::take(&mut process.clock_set);
        if set_by == 0 {
            return;
        }
        let wall = self.clock.wall();
        if set_by < 0 {
            self.model.clock_went_back(wall, LONGEST_HOLD);
            process.common.accounts.clock_went_back(now);
        }
        for channel in 0..self.channels.len() {
            self.inform(channel, Input::ClockWasSet);
        }
    }

    /// Ends expired sends, wherever they wait.
    pub(super) fn expire(&mut self) {
        self.next_round(EXPIRY, |life| Event::Expiry { life });
        if !self.keeps_house() {
            return;
        }
        for (send_id, channel_id) in self.model.expire_sends(self.clock.wall(), 500) {
            if let Some(channel) = self.channel_of(channel_id) {
                self.release(channel, send_id, Some(State::Expired));
            }
        }
    }

    /// Tells channels of the oldest sends that may go.
    pub(super) fn report_overlooked(&mut self) {
        self.next_round(WORK, |life| Event::Overlooked { life });
        let ready = Ready { now: self.clock.wall(), templates: true };
        for channel in 0..self.channels.len() {
            let oldest = |size| {
                let id = self.channels[channel].id;
                self.model.unfinished(id, size, ready, 1).first().map(|send| send.id)
            };
            let (direct, bulk) = (oldest(Size::Direct), oldest(Size::Bulk));
            if direct.or(bulk).is_some() {
                self.inform(channel, Input::Overlooked { direct, bulk });
            }
        }
    }

    fn next_round(&mut self, wait: Duration, event: impl Fn(u64) -> Event) {
        let Some(process) = &self.process else { return };
        let life = process.life;
        let wait = match self.phase {
            Phase::Troubled => wait,
            Phase::Calm(since) if self.clock.elapsed() < since + OFTEN => wait,
            // Messages that wait for a day then need no frequent rounds.
            Phase::Calm(_) | Phase::Quiet(_) | Phase::Over => wait * SELDOM,
        };
        self.after(wait, event(life));
    }

    /// The templates of all accounts are listed: those that the provider lets through are approved.
    pub(super) fn list_templates(&mut self) {
        let mut accounts: Vec<_> =
            self.plan.templates.iter().map(|template| template.waba_id.clone()).collect();
        accounts.dedup();
        for waba_id in accounts {
            let of_account: Vec<_> =
                self.plan.templates.iter().filter(|template| template.waba_id == waba_id).cloned().collect();
            let listed: Vec<_> = of_account
                .iter()
                .map(|template| {
                    let is_paused = self.provider.paused_templates().contains(&template.id);
                    let status = if is_paused { "PAUSED" } else { "APPROVED" };
                    let category = if template.is_marketing { "MARKETING" } else { "UTILITY" };
                    let (status, category) = (status.to_owned(), category.to_owned());
                    Listing { name: template.name.clone(), status, category }
                })
                .collect();
            let number =
                |name: &str| of_account.iter().find(|template| template.name == name).map_or(0, |it| it.id);
            let may_go = |world: &Self| {
                let is_approved = |id: i64| world.model.template(id).is_some_and(TemplateRow::is_approved);
                of_account.iter().map(|template| (template.id, is_approved(template.id))).collect::<Vec<_>>()
            };
            let before = may_go(self);
            self.model.list_templates(&waba_id, &listed, self.clock.wall(), number);
            // Channels are told only of changes.
            let changed: Vec<_> = may_go(self).into_iter().filter(|now| !before.contains(now)).collect();
            for channel in 0..self.channels.len() {
                let is_of_account = self.channels[channel].waba_id.as_ref() == Some(&waba_id);
                if is_of_account && self.processes().next().is_some() && !changed.is_empty() {
                    self.inform_runner(channel, Input::TemplatesChanged(changed.clone()));
                }
            }
        }
    }

    /// The provider approves a template again, and reports it.
    pub(super) fn resume_template(&mut self, id: i64) {
        self.provider.resume_template(id);
        self.list_templates();
    }
}
