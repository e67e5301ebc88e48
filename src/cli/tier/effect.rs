//! What a changed tier would change for the sends under way, by the store alone.

use crate::api::records::SendEffect;
use crate::cli::output::{Columns, Listed};
use crate::cli::plan;
use crate::cli::session::Session;
use crate::clock::Timestamp;
use crate::domain::tier::Tier;
use crate::engine::retiering::effect_by_the_store;

impl Listed for SendEffect {
    const COLUMNS: Columns<Self> = &[
        ("send", |effect| effect.send_id.to_string()),
        ("company", |effect| effect.company.clone()),
        ("channel", |effect| effect.channel.clone()),
        ("tier", |effect| effect.tier.clone()),
        ("left", |effect| effect.remaining.to_string()),
        ("takes now", |effect| plan::takes(effect.estimated_seconds)),
        ("would take", |effect| plan::takes(effect.after_seconds)),
        ("decided by", |effect| effect.after_binding.unwrap_or("nothing").to_owned()),
    ];
}

/// The effects of all these tiers, each in place of the stored one of its name.
pub(super) async fn of_all(
    session: &Session,
    stored: &[Tier],
    tiers: &[Tier],
) -> anyhow::Result<Vec<SendEffect>> {
    let mut effects = Vec::new();
    for after in tiers {
        if let Some(present) = stored.iter().find(|stored| stored.name == after.name && *stored != after) {
            effects.extend(between(session, present, after).await?);
        }
    }
    Ok(effects)
}

/// The effects when `after` replaces `present`.
pub(in crate::cli) async fn between(
    session: &Session,
    present: &Tier,
    after: &Tier,
) -> anyhow::Result<Vec<SendEffect>> {
    let effects = effect_by_the_store(&session.app.store, present, after, Timestamp::now()).await?;
    Ok(effects.into_iter().map(SendEffect::from).collect())
}
