//! Statements of nodes to PostgreSQL, which may fail, hang, or be carried out without an answer.

use std::time::Duration;

use uuid::Uuid;

use super::NodeEvent;
use crate::ledger::Condition;
use crate::universe::world::{Event, World};
use machines::node::Input;

/// How long the node waits for the result of a renewal, and of any other statement.
const RENEWAL_PATIENCE: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_secs(5);
/// Delay before a statement with an unknown result is repeated.
const PAUSE: Duration = Duration::from_millis(250);

/// A statement.
#[derive(Debug, Clone)]
pub(in crate::universe) enum Statement {
    Renew { began: Duration },
    CloseFence(Uuid),
    ClearUp(Uuid),
    Claim(Vec<Uuid>),
    Release(Vec<Uuid>),
}

impl Statement {
    const fn patience(&self) -> Duration {
        if matches!(self, Self::Renew { .. }) { RENEWAL_PATIENCE } else { PATIENCE }
    }
}

impl World {
    /// The present node asks the database, which takes its time.
    pub(super) fn ask_rows(&mut self, statement: Statement) {
        let Some(life) = self.process.as_ref().map(|process| process.life) else { return };
        let trouble = self.plan.trouble;
        let arrives = !self.is_cut_off() && !self.goes_wrong(trouble.commit_fails);
        let mut wait = Duration::from_micros(self.dice.between(500, 15_000));
        if self.goes_wrong(trouble.commit_hangs) {
            wait += self.dice.time(Duration::from_millis(100), statement.patience());
        }
        let is_heard = arrives && wait < statement.patience() && !self.goes_wrong(trouble.commit_in_doubt);
        if !is_heard {
            // A repeated claim waits for the rows that the earlier one holds.
            let quickly = self.dice.time(Duration::from_millis(5), statement.patience()).max(wait);
            let given_up = if self.is_cut_off() { statement.patience() } else { quickly };
            self.after_for_node(given_up, NodeEvent::HearsNothing(statement.clone()));
        }
        if arrives {
            let event = Box::new(NodeEvent::Does { life, statement, is_heard });
            self.after(wait, Event::Node { life: None, event });
        }
    }

    /// The database carries out a statement, whatever happened to the node.
    pub(super) fn do_statement(&mut self, life: u64, statement: Statement, is_heard: bool) {
        let now = self.clock.elapsed();
        let held = self.database.held_until.saturating_sub(now);
        if !held.is_zero() && matches!(statement, Statement::CloseFence(_)) {
            // It waits for the late write that holds the rows.
            let event = Box::new(NodeEvent::Does { life, statement, is_heard });
            return self.after(held + Duration::from_millis(1), Event::Node { life: None, event });
        }
        let answer = self.answer_of(life, &statement);
        if is_heard {
            let wait = Duration::from_micros(self.dice.between(100, 3_000));
            let event = Box::new(NodeEvent::Hears(Box::new(answer)));
            self.after(wait, Event::Node { life: Some(life), event });
        }
    }

    fn answer_of(&mut self, life: u64, statement: &Statement) -> Input {
        let (now, id, wall) = (self.clock.elapsed(), super::life::node_id(life), self.clock.wall());
        let Some(nodes) = &mut self.nodes else { return Input::NotRenewed };
        match statement {
            Statement::Renew { began } => {
                let began = self.clock.at(*began);
                nodes.rows.renew(id, now).map_or(Input::Fenced, |seen| Input::Renewed { began, seen })
            }
            Statement::CloseFence(node) => {
                let node = *node;
                if let Some((epoch, shards)) = nodes.rows.close(node, false, now) {
                    self.fence_is_closed(epoch, &shards);
                }
                Input::Tried(node)
            }
            Statement::ClearUp(_) if !nodes.rows.is_open(id) => Input::Fenced,
            Statement::ClearUp(node) => {
                self.model.remove_unresolved_by(|send_id| nodes.rows.is_abandoned(send_id));
                self.model.end_left_messages(wall);
                nodes.rows.clear_up(*node);
                Input::Tried(*node)
            }
            Statement::Claim(shards) => {
                nodes.rows.claim(id, shards, now).map_or(Input::Fenced, Input::Claimed)
            }
            Statement::Release(shards) => match nodes.rows.release(id, shards) {
                Some(released) => {
                    self.model.end_left_messages(wall);
                    self.watch_release(life, &released);
                    Input::Released(shards.clone())
                }
                None => Input::Fenced,
            },
        }
    }

    /// The node does not know whether the statement was carried out.
    pub(super) fn hear_nothing(&mut self, statement: Statement) {
        match statement {
            Statement::Renew { .. } => self.feed_node(Input::NotRenewed),
            Statement::CloseFence(node) | Statement::ClearUp(node) => self.feed_node(Input::Tried(node)),
            // Repeated until its result is known.
            Statement::Claim(_) | Statement::Release(_) => self.ask_rows_again(statement),
        }
    }

    fn ask_rows_again(&mut self, statement: Statement) {
        let wait = self.dice.time(PAUSE / 2, PAUSE);
        let Some(life) = self.process.as_ref().map(|process| process.life) else { return };
        if self.is_cut_off() {
            return self.after_for_node(wait, NodeEvent::HearsNothing(statement));
        }
        let event = Box::new(NodeEvent::Does { life, statement, is_heard: true });
        self.after(wait, Event::Node { life: None, event });
    }

    /// The node writes nothing more, and ends.
    pub(super) fn end_fenced(&mut self) {
        if self.process.as_ref().is_some_and(|process| !process.ledger.closed) {
            self.show_condition(Condition::Fenced);
        }
    }
}
