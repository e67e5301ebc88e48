//! Messages of devices: each message is read by its recipients' phones.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::{Jid, Node, Server as Domain};
use whatsapp_rust::waproto::whatsapp as wa;

use super::companion::Line;
use super::server::Server;
use super::stanza::{address, attribute, children, content, now};
use super::world::{DeviceName, Person};

/// A sent message, as its recipients read it.
#[derive(Clone)]
pub(crate) struct SentMessage {
    /// The number of the account that sent it.
    pub(crate) account: String,
    pub(crate) id: String,
    /// Its address: a person, whose number may be hidden, or a group.
    pub(crate) to: Jid,
    /// `text` or `media`, as the server sees it.
    pub(crate) kind: String,
    /// The numbers of the phones that could read it.
    pub(crate) readers: BTreeSet<String>,
    /// Whether the account's own phone got its copy.
    pub(crate) is_on_own_phone: bool,
    pub(crate) content: wa::Message,
}

impl SentMessage {
    /// The text, whatever form it has.
    pub(crate) fn text(&self) -> Option<&str> {
        let extended = self.content.extended_text_message.as_option().and_then(|text| text.text.as_deref());
        self.content.conversation.as_deref().or(extended)
    }
}

/// Handles a message: acknowledges or refuses it, and has the phones read it.
pub(super) async fn take(server: &Arc<Server>, name: &DeviceName, line: &Line, stanza: &Node) {
    let id = attribute(stanza, "id");
    let Some(to) = address(stanza, "to") else {
        server.fault(format!("message {id} is for nobody"));
        return;
    };
    let nack = server.change(|world| world.account(&name.number).nacks.pop_front());
    if nack.is_none()
        && let Err(fault) = read(server, name, stanza, &id, &to).await
    {
        server.fault(format!("message {id}: {fault:#}"));
    }
    let ack = NodeBuilder::new("ack").attr("class", "message").attr("id", id).attr("from", to);
    let ack = ack.attr("t", now().to_string());
    let ack = if let Some(code) = nack { ack.attr("error", code.to_string()) } else { ack };
    server.change(|world| {
        let account = world.account(&name.number);
        if account.withholds_acks {
            account.withheld.push((line.clone(), ack.build()));
        } else {
            line.say(ack.build());
        }
    });
}

/// The encrypted part of a message for one phone.
struct Sealed<'a> {
    to: Jid,
    sealed: &'a Node,
}

/// All parts of a message with their recipients; in a group, the part for all members comes last.
fn parts<'a>(stanza: &'a Node, to: &Jid) -> Vec<Sealed<'a>> {
    let mut parts = Vec::new();
    for child in children(stanza) {
        if child.tag == "participants" {
            for participant in children(child) {
                let Some(to) = address(participant, "jid") else { continue };
                let sealed = children(participant).iter().filter(|sealed| sealed.tag == "enc");
                parts.extend(sealed.map(|sealed| Sealed { to: to.clone(), sealed }));
            }
        }
    }
    let direct = children(stanza).iter().filter(|child| child.tag == "enc");
    parts.extend(direct.map(|sealed| Sealed { to: to.clone(), sealed }));
    parts
}

async fn read(server: &Server, name: &DeviceName, stanza: &Node, id: &str, to: &Jid) -> Result<()> {
    let sender = name.address();
    let mut readers = BTreeSet::new();
    let (mut read, mut copy) = (None, None);
    for Sealed { to: recipient, sealed } in parts(stanza, to) {
        let (kind, ciphertext) = (attribute(sealed, "type"), content(sealed));
        if kind == "skmsg" {
            for member in members(server, to) {
                // A member without the sender's key joined later, or was left out.
                if let Ok(message) = member.phone.decrypt_group(to, &sender, &ciphertext).await {
                    readers.insert(member.number);
                    read = Some(message);
                }
            }
            continue;
        }
        let person = server.look(|world| world.person(&recipient).cloned());
        let person = person.with_context(|| format!("nobody has the address {recipient}"))?;
        let message = person.phone.decrypt(&sender, &kind, &ciphertext).await?;
        if person.number == name.number {
            copy = Some(message);
        } else if let Some(key) = message.sender_key_distribution_message.as_option() {
            let key = key.axolotl_sender_key_distribution_message.as_deref().unwrap_or_default();
            person.phone.take_sender_key(to, &sender, key).await?;
        } else {
            readers.insert(person.number);
            read = Some(message);
        }
    }
    // Devices talk to their own phone too, about other things than messages.
    if attribute(stanza, "category") == "peer" {
        return Ok(());
    }
    let is_on_own_phone = copy.as_ref().is_some_and(|copy| copy.device_sent_message.is_set());
    let content = read.context("nobody could read it")?;
    let sent = SentMessage {
        account: name.number.clone(),
        id: id.to_owned(),
        to: to.clone(),
        kind: attribute(stanza, "type"),
        readers,
        is_on_own_phone,
        content,
    };
    server.change(|world| world.sent.push(sent));
    Ok(())
}

fn members(server: &Server, group: &Jid) -> Vec<Person> {
    debug_assert_eq!(group.server, Domain::Group);
    server.look(|world| {
        let numbers = world.groups.get(group.user.as_str()).into_iter().flatten();
        numbers.filter_map(|number| world.person(&Jid::pn(number.as_str())).cloned()).collect()
    })
}
