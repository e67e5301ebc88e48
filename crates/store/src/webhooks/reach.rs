//! Which channels and accounts the endpoints of the shape `graph` hear of: those of a company depend on each other.

use std::collections::{HashMap, HashSet};

use entity::channel;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use uuid::Uuid;

use super::EndpointRecord;
use crate::Result;
use crate::nouns::AllWebhooks;
use domain::webhook::{GraphReach, InAccount, SetFor, Shape};

impl AllWebhooks<'_> {
    /// Reads the reach of those of all enabled endpoints that have the shape `graph`.
    pub(super) async fn reach(self, records: &mut [EndpointRecord]) -> Result<()> {
        let graph = records.iter().filter(|record| record.endpoint.settings.shape == Shape::Graph);
        let companies: HashSet<Uuid> = graph.map(|record| record.endpoint.company_id).collect();
        if companies.is_empty() {
            return Ok(());
        }
        let own = channel::Entity::find().filter(channel::Column::CompanyId.is_in(companies));
        let columns = [channel::Column::CompanyId, channel::Column::Id, channel::Column::WabaId];
        let own = own.select_only().columns(columns).into_tuple::<(Uuid, Uuid, Option<String>)>();
        let mut channels = HashMap::<Uuid, Vec<InAccount>>::new();
        for (company, id, account) in own.all(&self.store.read).await? {
            channels.entry(company).or_default().push((id, account));
        }
        // One that a person gave another shape takes nothing from the others.
        let set: Vec<(Uuid, Uuid, SetFor, Vec<Uuid>)> = records
            .iter()
            .filter(|record| record.endpoint.settings.shape == Shape::Graph)
            .filter_map(|record| {
                let endpoint = &record.endpoint;
                let settings = &endpoint.settings;
                Some((endpoint.company_id, endpoint.id, settings.set_for.clone()?, settings.channels.clone()))
            })
            .collect();
        for record in records.iter_mut() {
            let endpoint = &record.endpoint;
            if endpoint.settings.shape != Shape::Graph {
                continue;
            }
            let others =
                set.iter().filter(|(company, id, ..)| *company == endpoint.company_id && *id != endpoint.id);
            let others: Vec<_> = others.map(|(_, _, set_for, bound)| (set_for, bound.as_slice())).collect();
            let all = channels.get(&endpoint.company_id).map(Vec::as_slice).unwrap_or_default();
            let settings = &endpoint.settings;
            record.reach = GraphReach::of(settings.set_for.as_ref(), &settings.channels, all, &others);
        }
        Ok(())
    }
}
