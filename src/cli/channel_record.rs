//! A channel as commands show it: the API's record, and the provider's ids that an operator needs.

use serde::Serialize;
use uuid::Uuid;

use super::output::{Columns, Listed};
use crate::api::records;
use crate::domain::channel::{Channel, Level};
use crate::domain::limit::LevelHint;
use crate::domain::rate::Rate;
use crate::domain::tier::OwnOptions;
use crate::store::channels::tier_end::TierEnd;

/// A channel for JSON and tables. It never contains secrets.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    #[serde(flatten)]
    channel: records::Channel,
    company_id: Uuid,
    #[serde(skip)]
    company: String,
    /// How fast the provider lets the number send, if it is known.
    #[serde(skip)]
    level: Option<Level>,
    phone_number_id: Option<String>,
    waba_id: Option<String>,
    /// Options of the tier for which the channel has values of its own.
    own_options: OwnOptions,
    /// The end of its tier and its own options; null when it has them for good.
    tier_end: Option<records::TierEnd>,
    /// What to do where the tier's pace is not that of the provider's level.
    level_hint: Option<&'static str>,
}

impl Record {
    /// The channel, and the name of its company; it has its tier for good.
    pub(super) fn new(channel: Channel, company: &str) -> Self {
        Self {
            tier_end: None,
            own_options: channel.own_options.clone(),
            level_hint: None,
            company_id: channel.company_id,
            company: company.to_owned(),
            level: channel.level,
            phone_number_id: channel.phone_number_id.clone(),
            waba_id: channel.waba_id.clone(),
            channel: channel.into(),
        }
    }

    /// The same with the end of its tier.
    pub(super) fn until(self, end: Option<TierEnd>) -> Self {
        Self { tier_end: end.map(records::TierEnd::from), ..self }
    }

    /// The same with the hint about a tier of this pace.
    pub(super) fn hinting(self, tier: Rate) -> Self {
        let level_hint = LevelHint::of(tier, self.level).map(LevelHint::sentence);
        Self { level_hint, ..self }
    }

    /// The fields as rows of a table, for a person.
    pub(super) fn fields(&self) -> Vec<Vec<String>> {
        let Self { channel, own_options, .. } = self;
        let reason = channel.status_reason.as_ref();
        let code = reason.and_then(|reason| reason.provider_code).map(|code| code.to_string());
        let fields = [
            ("name", Some(channel.name.clone())),
            ("id", Some(channel.id.to_string())),
            ("company", Some(self.company.clone())),
            ("kind", Some(channel.kind.to_owned())),
            ("phone number", channel.phone_number.clone()),
            ("phone number id", self.phone_number_id.clone()),
            ("business account", self.waba_id.clone()),
            ("tier", Some(channel.tier.clone())),
            ("own options", (!own_options.is_empty()).then(|| own_options.line())),
            ("tier until", self.tier_end.as_ref().map(|end| format!("{}, then {}", end.at, end.tier))),
            ("provider's level", self.level.map(|level| level.to_string())),
            ("hint", self.level_hint.map(str::to_owned)),
            ("status", Some(channel.status.to_owned())),
            ("since", Some(channel.status_since.to_string())),
            ("because", reason.map(|reason| reason.sentence.clone())),
            ("reason", reason.map(|reason| reason.code.clone())),
            ("provider's code", code),
            ("quality rating", channel.quality_rating.clone()),
            ("created at", Some(channel.created_at.to_string())),
            ("updated at", Some(channel.updated_at.to_string())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?])).collect()
    }
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("company", |Self { company, .. }| company.clone()),
        ("name", |Self { channel, .. }| channel.name.clone()),
        ("id", |Self { channel, .. }| channel.id.to_string()),
        ("kind", |Self { channel, .. }| channel.kind.to_owned()),
        ("number", |Self { channel, .. }| channel.phone_number.clone().unwrap_or_default()),
        ("tier", |Self { channel, own_options, .. }| match own_options.is_empty() {
            true => channel.tier.clone(),
            false => format!("{} ({})", channel.tier, own_options.line()),
        }),
        ("status", |Self { channel, .. }| channel.status.to_owned()),
        ("since", |Self { channel, .. }| channel.status_since.to_string()),
    ];
}
