//! Requests of the shell to the provider and the store, for an account.
//!
//! All accounts take turns with listings, so that the provider's budget for such requests (200 an hour, 5,000 with a
//! registered number) is hardly touched. While the provider is unavailable, the known templates stay.

use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::moment;
use crate::account::machine::{Input, Unread};
use crate::channel;
use crate::shared::Shared;
use clock::Timestamp;
use connectors::Error;
use connectors::cloud_api::Connections;
use domain::template::WrittenTo;

/// A company, and the account whose templates it keeps.
type OwnedAccount<'a> = (Uuid, &'a str);

/// Lists an account's templates through a channel and stores them. Returns whether that succeeded; if not, the log says
/// why.
pub(super) async fn list(
    shared: &Arc<Shared>,
    connections: Connections,
    owner: OwnedAccount<'_>,
    channel: Uuid,
) -> bool {
    actix::clock::sleep(shared.questions.turn(Instant::now())).await;
    // Boxed, so that thousands that wait for their turn take little memory.
    match Box::pin(try_list(shared, connections, owner, channel)).await {
        Ok(count) => {
            tracing::debug!(channel.id = %channel, templates = count, "the templates are up to date");
            true
        }
        Err(error) => {
            tracing::warn!(channel.id = %channel, %error, "cannot list the templates, the known ones stay");
            false
        }
    }
}

/// Why templates were not listed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Provider(#[from] Error),
    #[error("{0}")]
    Channel(String),
}

async fn try_list(
    shared: &Arc<Shared>,
    connections: Connections,
    (company, waba_id): OwnedAccount<'_>,
    channel: Uuid,
) -> Result<usize, Failed> {
    let store = shared.store.clone();
    let reading = shared.reader.read(async move {
        Ok::<_, store::Error>((
            store.channels().find(channel).await?,
            store.channels().secrets(channel).await?,
        ))
    });
    let (Some(record), sealed) = reading.await? else {
        return Err(Failed::Channel("the channel is gone".to_owned()));
    };
    let (connector, _) = channel::connector(shared, &record, connections, sealed)
        .map_err(|unconnected| Failed::Channel(unconnected.sentence()))?;
    // Webhooks during the listing are newer than its result.
    let as_of = Timestamp::now();
    let listed = connector.templates().await?;
    shared.store.of(company).templates().sync_as_of(waba_id, &listed, as_of).await?;
    Ok(listed.len())
}

/// Reads the recipients of the account's templates within this span into its machine.
pub(super) async fn read_people(
    shared: &Arc<Shared>,
    waba_id: &Arc<str>,
    span: (Timestamp, Timestamp),
) -> Result<(), Unread> {
    let (store, common, account) = (shared.store.clone(), Arc::clone(&shared.common), Arc::clone(waba_id));
    let reading = shared.reader.read(async move {
        let take = |mut people: Vec<WrittenTo>| {
            for person in &mut people {
                person.recipient = common.people.person_anywhere(person.recipient);
            }
            drop(common.accounts.feed(&account, Input::PeopleFound(people), moment()));
        };
        store.templates().recipients(&account, span, take).await
    });
    reading.await.map_err(|error: store::Error| {
        tracing::error!(account = %waba_id, %error, "cannot read the recipients of templates");
        Unread
    })
}
