//! What a page tells a person before they check a send: how many people it reaches, and whether a file can be fetched.

use std::sync::Arc;

use uuid::Uuid;

use super::plan::{Forecast, Outcome, Planned, PlannedInstead};
use super::web_send::DryRunFile;
use super::{of_own_segments, of_own_tags};
use crate::handover::link;
use crate::{Error, Sends};
use domain::channel::Channel;
use domain::content::Content;
use domain::error::Refusal;
use domain::request::Audience;

impl Sends<'_> {
    /// Counts an audience as a dry run does, without a message and whether or not the channel can send now.
    /// `is_marketing` as in [`Planned`]; `instead` is the same of the template for people whose window is closed, if there is one.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a tag to leave out that the company does not have.
    pub async fn reach(
        self,
        channel: &Arc<Channel>,
        audience: Audience,
        is_marketing: Option<bool>,
        instead: Option<bool>,
    ) -> Result<Outcome, Error> {
        let audience = of_own_tags(self.engine.store(), channel.company_id, audience).await?;
        let audience = of_own_segments(self.engine.store(), channel.company_id, audience).await?;
        let instead = instead.map(PlannedInstead::of_category);
        let planned = Planned { instead, ..Planned::new(channel, audience, is_marketing) };
        Ok(self.engine.resolver().send(Forecast(planned)).await??)
    }

    /// Fetches the file behind the link of a content, as for a message through a web session, and returns what it is;
    /// `None` for a content without a link.
    ///
    /// # Errors
    ///
    /// `invalid_link`, `link_not_allowed`, `media_unavailable`, `media_too_large`; `service_unavailable` while too many
    /// other files are fetched.
    pub async fn look_at_file(
        self,
        company_id: Uuid,
        content: &Content,
    ) -> Result<Option<DryRunFile>, Refusal> {
        let Some((link, kind)) = link(content) else { return Ok(None) };
        let file = self.engine.0.shared.media.fetch(company_id, link, kind).await?;
        Ok(Some(DryRunFile::new(kind, &file, content)))
    }
}
