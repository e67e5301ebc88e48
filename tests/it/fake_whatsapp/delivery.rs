//! Stanzas to devices: messages of other people and of their own phone, and receipts.

use std::sync::Arc;

use anyhow::Result;
use whatsapp_rust::buffa::MessageField;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::{Jid, JidExt as _};
use whatsapp_rust::waproto::whatsapp as wa;
use whatsapp_rust::waproto::whatsapp::message::protocol_message::Type;
use whatsapp_rust::waproto::whatsapp::message::{
    AppStateSyncKey, AppStateSyncKeyData, AppStateSyncKeyFingerprint, AppStateSyncKeyId,
    AppStateSyncKeyShare, ProtocolMessage,
};

use super::message::SentMessage;
use super::phone::{Contact, Phone};
use super::server::Server;
use super::signal::SignalPhone;
use super::stanza::now;
use super::world::{DeviceName, Person};

/// The outcome of a message at a recipient's phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Delivered,
    Read,
    Played,
}

/// A device's own phone shares the key to the account's settings with it. Without it a device waits ten seconds.
pub(super) fn share_settings_key(server: &Arc<Server>, name: &DeviceName) {
    let key = AppStateSyncKey {
        key_id: MessageField::some(AppStateSyncKeyId { key_id: Some(vec![0, 0, 0, 0, 0, 1]) }),
        key_data: MessageField::some(AppStateSyncKeyData {
            key_data: Some(vec![9; 32]),
            fingerprint: MessageField::some(AppStateSyncKeyFingerprint {
                raw_id: Some(1),
                current_index: Some(1),
                ..Default::default()
            }),
            timestamp: Some(i64::try_from(now()).unwrap()),
        }),
    };
    let share = AppStateSyncKeyShare { keys: vec![key] };
    let message = ProtocolMessage {
        r#type: Some(Type::AppStateSyncKeyShare),
        app_state_sync_key_share: MessageField::some(share),
        ..Default::default()
    };
    let message = wa::Message { protocol_message: MessageField::some(message), ..Default::default() };
    let id = format!("KEY{}", server.next_number());
    let stanza = NodeBuilder::new("message")
        .attr("from", Jid::pn(name.number.as_str()))
        .attr("type", "text")
        .attr("category", "peer")
        .attr("id", id);
    let (server, name) = (Arc::clone(server), name.clone());
    server.clone().runtime.spawn(async move {
        let phone = server.change(|world| world.account(&name.number).person.phone.clone());
        if let Err(fault) = deliver(&server, &name, &phone, stanza, &message).await {
            server.fault(format!("the phone shares no key with {name:?}: {fault:#}"));
        }
    });
}

/// Sends a person's message to all devices of an account.
pub(super) async fn write(
    server: &Server,
    from: &Person,
    number: &str,
    id: &str,
    kind: &'static str,
    message: &wa::Message,
) -> Result<()> {
    let stanza = || {
        let stanza = NodeBuilder::new("message").attr("from", Jid::pn(from.number.as_str()));
        stanza.attr("sender_lid", Jid::lid(from.lid.as_str())).attr("type", kind).attr("id", id)
    };
    write_as(server, from, number, stanza, message).await
}

/// Writes a text to all devices of an account from the address that hides the number, with the number beside it if it
/// `shows` it; returns the message's id.
pub(crate) async fn write_hidden(from: &Contact, to: &Phone, shows: bool, text: &str) -> String {
    let server = &from.server;
    let person = server.look(|world| world.find(&from.number).cloned()).unwrap();
    let id = format!("3A{:030X}", server.next_number());
    let stanza = || {
        let stanza = NodeBuilder::new("message").attr("from", Jid::lid(person.lid.as_str()));
        let stanza = stanza.attr("addressing_mode", "lid").attr("type", "text").attr("id", id.as_str());
        if shows { stanza.attr("sender_pn", Jid::pn(person.number.as_str())) } else { stanza }
    };
    let message = wa::Message { conversation: Some(text.to_owned()), ..Default::default() };
    write_as(server, &person, &to.number, stanza, &message).await.unwrap();
    id
}

async fn write_as(
    server: &Server,
    from: &Person,
    number: &str,
    stanza: impl Fn() -> NodeBuilder,
    message: &wa::Message,
) -> Result<()> {
    let devices: Vec<u16> = server.change(|world| world.account(number).devices.keys().copied().collect());
    for device in devices {
        let name = DeviceName { number: number.to_owned(), device };
        let stanza = stanza().attr("notify", "Maria");
        deliver(server, &name, &from.phone, stanza, message).await?;
    }
    Ok(())
}

async fn deliver(
    server: &Server,
    to: &DeviceName,
    phone: &SignalPhone,
    stanza: NodeBuilder,
    message: &wa::Message,
) -> Result<()> {
    let bundle = || server.change(|world| world.companion(to)?.keys.as_mut()?.take_bundle());
    let sealed = phone.encrypt(&to.address(), bundle, message).await?;
    let stanza = stanza.attr("t", now().to_string()).children([sealed]).build();
    server.change(|world| world.companion(to).map(|companion| companion.deliver(stanza)));
    Ok(())
}

/// Tells an account the outcome of its message at a recipient's phone.
pub(super) fn tell(server: &Server, from: &Person, message: &SentMessage, fate: Fate) {
    let chat = if message.to.is_group() { message.to.clone() } else { Jid::lid(from.lid.as_str()) };
    let receipt = NodeBuilder::new("receipt").attr("from", chat).attr("id", message.id.as_str());
    let receipt = receipt.attr("t", now().to_string());
    let receipt = if message.to.is_group() {
        receipt.attr("participant", Jid::lid(from.lid.as_str()))
    } else {
        receipt
    };
    let receipt = match fate {
        Fate::Delivered => receipt,
        Fate::Read => receipt.attr("type", "read"),
        Fate::Played => receipt.attr("type", "played"),
    };
    server.change(|world| world.deliver(&message.account, &receipt.build()));
}
