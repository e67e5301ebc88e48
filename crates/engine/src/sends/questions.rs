//! What only the owner of a channel knows of its sends: its limits, its pace and the outlook of what it dispatches.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::asking::{Question, Within};
use crate::channel::{AskPace, LookAhead, Viewed};
use crate::{Engine, Error, RETRY_AFTER};
use domain::channel::{Channel, Level};
use domain::error::{Code, Refusal};
use domain::limit::Limits;
use domain::outlook::Outlook;

/// The most sends that are asked about at once, unless a page of the API may have more.
const PAGE: u64 = 1_000;

/// The limits of the channel now.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskLimits {}

#[async_trait(?Send)]
impl Question for AskLimits {
    const NAME: &'static str = "limits";
    type Answer = Limits;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Limits, Error> {
        engine.channels().limits(channel).await
    }
}

/// The outlook of these sends.
#[derive(Serialize, Deserialize)]
pub(crate) struct Glance {
    pub(crate) sends: Vec<Viewed>,
}

#[async_trait(?Send)]
impl Question for Glance {
    const NAME: &'static str = "outlook";
    const WITHIN: Within = Within::Glance;
    type Answer = HashMap<Uuid, Outlook>;

    /// The sends of one page.
    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        let most = limits.page_size.max(PAGE);
        if self.sends.len() as u64 > most {
            return Err(Refusal::new(Code::InvalidField, format!("more than {most} sends")));
        }
        Ok(())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Self::Answer, Error> {
        Ok(engine.directory().ask(channel.id, LookAhead(self.sends)).await.unwrap_or_default())
    }
}

/// The pace of the channel.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskSpeed {}

/// The factors of a channel's pace beside its tier.
#[derive(Serialize, Deserialize)]
pub(crate) struct Speed {
    pub(crate) level: Option<Level>,
    pub(crate) slowed_to: Option<f64>,
}

#[async_trait(?Send)]
impl Question for AskSpeed {
    const NAME: &'static str = "speed";
    const WITHIN: Within = Within::Glance;
    type Answer = Speed;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Speed, Error> {
        engine.directory().actor(channel);
        let pace = engine.directory().ask(channel.id, AskPace).await;
        let pace = pace.ok_or(Error::Unavailable { retry_after: RETRY_AFTER })?;
        Ok(Speed { level: pace.level, slowed_to: pace.slowed_to })
    }
}
