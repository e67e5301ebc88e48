//! The server's view of a linked device: its keys, its connection, and its waiting stanzas.

use std::collections::VecDeque;

use tokio::sync::mpsc::UnboundedSender;
use whatsapp_rust::wacore::libsignal::protocol::{IdentityKey, PreKeyBundle, PublicKey};
use whatsapp_rust::wacore::prekeys::compute_key_bundle_digest;
use whatsapp_rust::wacore_binary::Node;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;

use super::stanza::{attribute, bytes, children, content, content_of, parent};

/// A command to a connection's task.
pub(super) enum Order {
    Say(Node),
    HangUp,
}

/// A handle to a connection.
#[derive(Clone)]
pub(super) struct Line {
    /// The number of the connection.
    pub(super) id: u64,
    pub(super) orders: UnboundedSender<Order>,
}

impl Line {
    /// Sends a stanza; one to a connection that has just ended is lost, as on a real connection.
    pub(super) fn say(&self, stanza: Node) {
        let _ = self.orders.send(Order::Say(stanza));
    }

    /// Ends the connection after all earlier stanzas.
    pub(super) fn hang_up(&self) {
        let _ = self.orders.send(Order::HangUp);
    }
}

/// A linked device.
pub(super) struct Companion {
    /// Its public identity key, as it was linked.
    pub(super) identity: Vec<u8>,
    pub(super) keys: Option<UploadedKeys>,
    /// The number of its uploads of one-time keys.
    pub(super) uploads: u32,
    pub(super) logins: u32,
    /// Its connection, once it has logged in.
    pub(super) line: Option<Line>,
    /// Whether it has asked for its waiting stanzas.
    pub(super) is_active: bool,
    /// Stanzas that it has not acknowledged, oldest first.
    pub(super) mail: VecDeque<Mail>,
}

/// A stanza that a device has to acknowledge.
pub(super) struct Mail {
    pub(super) stanza: Node,
    /// Whether it was sent on the present connection.
    pub(super) is_sent: bool,
}

impl Companion {
    pub(super) fn new(identity: Vec<u8>) -> Self {
        Self {
            identity,
            keys: None,
            uploads: 0,
            logins: 0,
            line: None,
            is_active: false,
            mail: VecDeque::new(),
        }
    }

    /// Sends a stanza now, or once the device is there.
    pub(super) fn deliver(&mut self, stanza: Node) {
        let line = self.line.as_ref().filter(|_| self.is_active);
        if let Some(line) = line {
            line.say(stanza.clone());
        }
        self.mail.push_back(Mail { stanza, is_sent: line.is_some() });
    }

    /// Removes a stanza that the device has acknowledged.
    pub(super) fn acknowledge(&mut self, tag: &str, id: &str) {
        let found =
            self.mail.iter().position(|mail| mail.stanza.tag == tag && attribute(&mail.stanza, "id") == id);
        if let Some(found) = found {
            self.mail.remove(found);
        }
    }

    /// Sends the number of waiting stanzas to a device that asks for them.
    pub(super) fn wake(&mut self) {
        self.is_active = true;
        let waiting = self.mail.iter().filter(|mail| !mail.is_sent).count();
        if waiting == 0 {
            self.say(end_of_mail(0));
        } else {
            let messages =
                self.mail.iter().filter(|mail| !mail.is_sent && mail.stanza.tag == "message").count();
            let preview = NodeBuilder::new("offline_preview")
                .attr("count", waiting.to_string())
                .attr("message", messages.to_string())
                .attr("receipt", (waiting - messages).to_string());
            self.say(parent("ib", [preview.build()]));
        }
    }

    /// Sends the next waiting stanzas, and their end with the last one.
    pub(super) fn hand_out(&mut self, most: usize) {
        let mut handed = 0;
        for mail in self.mail.iter_mut().filter(|mail| !mail.is_sent).take(most) {
            let mut stanza = mail.stanza.clone();
            stanza.attrs.insert("offline", "0");
            mail.is_sent = true;
            handed += 1;
            if let Some(line) = &self.line {
                line.say(stanza);
            }
        }
        if handed > 0 && self.mail.iter().all(|mail| mail.is_sent) {
            self.say(end_of_mail(handed));
        }
    }

    fn say(&self, stanza: Node) {
        if let Some(line) = &self.line {
            line.say(stanza);
        }
    }
}

fn end_of_mail(count: usize) -> Node {
    parent("ib", [NodeBuilder::new("offline").attr("count", count.to_string()).build()])
}

/// The public keys with which other clients begin sessions with a device.
pub(super) struct UploadedKeys {
    registration: Vec<u8>,
    identity: Vec<u8>,
    signed: SignedKey,
    /// Id and value of each unused one-time key.
    one_time: VecDeque<(Vec<u8>, Vec<u8>)>,
}

struct SignedKey {
    id: Vec<u8>,
    value: Vec<u8>,
    signature: Vec<u8>,
}

impl SignedKey {
    fn read(node: &Node) -> Option<Self> {
        let (id, value) = (content_of(node, "id")?, content_of(node, "value")?);
        Some(Self { id, value, signature: content_of(node, "signature")? })
    }
}

/// A number of up to four bytes, the highest first.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

impl UploadedKeys {
    /// Whether these are the keys of the linked device, which has this identity.
    pub(super) fn are_of(&self, identity: &[u8]) -> bool {
        self.identity == identity
    }

    /// Reads a device's upload, and adds the one-time keys to the earlier ones.
    pub(super) fn read(upload: &Node, before: Option<Self>) -> Option<Self> {
        let mut one_time = before.map(|before| before.one_time).unwrap_or_default();
        for key in children(upload.get_optional_child("list")?) {
            one_time.push_back((content_of(key, "id")?, content_of(key, "value")?));
        }
        Some(Self {
            registration: content_of(upload, "registration")?,
            identity: content_of(upload, "identity")?,
            signed: SignedKey::read(upload.get_optional_child("skey")?)?,
            one_time,
        })
    }

    /// Replaces the signed key.
    pub(super) fn rotate(&mut self, rotation: &Node) {
        if let Some(signed) = rotation.get_optional_child("skey").and_then(SignedKey::read) {
            self.signed = signed;
        }
    }

    /// How many one-time keys are left.
    pub(super) fn count(&self) -> usize {
        self.one_time.len()
    }

    /// The server's keys, with a hash by which the device can compare its own.
    pub(super) fn digest(&self) -> Node {
        let values: Vec<&[u8]> = self.one_time.iter().map(|(_, value)| value.as_slice()).collect();
        let SignedKey { id, value, signature } = &self.signed;
        let hash = compute_key_bundle_digest(&self.identity, value, signature, &values);
        let signed =
            [bytes("id", id.clone()), bytes("value", value.clone()), bytes("signature", signature.clone())];
        let digest = [
            bytes("registration", self.registration.clone()),
            bytes("type", [5]),
            bytes("identity", self.identity.clone()),
            parent("skey", signed),
            parent("list", self.one_time.iter().map(|(id, _)| bytes("id", id.clone()))),
            bytes("hash", hash),
        ];
        parent("digest", digest)
    }

    /// The keys that begin a session; uses up a one-time key.
    pub(super) fn take_bundle(&mut self) -> Option<PreKeyBundle> {
        let key = |value: &[u8]| PublicKey::from_djb_public_key_bytes(value).ok();
        let one_time = match self.one_time.pop_front() {
            Some((id, value)) => Some((number(&id).into(), key(&value)?)),
            None => None,
        };
        let SignedKey { id, value, signature } = &self.signed;
        let bundle = PreKeyBundle::new(
            number(&self.registration),
            0.into(),
            one_time,
            number(id).into(),
            key(value)?,
            signature.clone(),
            IdentityKey::new(key(&self.identity)?),
        );
        bundle.ok()
    }
}

/// How much a device asks for with `<offline_batch>`.
pub(super) fn batch_of(stanza: &Node) -> Option<usize> {
    let batch = stanza.get_optional_child("offline_batch")?;
    attribute(batch, "count").parse().ok()
}

/// The digits of a number that was typed, from the content of a node.
pub(super) fn digits(node: &Node) -> String {
    String::from_utf8_lossy(&content(node)).chars().filter(char::is_ascii_digit).collect()
}
