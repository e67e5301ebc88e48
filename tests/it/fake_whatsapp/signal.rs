//! A phone as the Signal protocol sees it: keys, sessions, and what they encrypt.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Result, bail};
use rand::rngs::StdRng;
use whatsapp_rust::async_trait;
use whatsapp_rust::buffa::Message as _;
use whatsapp_rust::wacore::libsignal::protocol::{
    CiphertextMessage, Direction, GenericSignedPreKey as _, IdentityChange, IdentityKey, IdentityKeyPair,
    IdentityKeyStore, KeyPair, PreKeyBundle, PreKeyId, PreKeyRecord, PreKeySignalMessage, PreKeyStore,
    ProtocolAddress, SenderKeyDistributionMessage, SenderKeyName, SenderKeyRecord, SenderKeyStore,
    SessionRecord, SessionStore, SignalMessage, SignalProtocolError, SignedPreKeyId, SignedPreKeyRecord,
    SignedPreKeyStore, Timestamp, UsePQRatchet, group_decrypt, message_decrypt, message_encrypt,
    process_prekey_bundle, process_sender_key_distribution_message,
};
use whatsapp_rust::wacore::messages::MessageUtils;
use whatsapp_rust::wacore::types::jid::JidExt as _;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::{Jid, Node};
use whatsapp_rust::waproto::whatsapp as wa;

use super::stanza;

/// The result type of every store of the protocol.
type Answer<T> = std::result::Result<T, SignalProtocolError>;

/// The type that WhatsApp gives to keys of this curve.
const DJB: u8 = 5;
const SIGNED_KEY: u32 = 1;
const REGISTRATION: u32 = 4711;

/// A phone's keys and sessions, shared by everyone who holds a clone.
#[derive(Clone)]
pub(super) struct SignalPhone {
    state: Arc<Mutex<State>>,
    /// Held while a session's ratchet advances, so that no other task advances it at the same time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

struct State {
    identity: IdentityKeyPair,
    signed_key: KeyPair,
    signature: Vec<u8>,
    one_time_keys: HashMap<u32, KeyPair>,
    next_one_time_key: u32,
    sessions: HashMap<String, SessionRecord>,
    sender_keys: HashMap<String, SenderKeyRecord>,
}

/// The 32 bytes of a public key.
pub(super) fn public(pair: &KeyPair) -> [u8; 32] {
    pair.public_key.public_key_bytes().try_into().unwrap()
}

fn randomness() -> StdRng {
    rand::make_rng()
}

/// The name under which members of a group keep a sender's key.
fn sender_key(group: &Jid, sender: &Jid) -> SenderKeyName {
    SenderKeyName::from_parts(&group.to_string(), &sender.to_string())
}

/// WhatsApp pads each plaintext with up to 16 bytes, each of which says how many there are.
fn unpad(mut plaintext: Vec<u8>) -> Vec<u8> {
    let padding = plaintext.last().copied().unwrap_or_default();
    plaintext.truncate(plaintext.len().saturating_sub(padding.into()));
    plaintext
}

impl SignalPhone {
    pub(super) fn new() -> Self {
        let identity = IdentityKeyPair::generate(&mut randomness());
        let signed_key = KeyPair::generate(&mut randomness());
        let signature =
            identity.private_key().calculate_signature(&signed_key.public_key.serialize(), &mut randomness());
        let state = State {
            identity,
            signed_key,
            signature: signature.unwrap().to_vec(),
            one_time_keys: HashMap::new(),
            next_one_time_key: 1,
            sessions: HashMap::new(),
            sender_keys: HashMap::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), turn: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The identity with which it signs.
    pub(super) fn identity(&self) -> KeyPair {
        let state = self.state();
        KeyPair::new(*state.identity.public_key(), state.identity.private_key().clone())
    }

    /// The `<user>` of the answer to a client that begins a session, with a new one-time key.
    pub(super) fn bundle(&self, address: &Jid) -> Node {
        let mut state = self.state();
        let id = state.next_one_time_key;
        state.next_one_time_key += 1;
        let one_time_key = KeyPair::generate(&mut randomness());
        let one_time_value = public(&one_time_key);
        state.one_time_keys.insert(id, one_time_key);
        let key = |id: u32, value: [u8; 32]| {
            [stanza::bytes("id", id.to_be_bytes()[1..].to_vec()), stanza::bytes("value", value)]
        };
        let signature = stanza::bytes("signature", state.signature.clone());
        let signed_key = key(SIGNED_KEY, public(&state.signed_key)).into_iter().chain([signature]);
        NodeBuilder::new("user")
            .attr("jid", address)
            .children([
                stanza::bytes("registration", REGISTRATION.to_be_bytes()),
                stanza::bytes("type", [DJB]),
                stanza::bytes("identity", state.identity.public_key().public_key_bytes()),
                stanza::parent("skey", signed_key),
                stanza::parent("key", key(id, one_time_value)),
            ])
            .build()
    }

    /// Decrypts bytes of `sender` for this phone; `kind` is `pkmsg` or `msg`.
    pub(super) async fn decrypt(&self, sender: &Jid, kind: &str, ciphertext: &[u8]) -> Result<wa::Message> {
        let message = match kind {
            "pkmsg" => CiphertextMessage::PreKeySignalMessage(PreKeySignalMessage::try_from(ciphertext)?),
            "msg" => CiphertextMessage::SignalMessage(SignalMessage::try_from(ciphertext)?),
            other => bail!("unknown kind of encryption {other}"),
        };
        let _turn = self.turn.lock().await;
        let (mut sessions, mut identities, mut keys) = (self.clone(), self.clone(), self.clone());
        let read = message_decrypt(
            &message,
            &sender.to_protocol_address(),
            &mut sessions,
            &mut identities,
            &mut keys,
            self,
            &mut randomness(),
            UsePQRatchet::No,
        )
        .await?;
        Ok(wa::Message::decode_from_slice(&unpad(read.plaintext))?)
    }

    /// Stores a sender's key for a group, which comes with the first message there.
    pub(super) async fn take_sender_key(&self, group: &Jid, sender: &Jid, key: &[u8]) -> Result<()> {
        let key = SenderKeyDistributionMessage::try_from(key)?;
        let name = sender_key(group, sender);
        Ok(process_sender_key_distribution_message(&name, &key, &mut self.clone()).await?)
    }

    /// Decrypts bytes of `sender` for all members of a group.
    pub(super) async fn decrypt_group(
        &self,
        group: &Jid,
        sender: &Jid,
        ciphertext: &[u8],
    ) -> Result<wa::Message> {
        let plaintext = group_decrypt(ciphertext, &mut self.clone(), &sender_key(group, sender)).await?;
        Ok(wa::Message::decode_from_slice(&unpad(plaintext))?)
    }

    /// Encrypts a message for a device; `bundle` is asked for if there is no session with it yet.
    pub(super) async fn encrypt(
        &self,
        to: &Jid,
        bundle: impl FnOnce() -> Option<PreKeyBundle>,
        message: &wa::Message,
    ) -> Result<Node> {
        let address = to.to_protocol_address();
        let _turn = self.turn.lock().await;
        let (mut sessions, mut identities) = (self.clone(), self.clone());
        if !self.has_session(&address).await? {
            let Some(bundle) = bundle() else { bail!("{to} has uploaded no keys") };
            process_prekey_bundle(
                &address,
                &mut sessions,
                &mut identities,
                &bundle,
                &mut randomness(),
                UsePQRatchet::No,
            )
            .await?;
        }
        let plaintext = MessageUtils::pad_message_v2(message.encode_to_vec());
        let encrypted = message_encrypt(&plaintext, &address, &mut sessions, &mut identities).await?;
        let kind =
            if matches!(encrypted, CiphertextMessage::PreKeySignalMessage(_)) { "pkmsg" } else { "msg" };
        let encrypted = encrypted.serialize().to_vec();
        Ok(NodeBuilder::new("enc").attr("v", "2").attr("type", kind).bytes(encrypted).build())
    }
}

#[async_trait]
impl IdentityKeyStore for SignalPhone {
    async fn get_identity_key_pair(&self) -> Answer<IdentityKeyPair> {
        Ok(self.state().identity.clone())
    }

    async fn get_local_registration_id(&self) -> Answer<u32> {
        Ok(REGISTRATION)
    }

    async fn save_identity(&mut self, _: &ProtocolAddress, _: &IdentityKey) -> Answer<IdentityChange> {
        Ok(IdentityChange::NewOrUnchanged)
    }

    async fn is_trusted_identity(&self, _: &ProtocolAddress, _: &IdentityKey, _: Direction) -> Answer<bool> {
        Ok(true)
    }

    async fn get_identity(&self, _: &ProtocolAddress) -> Answer<Option<IdentityKey>> {
        Ok(None)
    }
}

#[async_trait]
impl PreKeyStore for SignalPhone {
    async fn get_pre_key(&self, id: PreKeyId) -> Answer<PreKeyRecord> {
        let state = self.state();
        let key = state.one_time_keys.get(&id.into()).ok_or(SignalProtocolError::InvalidPreKeyId)?;
        Ok(PreKeyRecord::new(id, key))
    }

    async fn save_pre_key(&mut self, _: PreKeyId, _: &PreKeyRecord) -> Answer<()> {
        Ok(())
    }

    async fn remove_pre_key(&mut self, id: PreKeyId) -> Answer<()> {
        self.state().one_time_keys.remove(&id.into());
        Ok(())
    }
}

#[async_trait]
impl SignedPreKeyStore for SignalPhone {
    async fn get_signed_pre_key(&self, id: SignedPreKeyId) -> Answer<SignedPreKeyRecord> {
        let state = self.state();
        Ok(SignedPreKeyRecord::new(id, Timestamp::from_epoch_millis(0), &state.signed_key, &state.signature))
    }

    async fn save_signed_pre_key(&mut self, _: SignedPreKeyId, _: &SignedPreKeyRecord) -> Answer<()> {
        Ok(())
    }
}

#[async_trait]
impl SessionStore for SignalPhone {
    async fn load_session(&self, address: &ProtocolAddress) -> Answer<Option<SessionRecord>> {
        Ok(self.state().sessions.get(address.as_str()).cloned())
    }

    async fn has_session(&self, address: &ProtocolAddress) -> Answer<bool> {
        Ok(self.state().sessions.contains_key(address.as_str()))
    }

    async fn store_session(&mut self, address: &ProtocolAddress, session: SessionRecord) -> Answer<()> {
        self.state().sessions.insert(address.as_str().to_owned(), session);
        Ok(())
    }
}

#[async_trait]
impl SenderKeyStore for SignalPhone {
    async fn store_sender_key(&mut self, name: &SenderKeyName, key: SenderKeyRecord) -> Answer<()> {
        self.state().sender_keys.insert(name.cache_key().to_owned(), key);
        Ok(())
    }

    async fn load_sender_key(&self, name: &SenderKeyName) -> Answer<Option<SenderKeyRecord>> {
        Ok(self.state().sender_keys.get(name.cache_key()).cloned())
    }
}
