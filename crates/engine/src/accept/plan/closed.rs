//! The template that goes to people whose window is closed, in plans.

use std::sync::Arc;

use crate::{Engine, Error};
use domain::channel::Channel;
use domain::content::Content;
use domain::plan::{Course, Estimate};
use domain::price::ByCountry;
use domain::template::contact_field::ContactField;

/// The template that goes to people whose window is closed.
#[derive(Debug, Clone)]
pub struct PlannedInstead {
    /// Whether it is marketing, which recipients may opt out of.
    pub is_marketing: bool,
    /// Contact fields without a fallback text.
    pub needed_fields: Vec<ContactField>,
    /// The content, of a send with values.
    pub content: Option<Content>,
}

impl PlannedInstead {
    /// A template of which nothing is known but whether it is marketing.
    pub(in crate::accept) const fn of_category(is_marketing: bool) -> Self {
        Self { is_marketing, needed_fields: Vec::new(), content: None }
    }
}

/// What is planned for the people whose window is closed.
#[derive(Debug, Clone)]
pub struct ClosedPart {
    /// How many they are, and the limits ahead of their template.
    pub course: Course,
    /// By country.
    pub countries: ByCountry,
}

/// How long a send takes on its channel together with the template of others, who are none of its recipients, and which limit
/// decides. The two sends take turns.
pub(in crate::accept) async fn estimate_both(
    engine: &Engine,
    channel: &Arc<Channel>,
    main: Course,
    closed: Option<Course>,
) -> Result<Estimate, Error> {
    let closed = closed.filter(|closed| closed.recipients > 0);
    let Some(closed) = closed else { return engine.sends().estimate(channel, main).await };
    if main.recipients == 0 {
        return engine.sends().estimate(channel, closed).await;
    }
    let (main, closed) = (main.clone().beside(&closed), closed.beside(&main));
    let (main, closed) =
        (engine.sends().estimate(channel, main).await?, engine.sends().estimate(channel, closed).await?);
    Ok(if closed.takes >= main.takes { closed } else { main })
}
