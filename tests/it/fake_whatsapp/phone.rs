//! A phone that a test controls, and the people whom it writes to.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use whatsapp_rust::buffa::MessageField;
use whatsapp_rust::wacore::libsignal::protocol::{KeyPair, PublicKey};
use whatsapp_rust::wacore::pair_code::PairCodeUtils;
use whatsapp_rust::waproto::whatsapp as wa;

use super::connection::conflict;
use super::delivery::{self, Fate};
use super::message::SentMessage;
use super::pairing;
use super::refusal::Refusal;
use super::server::Server;
use super::signal::public;
use super::world::Account;

/// The phone of an account, to which sessions are linked.
#[derive(Clone)]
pub(crate) struct Phone {
    pub(super) server: Arc<Server>,
    pub(super) number: String,
}

impl Phone {
    fn change<T>(&self, change: impl FnOnce(&mut Account) -> T) -> T {
        self.server.change(|world| change(world.account(&self.number)))
    }

    /// Scans a QR code with this text.
    ///
    /// # Panics
    ///
    /// If the server did not offer that code, or not to a device that is still there.
    pub(crate) fn scan(&self, code: &str) {
        let code = code.rsplit_once('#').map_or(code, |(_, code)| code);
        let parts: Vec<&str> = code.split(',').collect();
        let [reference, _, identity, secret, ..] = parts[..] else { panic!("the QR code has too few parts") };
        let (identity, secret) =
            (BASE64_STANDARD.decode(identity).unwrap(), BASE64_STANDARD.decode(secret).unwrap());
        self.server.change(|world| {
            let line = world.offered.get(reference).cloned().expect("the QR code is not valid (any more)");
            pairing::used(world, &self.number, &line, identity, &secret);
        });
    }

    /// Types a pairing code, written with or without a hyphen, once a device has asked for one.
    pub(crate) async fn type_code(&self, code: &str) {
        let code: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
        let code = code.to_ascii_uppercase();
        let wanted = format!("a device that asks for a code for {}", self.number);
        let link = self.server.wait_for(&wanted, |world| world.code_links.get(&self.number).cloned()).await;
        let own = KeyPair::generate(&mut rand::rng());
        let (hidden, own_key) = (link.hidden_key.clone(), public(&own));
        // The key derivation is slow, so that the code is hard to guess.
        let (theirs, hidden_key) = tokio::task::spawn_blocking(move || {
            let theirs = PairCodeUtils::decrypt_primary_ephemeral_pub(&hidden, &code).unwrap();
            (theirs, PairCodeUtils::encrypt_ephemeral_pub(&own_key, &code))
        })
        .await
        .unwrap();
        let theirs = PublicKey::from_djb_public_key_bytes(&theirs).unwrap();
        self.server.change(|world| {
            let identity = world.account(&self.number).person.phone.identity();
            let link = world.code_links.get_mut(&self.number).expect("the device has gone");
            link.keys = Some((own, theirs));
            pairing::say_code_was_typed(link, &self.number, &hidden_key, &identity);
        });
    }

    /// Takes all devices off its list.
    pub(crate) fn unlink(&self) {
        self.end_streams("device_removed");
        self.change(|account| account.devices.clear());
    }

    /// Its devices are told that they have connected elsewhere.
    pub(crate) fn replace_stream(&self) {
        self.end_streams("replaced");
    }

    fn end_streams(&self, kind: &'static str) {
        for line in self.server.look(|world| world.lines_of(&self.number)) {
            line.say(conflict(kind));
            line.hang_up();
        }
    }

    /// Ends the connections of its devices without a message.
    pub(crate) fn drop_connection(&self) {
        for line in self.server.look(|world| world.lines_of(&self.number)) {
            line.hang_up();
        }
    }

    /// Its devices are refused when they log in next, or let in again.
    pub(crate) fn refuse_logins(&self, refusal: impl Into<Option<Refusal>>) {
        self.change(|account| account.refusal = refusal.into());
    }

    /// Its next message is refused with this code. Further calls refuse the messages after it.
    pub(crate) fn refuse_next_message(&self, code: u16) {
        self.change(|account| account.nacks.push_back(code));
    }

    /// Its messages arrive, but the server withholds its answers.
    pub(crate) fn withhold_acks(&self) {
        self.change(|account| account.withholds_acks = true);
    }

    /// The server sends the withheld answers, and withholds no more.
    pub(crate) fn give_acks(&self) {
        let withheld = self.change(|account| {
            account.withholds_acks = false;
            std::mem::take(&mut account.withheld)
        });
        for (line, ack) in withheld {
            line.say(ack);
        }
    }

    /// Makes it a phone of a business with hosted devices, whose signatures clients cannot check.
    pub(crate) fn belongs_to_a_hosted_business(&self) {
        self.change(|account| account.is_hosted = true);
    }

    /// The number of its devices' uploads of one-time keys.
    pub(crate) fn uploads_of_keys(&self) -> u32 {
        self.change(|account| account.devices.values().map(|device| device.uploads).sum())
    }

    /// The number of its devices' logins.
    pub(crate) fn logins(&self) -> u32 {
        self.change(|account| account.devices.values().map(|device| device.logins).sum())
    }

    /// Waits until all of its devices, at least one, are connected and have asked for their waiting stanzas.
    pub(crate) async fn expect_online(&self) {
        let wanted = format!("a device of {} to be online", self.number);
        let look = |account: &Account| {
            !account.devices.is_empty() && account.devices.values().all(|device| device.is_active)
        };
        self.server
            .wait_for(&wanted, |world| world.accounts.get(&self.number).is_some_and(look).then_some(()))
            .await;
    }

    /// Waits until none of its devices is connected.
    pub(crate) async fn expect_offline(&self) {
        let wanted = format!("the devices of {} to be offline", self.number);
        self.server.wait_for(&wanted, |world| world.lines_of(&self.number).is_empty().then_some(())).await;
    }

    /// Waits until no device is linked to it.
    pub(crate) async fn expect_unlinked(&self) {
        let wanted = format!("the devices of {} to be unlinked", self.number);
        let look = |account: &Account| account.devices.is_empty();
        self.server
            .wait_for(&wanted, |world| world.accounts.get(&self.number).is_some_and(look).then_some(()))
            .await;
    }

    /// Waits until a code was typed that the device had not shown.
    pub(crate) async fn expect_wrong_code(&self) {
        let wanted = format!("a wrong code on the phone {}", self.number);
        let look = |account: &Account| account.wrong_codes > 0;
        self.server
            .wait_for(&wanted, |world| world.accounts.get(&self.number).is_some_and(look).then_some(()))
            .await;
    }

    /// Waits until one of its devices acknowledges this person's message.
    pub(crate) async fn expect_receipt(&self, id: &str) {
        let wanted = format!("a receipt for {id} from {}", self.number);
        let look = |receipt: &super::world::HeardReceipt| receipt.number == self.number && receipt.id == id;
        self.server.wait_for(&wanted, |world| world.receipts.iter().any(look).then_some(())).await;
    }

    /// Waits until one of its devices says that this person's message was read.
    pub(crate) async fn expect_read(&self, id: &str) {
        let wanted = format!("a read mark for {id} from {}", self.number);
        let look = |receipt: &super::world::HeardReceipt| {
            receipt.number == self.number && receipt.id == id && receipt.is_read
        };
        self.server.wait_for(&wanted, |world| world.receipts.iter().any(look).then_some(())).await;
    }

    /// Waits until one of its devices shows that somebody types.
    pub(crate) async fn expect_typing(&self) {
        let wanted = format!("typing on {}", self.number);
        self.server.wait_for(&wanted, |world| world.typing.contains(&self.number).then_some(())).await;
    }
}

/// A person on WhatsApp.
#[derive(Clone)]
pub(crate) struct Contact {
    pub(super) server: Arc<Server>,
    pub(super) number: String,
}

impl Contact {
    fn person(&self) -> super::world::Person {
        self.server.look(|world| world.find(&self.number).cloned()).unwrap()
    }

    /// The address that hides the number, such as `100551188887777@lid`.
    pub(crate) fn lid(&self) -> String {
        format!("{}@lid", self.person().lid)
    }

    /// Is found under this number too, as people in Brazil are with and without a ninth digit.
    pub(crate) fn is_found_as(&self, alias: &str) {
        self.server.change(|world| {
            let person = world.people.iter_mut().find(|person| person.number == self.number).unwrap();
            person.alias = Some(alias.to_owned());
        });
    }

    /// The message is on the contact's phone.
    pub(crate) fn gets(&self, message: &SentMessage) {
        delivery::tell(&self.server, &self.person(), message, Fate::Delivered);
    }

    /// The contact has read it.
    pub(crate) fn reads(&self, message: &SentMessage) {
        delivery::tell(&self.server, &self.person(), message, Fate::Read);
    }

    /// The contact has listened to it.
    pub(crate) fn plays(&self, message: &SentMessage) {
        delivery::tell(&self.server, &self.person(), message, Fate::Played);
    }

    /// Writes to an account, whose devices get the message at once or when they connect; returns the
    /// message's id.
    pub(crate) async fn writes(&self, to: &Phone, text: &str) -> String {
        let message = wa::Message { conversation: Some(text.to_owned()), ..Default::default() };
        let id = format!("3A{:030X}", self.server.next_number());
        delivery::write(&self.server, &self.person(), &to.number, &id, "text", &message).await.unwrap();
        id
    }

    /// Sends an account an image that is kept by the server; returns the message's id.
    pub(crate) async fn sends_image(&self, to: &Phone, file: &super::media::StoredFile) -> String {
        let image = wa::message::ImageMessage {
            url: Some(file.url.clone()),
            direct_path: Some(file.path.clone()),
            mimetype: Some("image/jpeg".to_owned()),
            media_key: Some(file.key.to_vec()),
            file_sha256: Some(file.sha256.to_vec()),
            file_enc_sha256: Some(file.sealed_sha256.to_vec()),
            file_length: Some(file.length),
            ..Default::default()
        };
        let message = wa::Message { image_message: MessageField::some(image), ..Default::default() };
        let id = format!("3A{:030X}", self.server.next_number());
        delivery::write(&self.server, &self.person(), &to.number, &id, "media", &message).await.unwrap();
        id
    }
}
