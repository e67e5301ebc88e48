//! `{"template": {…}}`: the status of a template, and its pacing.

use std::sync::Arc;

use serde::Deserialize;

use super::account;
use crate::account::Account;
use crate::pacing::{Fate, Pace};
use crate::world::World;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateSwitch {
    waba_id: String,
    name: String,
    language: String,
    /// `APPROVED`, `PAUSED`, `DISABLED` and so on; a webhook reports it.
    status: Option<String>,
    /// Holds messages after the first ones.
    pacing: Option<Pace>,
    /// Ends the pacing now.
    end_pacing: Option<Fate>,
}

impl TemplateSwitch {
    /// The account and the template's id, or a sentence.
    fn find(&self, world: &World) -> Result<(Arc<Account>, u64), String> {
        let account = account::find(world, &self.waba_id)?;
        let found = account.catalogue.read().find(&self.name, &self.language).map(|stored| stored.id);
        let id =
            found.ok_or_else(|| format!("the account has no template {} in this language", self.name))?;
        Ok((account, id))
    }

    pub(super) fn check(&self, world: &World) -> Result<(), String> {
        self.find(world).map(|_| ())
    }

    pub(super) fn turn(&self, world: &World) {
        let Ok((account, id)) = self.find(world) else { return };
        if let Some(status) = &self.status {
            world.set_template_status(&account, id, status);
        }
        if let Some(pace) = self.pacing {
            world.pacings.begin(id, pace);
        }
        if let Some(fate) = self.end_pacing {
            world.end_pacing(&account, id, fate);
        }
    }
}
