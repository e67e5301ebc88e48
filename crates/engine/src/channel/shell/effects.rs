//! Carries out the effects of the machine.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix::prelude::*;

use super::connector::{Connector, Prepared};
use super::{Shell, tasks};
use crate::channel::machine::{Answered, Attempt, Effect, Effects, Input, Rendered};
use crate::ledger::Record;
use crate::shared::Shared;
use crate::traces;
use connectors::Reply;
use domain::channel::Kind;
use domain::message::Failure;
use telemetry::trace;

impl Shell {
    /// Carries out effects, in their order.
    pub(super) fn carry_out(&mut self, effects: &mut Effects, ctx: &mut Context<Self>) {
        for effect in effects.drain() {
            self.do_one(effect, ctx);
        }
    }

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn do_one(&mut self, effect: Effect, ctx: &mut Context<Self>) {
        let id = self.machine.channel().id;
        match effect {
            Effect::Attempt(attempt) if matches!(attempt.rendered, Rendered::Personal(_)) => {
                self.attempt_personal(attempt, ctx);
            }
            Effect::Attempt(attempt) => self.hand_over(attempt),
            Effect::Write { writes, is_awaited } => {
                bring(ctx, tasks::write(self.shared(), Record { writes, is_awaited }));
            }
            Effect::Fetch(fetch) => {
                let kind = self.machine.channel().kind;
                bring(ctx, tasks::fetch(self.shared(), id, kind, *fetch));
            }
            Effect::ReadWaits(send_id) => bring(ctx, tasks::read_waits(self.shared(), send_id)),
            Effect::ReadRecipients { send_id, from } => {
                bring(ctx, tasks::read_recipients(self.shared(), send_id, from));
            }
            Effect::ReadStates { question, messages } => {
                bring(ctx, tasks::read_states(self.shared(), id, question, messages));
            }
            Effect::ReadWebActivity { since } => {
                bring(ctx, tasks::read_web_activity(self.shared(), id, since));
            }
            Effect::LookUp(said) => {
                ctx.spawn(tasks::look_up(self.shared(), id, said).into_actor(self));
            }
            Effect::Connect { generation } => self.connect(generation, ctx),
            Effect::Probe { generation, turn } => {
                if let Some(Connector::CloudApi(connector)) = &self.connector {
                    bring(ctx, tasks::probe(Rc::clone(connector), generation, turn));
                }
            }
            Effect::SaveConnection(saving) => bring(ctx, tasks::save_connection(self.shared(), id, *saving)),
            Effect::Publish(connection) => self.gate.publish(&connection),
            Effect::SaveNumber(number) => self.descriptions.save(&self.shared, id, number),
            Effect::PauseTemplate(template_id) => {
                bring(ctx, tasks::pause_template(self.shared(), template_id));
            }
            Effect::AwaitPermits(turn) => {
                bring(ctx, async move { Input::PermitsGranted(turn.come().await) });
            }
            Effect::WakeAt(at) => self.wake_at(at, ctx),
            Effect::Reply(caller, answer) => {
                if let Some(tell) = self.callers.remove(&caller) {
                    // The caller may have gone.
                    let _ = tell.send(answer);
                }
            }
            Effect::Note(figure) => self.figures.note(figure),
            Effect::End => {
                self.callers.clear();
                ctx.stop();
            }
        }
    }

    /// Starts an attempt. Its answer comes through a queue, which costs less than a task of the actor for each.
    pub(super) fn hand_over(&self, attempt: Attempt) {
        let Attempt { ticket, generation, started, .. } = attempt;
        let prepared = Prepared::new(self.connector.as_ref(), attempt, &self.shared.media);
        let answers = self.answers.clone();
        let begun = trace::begin_message(ticket.send_id, ticket.ordinal);
        let cluster = self.shared.cluster.clone();
        actix::spawn(async move {
            // Checked right before the message is sent: the successor of a node whose lease lapsed relies on that.
            let reply = if cluster.may_begin() {
                prepared.send().await
            } else {
                let sentence = "this node may not send: its lease is not renewed".to_owned();
                Reply::NotSent(Failure { code: None, sentence })
            };
            traces::attempted(begun, (ticket.send_id, ticket.ordinal), ticket.attempts, &reply);
            // The actor is gone only when nothing can be written any more.
            let _ = answers.unbounded_send(Box::new(Answered { ticket, generation, reply, started }));
        });
    }

    /// Creates a connector; for a web session at once.
    fn connect(&mut self, generation: u64, ctx: &mut Context<Self>) {
        let channel = Arc::clone(self.machine.channel());
        self.generation = generation;
        if channel.kind == Kind::WebSession {
            self.connector = Some(Connector::WebSession(Rc::new(self.shared.web_channel(&channel))));
            return;
        }
        self.connector = None;
        tasks::connect(self.shared(), channel, self.connections.clone(), generation)
            .into_actor(self)
            .map(move |(connector, input), shell, ctx| {
                if let Some(connector) = connector.filter(|_| shell.generation == generation) {
                    shell.connector = Some(Connector::CloudApi(Rc::new(connector)));
                }
                shell.feed(input, ctx);
            })
            .spawn(ctx);
    }

    /// Sets the machine's one timer.
    fn wake_at(&mut self, at: Instant, ctx: &mut Context<Self>) {
        let timer = ctx.run_later(at.saturating_duration_since(Instant::now()), |shell, ctx| {
            shell.timer = None;
            shell.feed(Input::Timer, ctx);
        });
        if let Some(earlier) = self.timer.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }
}

/// Runs a task beside the actor; its result is an input.
fn bring(ctx: &mut Context<Shell>, task: impl Future<Output = Input> + 'static) {
    ctx.spawn(
        actix::fut::wrap_future::<_, Shell>(task).map(|input, shell: &mut Shell, ctx| shell.feed(input, ctx)),
    );
}
