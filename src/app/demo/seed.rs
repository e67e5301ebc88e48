//! Fills the store. Each step adds only what is missing, so the next start completes an interrupted one.

use uuid::Uuid;

use super::people::{self, Sort};
use super::{plan, receipts};
use crate::app::App;
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Kind, Status};
use crate::domain::page::PageRequest;
use crate::store::changes::Who;
use crate::store::channels::{NewChannel, Sealed};
use crate::store::companies::Company;
use crate::vault::context;

/// More channels than a demonstration has.
const ALL: PageRequest = PageRequest { page: 1, limit: 1000 };
/// The tags, and their colours.
const EVERYONE: (&str, &str) = ("everyone", "#2563eb");
const VIP: (&str, &str) = ("vip", "#b45309");
const NO_PHONES: (&str, &str) = ("no-phones", "#6b7280");

/// A company in the store, and its tags.
pub(super) struct Seeded {
    pub(super) company: Company,
    pub(super) tags: Vec<(&'static str, Uuid)>,
}

/// Creates or completes every company of the plan.
pub(super) async fn companies(
    app: &App,
    contacts: u32,
    mut progress: impl FnMut(u64, u64),
) -> anyhow::Result<Vec<Seeded>> {
    let mut seeded = Vec::new();
    for plan in plan::COMPANIES {
        let company = match app.store.companies().find_named(plan.name).await? {
            Some(company) => company,
            None => app.store.companies().add(&Who::Pombo, plan.name, "standard").await?,
        };
        let channels = channels(app, plan, &company).await?;
        // A web session that was connected before has no provider to probe.
        let unconfirmed = |channel: &&Channel| {
            channel.kind == Kind::BusinessAccount && channel.connection.status == Status::Connecting
        };
        for channel in channels.iter().filter(unconfirmed) {
            app.probe(channel).await?;
        }
        if let Some(first) = channels.first() {
            app.sync_templates(first).await?;
        }
        let tags = people(app, plan, &company, plan.contacts.unwrap_or(contacts), &mut progress).await?;
        seeded.push(Seeded { company, tags });
    }
    Ok(seeded)
}

/// The company's channels in the order of the plan.
async fn channels(app: &App, plan: &plan::PlannedCompany, company: &Company) -> anyhow::Result<Vec<Channel>> {
    let mut present = Vec::new();
    for kind in [Kind::BusinessAccount, Kind::WebSession] {
        present.extend(app.store.of(company.id).channels().of_kind(kind, ALL, None).await?.records);
    }
    let mut channels = Vec::new();
    for planned in plan.channels {
        let known = present.iter().find(|channel| channel.name == planned.name);
        channels.push(match known {
            Some(channel) => channel.clone(),
            None => app.store.channels().add(&Who::Pombo, new_channel(app, plan, planned, company)).await?,
        });
    }
    Ok(channels)
}

fn new_channel(
    app: &App,
    plan: &plan::PlannedCompany,
    planned: &plan::PlannedChannel,
    company: &Company,
) -> NewChannel {
    let id = Uuid::now_v7();
    let number = planned.number.as_ref();
    NewChannel {
        id,
        company_id: company.id,
        kind: planned.kind(),
        name: planned.name.to_owned(),
        phone_number: number.map(|number| number.phone_number.to_owned()),
        phone_number_id: number.map(|number| number.phone_number_id.to_owned()),
        waba_id: number.map(|_| plan.waba_id.to_owned()),
        tier: planned.tier.to_owned(),
        secrets: Sealed {
            token: number.map(|number| app.vault.seal(number.token.as_bytes(), &context::token(id))),
            app_secret: number
                .map(|_| app.vault.seal(receipts::APP_SECRET.as_bytes(), &context::app_secret(id))),
        },
        status: match planned.kind() {
            Kind::BusinessAccount => Status::Connecting,
            Kind::WebSession => Status::Pairing,
        },
    }
}

/// Adds the contacts that are missing, in order, so that their count says where an earlier start ended.
async fn people(
    app: &App,
    plan: &plan::PlannedCompany,
    company: &Company,
    wanted: u32,
    progress: &mut impl FnMut(u64, u64),
) -> anyhow::Result<Vec<(&'static str, Uuid)>> {
    let store = &app.store;
    let mut tags = Vec::new();
    let names = [(EVERYONE, 1), (VIP, plan.vip), (NO_PHONES, plan.without_number)];
    for ((name, color), _) in names.into_iter().filter(|(_, members)| *members > 0) {
        tags.push((name, store.of(company.id).tags().ensure(name, Some(color)).await?));
    }
    let tag = |name: &str| tags.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
    let everyone: Vec<Uuid> = tag(EVERYONE.0).into_iter().collect();
    let (have, _) = store.of(company.id).tags().tagged_contacts(&everyone).await?;
    let have = u32::try_from(have).unwrap_or(u32::MAX);
    for (range, sort) in people::lots(have, wanted, plan.without_number, plan.vip) {
        let end = range.end;
        let lot: Vec<_> =
            range.map(|index| (Uuid::now_v7(), people::person(plan.prefix, index, sort))).collect();
        let more = match sort {
            Sort::WithoutNumber => NO_PHONES.0,
            Sort::Vip => VIP.0,
            Sort::Plain => "",
        };
        let its: Vec<Uuid> = everyone.iter().copied().chain(tag(more)).collect();
        store.of(company.id).contacts().add(&lot, &its, Timestamp::now()).await?;
        progress(end.into(), wanted.into());
    }
    Ok(tags)
}
