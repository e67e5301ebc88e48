//! Accounts that are protected by a passkey: WhatsApp asks for it after the code, and phone and device then show a code
//! that their owner compares.

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use whatsapp_rust::buffa::Message as _;
use whatsapp_rust::wacore::libsignal::crypto::aes_256_gcm_decrypt;
use whatsapp_rust::wacore::libsignal::protocol::{KeyPair, PublicKey};
use whatsapp_rust::wacore::shortcake::ShortcakeUtils;
use whatsapp_rust::wacore_binary::Node;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::waproto::whatsapp as wa;

use super::companion::Line;
use super::pairing;
use super::phone::Phone;
use super::server::Server;
use super::signal::public;
use super::stanza::{self, SERVER, bytes, content, content_of};
use super::world::World;

/// The passkey of an account.
#[derive(Clone)]
pub(super) struct Passkey {
    id: [u8; 8],
    /// A stand-in for a private key.
    secret: [u8; 32],
    /// The time that WhatsApp announces for the wait.
    seconds: u64,
}

/// A device that a phone has accepted and that has to show its account's passkey.
pub(super) struct Gate {
    pub(super) line: Line,
    passkey: Passkey,
    challenge: String,
    /// The id of the exchange on both sides.
    reference: String,
    /// The phone's ephemeral keys.
    keys: KeyPair,
    nonce: [u8; 32],
    /// The device's first value, once its passkey was accepted.
    prologue: Option<Prologue>,
    /// The code that both show.
    code: Option<String>,
    /// The identity of the device and the secret that it shares with the phone, once the code was compared.
    request: Option<(Vec<u8>, Vec<u8>)>,
}

struct Prologue {
    /// The bytes as sent, to compare with the device's commitment.
    identity: Vec<u8>,
    commitment: Vec<u8>,
}

impl Passkey {
    fn signature(&self, client_data: &[u8]) -> Vec<u8> {
        Sha256::digest([&self.secret[..], client_data].concat()).to_vec()
    }
}

/// Asks the device for the passkey of the account.
pub(super) fn ask(world: &mut World, number: &str, line: &Line, passkey: Passkey) {
    let challenge = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
    let options = json!({
        "challenge": challenge,
        "rpId": "whatsapp.com",
        "timeout": passkey.seconds * 1_000,
        "userVerification": "required",
        "allowCredentials": [{"type": "public-key", "id": URL_SAFE_NO_PAD.encode(passkey.id)}],
    });
    let gate = Gate {
        line: line.clone(),
        passkey,
        challenge,
        reference: format!("4@{:032x}", rand::random::<u128>()),
        keys: KeyPair::generate(&mut rand::rng()),
        nonce: rand::random(),
        prologue: None,
        code: None,
        request: None,
    };
    world.gates.insert(number.to_owned(), gate);
    world.offered.retain(|_, offered| offered.id != line.id);
    let options = bytes("passkey_request_options", options.to_string());
    line.say(notification("passkey_prologue_request", line, options));
}

fn notification(kind: &'static str, line: &Line, child: Node) -> Node {
    let notification = NodeBuilder::new("notification")
        .attr("type", kind)
        .attr("from", SERVER)
        .attr("id", format!("{kind}-{}", line.id))
        .attr("t", stanza::now().to_string());
    notification.children([child]).build()
}

/// Answers a device's stanza at the gate; `None` if the stanza does not concern the gate.
pub(super) fn answer(server: &Server, line: &Line, query: &Node, child: &Node) -> Option<Node> {
    let taken = server.change(|world| {
        let gate = world.gates.values_mut().find(|gate| gate.line.id == line.id)?;
        Some(gate.take(child))
    })?;
    Some(match taken {
        Ok(children) => stanza::result(query, children),
        Err(fault) => stanza::error(query, 403, &format!("{fault:#}")),
    })
}

impl Gate {
    /// Handles the next step of the device.
    fn take(&mut self, child: &Node) -> Result<Option<Node>> {
        match child.tag.as_ref() {
            "ref" => return Ok(Some(bytes("ref", self.reference.clone()))),
            "passkey_prologue" => self.begin(child)?,
            "companion_nonce" => self.reveal(&content(child))?,
            "encrypted_pairing_request" => self.finish(&content(child))?,
            other => bail!("a device at the gate does not say {other}"),
        }
        Ok(None)
    }

    fn begin(&mut self, prologue: &Node) -> Result<()> {
        let credential = content_of(prologue, "credential_id").context("no credential")?;
        ensure!(credential == self.passkey.id, "unknown credential");
        let assertion = content_of(prologue, "webauthn_assertion").context("no assertion")?;
        let assertion: Value = serde_json::from_slice(&assertion)?;
        let field = |name: &str| URL_SAFE_NO_PAD.decode(assertion["response"][name].as_str().unwrap_or("*"));
        let client_data = field("clientDataJSON")?;
        ensure!(field("signature")? == self.passkey.signature(&client_data), "bad-signature");
        let said: Value = serde_json::from_slice(&client_data)?;
        ensure!(said["challenge"] == self.challenge.as_str(), "another challenge");
        let payload = content_of(prologue, "prologue_payload").context("no payload")?;
        let payload = wa::ProloguePayload::decode_from_slice(&payload)?;
        let commitment = payload.commitment.into_option().and_then(|commitment| commitment.hash);
        self.prologue = Some(Prologue {
            identity: payload.companion_ephemeral_identity.context("no identity")?,
            commitment: commitment.context("no commitment")?,
        });
        Ok(())
    }

    /// The device reveals the value of its commitment, after it has the phone's value.
    fn reveal(&mut self, nonce: &[u8]) -> Result<()> {
        let prologue = self.prologue.as_ref().context("there was no prologue")?;
        let nonce: [u8; 32] = nonce.try_into()?;
        let hash = ShortcakeUtils::commitment_hash(&prologue.identity, &nonce);
        ensure!(prologue.commitment == hash, "the device committed itself to another value");
        let code = ShortcakeUtils::derive_verification_code(&nonce, &public(&self.keys), &self.nonce);
        self.code = Some(format!("{}-{}", &code[..4], &code[4..]));
        Ok(())
    }

    /// The person has compared the code, and the device sends its identity.
    fn finish(&mut self, wrapped: &[u8]) -> Result<()> {
        let prologue = self.prologue.as_ref().context("there was no prologue")?;
        ensure!(self.code.is_some(), "there is no code yet");
        let identity = wa::CompanionEphemeralIdentity::decode_from_slice(&prologue.identity)?;
        let theirs = identity.public_key.context("no key")?;
        let shared =
            self.keys.private_key.calculate_agreement(&PublicKey::from_djb_public_key_bytes(&theirs)?)?;
        let device_type = identity.device_type.context("no type of device")?;
        let key =
            ShortcakeUtils::derive_encryption_key_from_shared_secret(&shared, device_type, &self.reference)?;
        let wrapped = wa::EncryptedPairingRequest::decode_from_slice(wrapped)?;
        let nonce: [u8; 12] = wrapped.iv.context("no nonce")?.as_slice().try_into()?;
        let mut request = Vec::new();
        let sealed = wrapped.encrypted_payload.context("nothing is sealed")?;
        aes_256_gcm_decrypt(&key, &nonce, b"", &sealed, &mut request)?;
        let request = wa::PairingRequest::decode_from_slice(&request)?;
        let identity = request.companion_identity_key.context("no identity")?;
        self.request = Some((identity, request.adv_secret.context("no secret")?));
        Ok(())
    }
}

impl Phone {
    /// Its account is protected by a passkey from now on: WhatsApp waits this long for it.
    pub(crate) fn has_passkey(&self, seconds: u64) {
        let passkey = Passkey { id: rand::random(), secret: rand::random(), seconds };
        self.server.change(|world| world.account(&self.number).passkey = Some(passkey));
    }

    /// A browser's form of the passkey's answer to a challenge.
    pub(crate) fn signs(&self, challenge: &Value) -> Value {
        let passkey = self.server.change(|world| world.account(&self.number).passkey.clone()).unwrap();
        let client_data = json!({
            "type": "webauthn.get",
            "challenge": challenge["challenge"],
            "origin": "https://web.whatsapp.com",
        });
        let client_data = client_data.to_string();
        let id = URL_SAFE_NO_PAD.encode(passkey.id);
        json!({
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(&client_data),
                "authenticatorData": URL_SAFE_NO_PAD.encode([0; 37]),
                "signature": URL_SAFE_NO_PAD.encode(passkey.signature(client_data.as_bytes())),
            },
        })
    }

    /// Does the phone's part after the passkey was accepted, and returns the code that it shows.
    pub(crate) async fn shows_code(&self) -> String {
        let wanted = format!("a passkey for {}", self.number);
        let find = |world: &World| {
            let gate = world.gates.get(&self.number)?;
            gate.prologue.as_ref()?;
            let public_key = Some(public(&gate.keys).to_vec());
            let identity = wa::PrimaryEphemeralIdentity { public_key, nonce: Some(gate.nonce.to_vec()) };
            Some((gate.line.clone(), identity.encode_to_vec()))
        };
        let (line, identity) = self.server.wait_for(&wanted, find).await;
        line.say(notification("crsc_continuation", &line, bytes("primary_ephemeral_identity", identity)));
        let wanted = format!("a code on the phone {}", self.number);
        self.server.wait_for(&wanted, |world| world.gates.get(&self.number)?.code.clone()).await
    }

    /// Its owner confirms the code, after it was confirmed at the device.
    pub(crate) async fn confirms_code(&self) {
        let wanted = format!("the device of {} to confirm", self.number);
        let confirmed = |world: &World| world.gates.get(&self.number)?.request.as_ref().map(|_| ());
        self.server.wait_for(&wanted, confirmed).await;
        self.server.change(|world| {
            let gate = world.gates.remove(&self.number).expect("the device has gone");
            let (identity, secret) = gate.request.expect("the gate has a request");
            pairing::accept(world, &self.number, &gate.line, identity, &secret);
        });
    }
}
