//! `{"number": {…}}`: the state of a number.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::given;
use crate::level::{Level, Throttle};
use crate::phone::PhoneNumber;
use crate::span::Span;
use crate::timers::Action;
use crate::world::World;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberSwitch {
    phone_number_id: String,
    status: Option<String>,
    /// Messages per second, `"level"`, or `"unlimited"` or `null`.
    #[serde(default, deserialize_with = "given")]
    throttle: Option<Throttle>,
    /// Sends are answered with 130429 for this long.
    throttled_for: Option<Span>,
    /// Sends are answered with 131057.
    maintenance: Option<bool>,
    /// Sends are answered with 131057 for this long, as during an upgrade; then the number's level is HIGH
    /// and a webhook reports it.
    upgrade_for: Option<Span>,
    level: Option<Level>,
    is_on_biz_app: Option<bool>,
    /// Fields of the number's node that are shown with these values; `null` shows the simulator's own again.
    /// They are only shown and do not affect sends.
    #[serde(default)]
    fields: Map<String, Value>,
    /// A token that may use the number's account from now on.
    token: Option<String>,
}

/// The number of this id, created now if every id is accepted; or a sentence.
pub(super) fn find(world: &World, id: &str) -> Result<Arc<PhoneNumber>, String> {
    let known = world.directory.read().number(id).cloned();
    known.or_else(|| world.number_on_first_use(id)).ok_or_else(|| format!("there is no number {id}"))
}

impl NumberSwitch {
    pub(super) fn check(&self, world: &World) -> Result<(), String> {
        find(world, &self.phone_number_id).map(|_| ())
    }

    pub(super) fn turn(&self, world: &World) {
        let Ok(number) = find(world, &self.phone_number_id) else { return };
        number.change(|standing| {
            if let Some(status) = &self.status {
                status.clone_into(&mut standing.status);
            }
            standing.throttle = self.throttle.unwrap_or(standing.throttle);
            standing.level = self.level.unwrap_or(standing.level);
            standing.is_on_biz_app = self.is_on_biz_app.unwrap_or(standing.is_on_biz_app);
            standing.is_in_maintenance = self.maintenance.unwrap_or(standing.is_in_maintenance);
            standing.is_in_maintenance |= self.upgrade_for.is_some();
            if let Some(span) = self.throttled_for {
                standing.throttled_until = world.until(span.0);
            }
            for (name, value) in &self.fields {
                if value.is_null() {
                    standing.fields.remove(name);
                } else {
                    standing.fields.insert(name.clone(), value.clone());
                }
            }
        });
        if let Some(span) = self.upgrade_for {
            world.timers.add(span.0, Action::Upgrade(Arc::clone(&number)));
        }
        if let Some(token) = &self.token {
            world.directory.write().grant(token, &number.account.waba_id);
        }
    }
}
