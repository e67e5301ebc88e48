//! Makes the simulated provider send receipts by webhook, `delivered` and `read`, as the real provider does.

use anyhow::Context as _;

use super::plan;
use crate::domain::channel::Kind;
use crate::domain::page::PageRequest;
use crate::store::Store;
use crate::vault::{Vault, context};
use simulator::{ReceiptOptions, Simulator};

/// The app secret of new channels. A secret that was replaced is used as it is.
pub(super) const APP_SECRET: &str = "demo-app-secret";
/// More channels than a demonstration has.
const ALL: PageRequest = PageRequest { page: 1, limit: 1000 };

/// Sends the receipts of each number to the webhook of its channel, signed with the channel's app secret. A
/// channel without an app secret gets no receipts.
///
/// # Errors
///
/// Those of the store, of the vault and of the simulator.
pub(super) async fn send_to(
    store: &Store,
    vault: &Vault,
    simulator: &Simulator,
    base_url: &str,
) -> anyhow::Result<()> {
    for plan in plan::COMPANIES {
        let Some(company) = store.companies().find_named(plan.name).await? else { continue };
        for channel in
            store.of(company.id).channels().of_kind(Kind::BusinessAccount, ALL, None).await?.records
        {
            let secrets = store.channels().secrets(channel.id).await?;
            let Some(sealed) = secrets.and_then(|secrets| secrets.app_secret) else { continue };
            let secret = vault.unseal(&sealed, &context::app_secret(channel.id))?;
            let receiver =
                ReceiptOptions::to(format!("{base_url}/hooks/meta/{}", channel.id), secret.expose());
            let receiver = ReceiptOptions {
                phone_number_id: channel.phone_number_id,
                answer_probability: plan::ANSWERED,
                answer_after: plan::ANSWERED_WITHIN,
                answers: plan::answers(),
                ..receiver
            };
            simulator.aim_receipts(Some(receiver)).context("the simulator refuses to send receipts")?;
        }
    }
    Ok(())
}
