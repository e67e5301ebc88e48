//! The shell's calls of the store, the ledger and the provider. Each task returns the input that it brings.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::connector::Unconnected;
use super::people::{Known, Wants};
use super::{connector, loading};
use crate::channel::machine::{
    Connected, Failed, Fetch, Input, LeaseLost, NotConnected, Question, SaveConnection, Saved, WebActivity,
};
use crate::ledger::Record;
use crate::notices::share_suppressions;
use crate::shared::Shared;
use clock::Timestamp;
use connectors::cloud_api::{CloudApi, Connections};
use domain::channel::{Channel, Kind};
use domain::message::{Key, State};
use domain::phone::PhoneNumber;
use store::suppressions::Word;
use store::{Error, Store};

/// Whether a retry may succeed.
const fn failed(error: &Error) -> Failed {
    if error.is_passing() { Failed::Temporarily } else { Failed::Permanently }
}

/// Writes the record; the ledger retries until that succeeds or nothing can be written any more.
pub(super) async fn write(shared: Arc<Shared>, record: Record) -> Input {
    let written = shared.ledger.send(record).await;
    // The ledger has logged the reason.
    Input::Written(written.ok().and_then(Result::ok).ok_or(LeaseLost))
}

pub(super) async fn fetch(shared: Arc<Shared>, channel: Uuid, kind: Kind, fetch: Fetch) -> Input {
    let (store, size) = (shared.reader.store(), fetch.size);
    let result = shared.reader.read(async move { loading::fetch(store, channel, kind, fetch).await }).await;
    let result = result.map_err(|error| {
        tracing::error!(channel.id = %channel, %error, "cannot read the queue");
        // Nothing else reads these rows, so a retry is needed.
        Failed::Temporarily
    });
    Input::Fetched { size, result }
}

pub(super) async fn read_waits(shared: Arc<Shared>, send_id: Uuid) -> Input {
    let store = shared.reader.store();
    let result = shared.reader.read(async move { loading::waits(&store, send_id).await }).await;
    let result = result.map_err(|error| {
        tracing::error!(send.id = %send_id, %error, "cannot read waiting messages");
        failed(&error)
    });
    Input::WaitsRead { send_id, result }
}

pub(super) async fn read_recipients(shared: Arc<Shared>, send_id: Uuid, from: u64) -> Input {
    let store = shared.reader.store();
    let read = shared.reader.read(async move { loading::numbers_from(&store, send_id, from).await }).await;
    let result = read.map(|(_, numbers)| numbers).map_err(|error| {
        if error.is_passing() {
            tracing::error!(send.id = %send_id, %error, "cannot read recipients");
        } else {
            tracing::error!(send.id = %send_id, %error, "the recipients of a send cannot be read, the send is skipped");
        }
        failed(&error)
    });
    Input::RecipientsRead { send_id, from, result }
}

/// The company's contacts with these numbers.
pub(super) async fn read_people(
    shared: Arc<Shared>,
    asked: Vec<(Key, Option<PhoneNumber>, Wants)>,
) -> store::Result<HashMap<Key, Known>> {
    let (store, contents) = (shared.reader.store(), Arc::clone(&shared.contents));
    let people = shared.reader.read(async move { loading::people_of(&store, &contents, asked).await }).await;
    people.inspect_err(|error| tracing::error!(%error, "cannot read the contacts or values of recipients"))
}

/// The company's contacts for a send's recipients from an ordinal on.
pub(super) async fn read_people_ahead(
    shared: Arc<Shared>,
    wants: Wants,
    send_id: Uuid,
    from: u64,
) -> store::Result<Vec<Known>> {
    let (store, contents) = (shared.reader.store(), Arc::clone(&shared.contents));
    let reading = shared
        .reader
        .read(async move { loading::people_from(&store, &contents, wants, (send_id, from)).await });
    // After a failure, each recipient is read when its message goes.
    reading.await.inspect_err(
        |error| tracing::warn!(send.id = %send_id, %error, "cannot read the contacts of recipients ahead"),
    )
}

pub(super) async fn read_states(
    shared: Arc<Shared>,
    channel: Uuid,
    question: Question,
    messages: Vec<Key>,
) -> Input {
    let result = states(&shared.store, &messages).await.map_err(|error| {
        if question == Question::IsOver {
            tracing::error!(channel.id = %channel, %error, "cannot read the ledger");
        }
        failed(&error)
    });
    Input::StatesRead { question, result }
}

/// The states of these messages.
async fn states(store: &Store, messages: &[Key]) -> store::Result<Vec<(Key, State)>> {
    let mut sends: HashMap<Uuid, Vec<u64>> = HashMap::new();
    for Key { send_id, ordinal } in messages {
        sends.entry(*send_id).or_default().push(*ordinal);
    }
    let mut states = Vec::with_capacity(messages.len());
    for (send_id, ordinals) in sends {
        let found = store.sends().message_states(send_id, &ordinals).await?;
        states.extend(found.into_iter().map(|(ordinal, state)| (Key { send_id, ordinal }, state)));
    }
    Ok(states)
}

pub(super) async fn read_web_activity(shared: Arc<Shared>, channel: Uuid, since: Timestamp) -> Input {
    let store = shared.reader.store();
    let reading = shared.reader.read(async move {
        let attempts = store.web_sessions().web_attempts_since(channel, since).await?;
        let strangers = store.web_sessions().first_sent_since(channel, since).await?;
        let asked = store.web_sessions().asked_since(channel, since).await?;
        let kept = store.web_sessions().kept_turns(channel, Timestamp::now()).await?;
        Ok::<_, Error>(WebActivity { attempts, strangers, asked, kept })
    });
    Input::WebActivityRead(reading.await.map_err(|error| {
        tracing::error!(channel.id = %channel, %error, "cannot read the recent activity of a web session");
        failed(&error)
    }))
}

/// Takes over the stored suppressions of these recipients.
pub(super) async fn look_up(shared: Arc<Shared>, channel: Uuid, said: Vec<Word>) {
    if let Err(error) = shared.suppressions.look_up(&shared.store, &said).await {
        tracing::debug!(channel.id = %channel, %error, "cannot read suppressions");
    }
    if let Err(error) = share_suppressions(&shared, &said).await {
        tracing::warn!(channel.id = %channel, %error, "cannot tell other nodes of suppressions, they read them with all others later");
    }
}

/// Reads the secrets of a business account and creates a connector.
pub(super) async fn connect(
    shared: Arc<Shared>,
    channel: Arc<Channel>,
    connections: Connections,
    generation: u64,
) -> (Option<CloudApi>, Input) {
    let (store, id) = (shared.reader.store(), channel.id);
    let read = shared.reader.read(async move { store.channels().secrets(id).await }).await;
    let made = match read {
        Ok(sealed) => match connector::connector(&shared, &channel, connections, sealed) {
            Ok(made) => Ok(made),
            Err(unconnected) => Err(not_connected(&shared, id, unconnected).await),
        },
        Err(error) => {
            tracing::error!(channel.id = %id, %error, "cannot read the channel's secrets");
            Err(NotConnected::Failed)
        }
    };
    let (connector, result) = match made {
        Ok((connector, app)) => (Some(connector), Ok(Connected { app })),
        Err(why) => (None, Err(why)),
    };
    (connector, Input::Connected { generation, result })
}

/// Whether the channel has no usable token, or only this process cannot open it now.
async fn not_connected(shared: &Shared, channel: Uuid, unconnected: Unconnected) -> NotConnected {
    match unconnected.is_own(shared).await {
        Ok(false) => NotConnected::Unusable(unconnected.sentence()),
        Ok(true) => {
            // The missing key is logged once, not for each channel.
            tracing::debug!(channel.id = %channel, "this process lacks the key of the channel's token");
            NotConnected::Failed
        }
        Err(error) => {
            tracing::error!(channel.id = %channel, %error, "cannot read the keys of the database");
            NotConnected::Failed
        }
    }
}

/// Probes the number.
pub(super) async fn probe(connector: Rc<CloudApi>, generation: u64, turn: Duration) -> Input {
    actix::clock::sleep(turn).await;
    // Boxed, so that thousands that wait for their turn take little memory.
    let health = Box::pin(connector.health()).await;
    Input::Probed { generation, health }
}

/// Writes the channel's state, unless somebody else changed it.
pub(super) async fn save_connection(shared: Arc<Shared>, channel: Uuid, saving: SaveConnection) -> Input {
    let SaveConnection { from, to, trial } = saving;
    let saved = async {
        Ok(match shared.store.channels().set_trial(channel, &from, &to, trial).await? {
            Some(revision) => Saved::Done { revision },
            None => Saved::Overtaken(shared.store.channels().find(channel).await?.map(Box::new)),
        })
    };
    Input::ConnectionSaved(saved.await.unwrap_or_else(|error: Error| {
        tracing::error!(channel.id = %channel, %error, "cannot write the channel's state");
        Saved::Failed
    }))
}

/// Stores the provider's report on the number, for the next process and for people.
pub(super) async fn pause_template(shared: Arc<Shared>, template_id: i64) -> Input {
    let result = shared.store.templates().pause(template_id).await.map_err(|error| {
        tracing::error!(template.id = template_id, %error, "cannot mark a template as paused");
        failed(&error)
    });
    Input::TemplateMarked { template_id, result }
}
