//! The settings of a webhook endpoint as arguments of commands.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;

use super::failure::Misused;
use super::secret_input;
use super::session::Session;
use crate::domain::webhook::{Shape, WebhookProfile, types_of};
use crate::engine::EndpointChange;
use crate::store::companies::Company;

/// The settings of an endpoint besides its address.
#[derive(Debug, Args)]
pub(super) struct EndpointArguments {
    /// The form of what it gets: pombo for events, unless set; graph for Meta's webhooks
    #[arg(long, value_name = "SHAPE")]
    shape: Option<Shape>,
    /// What its receiver understands, in the shape graph: meta for everything, unless set; strict or chatwoot
    #[arg(long, value_name = "PROFILE")]
    profile: Option<WebhookProfile>,
    /// The types of events that it gets, such as message.failed,send.*; without them, those that need a reaction
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,
    /// Only events of these channels, with commas between them: names, or ids
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    channels: Vec<String>,
    /// The file with headers of its requests, one on each line, such as `authorization: Bearer …`; - reads standard input
    #[arg(long, value_name = "FILE")]
    headers_file: Option<PathBuf>,
    /// The most requests at the same time, from 1 to 4; 2 unless set
    #[arg(long, value_name = "NUMBER")]
    max_in_flight: Option<u8>,
    /// The most events in one request, up to 100; 1 unless set
    #[arg(long, value_name = "NUMBER")]
    batch: Option<u8>,
    /// Whether the numbers of people are masked; --mask-numbers=false shows them again
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    mask_numbers: Option<bool>,
}

impl EndpointArguments {
    /// The settings that are given, for an endpoint of this company.
    pub(super) async fn read(self, session: &Session, company: &Company) -> anyhow::Result<EndpointChange> {
        let Self { shape, profile, types, channels, headers_file, max_in_flight, batch, mask_numbers } = self;
        let types =
            types_of(types.iter().map(String::as_str)).map_err(|refusal| Misused(refusal.sentence))?;
        let mut ids = Vec::with_capacity(channels.len());
        for named in channels {
            let channel = session.channel(&named).await?;
            if channel.company_id != company.id {
                return Err(anyhow!("the channel `{}` is not one of {}", channel.name, company.name));
            }
            ids.push(channel.id);
        }
        Ok(EndpointChange {
            url: None,
            shape,
            profile,
            types: Some(types).filter(|types| !types.is_empty()),
            channels: Some(ids).filter(|ids| !ids.is_empty()),
            headers: headers_file.as_deref().map(secret_input::read_headers).transpose()?,
            max_in_flight,
            batch,
            masks_numbers: mask_numbers,
        })
    }
}
