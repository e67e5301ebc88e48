//! A channel as commands show it: the API's record, and the provider's ids that an operator needs.

use serde::Serialize;
use uuid::Uuid;

use super::output::Listed;
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Connection, Reason};

/// A channel for JSON and tables. It never contains secrets.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    pub(super) id: Uuid,
    company_id: Uuid,
    #[serde(skip)]
    company: String,
    kind: &'static str,
    pub(super) name: String,
    phone_number: Option<String>,
    phone_number_id: Option<String>,
    waba_id: Option<String>,
    status: &'static str,
    status_reason: Option<Reason>,
    status_since: Timestamp,
    tier: String,
    quality_rating: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Record {
    /// The channel, and the name of its company.
    pub(super) fn new(channel: Channel, company: &str) -> Self {
        let Channel {
            id,
            company_id,
            kind,
            name,
            phone_number,
            phone_number_id,
            waba_id,
            tier,
            connection: Connection { status, reason, since },
            trial: _,
            quality_rating,
            level: _,
            messaging_limit: _,
            linked_at: _,
            revision: _,
            created_at,
            updated_at,
        } = channel;
        Self {
            id,
            company_id,
            company: company.to_owned(),
            kind: kind.as_str(),
            name,
            phone_number,
            phone_number_id,
            waba_id,
            status: status.as_str(),
            status_reason: reason,
            status_since: since,
            tier,
            quality_rating,
            created_at,
            updated_at,
        }
    }

    /// The fields as rows of a table, for a person.
    pub(super) fn fields(&self) -> Vec<Vec<String>> {
        let reason = self.status_reason.as_ref();
        let code = reason.and_then(|reason| reason.provider_code).map(|code| code.to_string());
        let fields = [
            ("name", Some(self.name.clone())),
            ("id", Some(self.id.to_string())),
            ("company", Some(self.company.clone())),
            ("kind", Some(self.kind.to_owned())),
            ("phone number", self.phone_number.clone()),
            ("phone number id", self.phone_number_id.clone()),
            ("business account", self.waba_id.clone()),
            ("tier", Some(self.tier.clone())),
            ("status", Some(self.status.to_owned())),
            ("since", Some(self.status_since.to_string())),
            ("because", reason.map(|reason| reason.sentence.clone())),
            ("reason", reason.map(|reason| reason.code.to_string())),
            ("provider's code", code),
            ("quality rating", self.quality_rating.clone()),
            ("created at", Some(self.created_at.to_string())),
            ("updated at", Some(self.updated_at.to_string())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?])).collect()
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] =
        &["company", "name", "id", "kind", "number", "tier", "status", "since"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.company.clone(),
            self.name.clone(),
            self.id.to_string(),
            self.kind.to_owned(),
            self.phone_number.clone().unwrap_or_default(),
            self.tier.clone(),
            self.status.to_owned(),
            self.status_since.to_string(),
        ]
    }
}
