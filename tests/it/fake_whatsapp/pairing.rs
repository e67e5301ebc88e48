//! How a device is linked: with a QR code that is scanned, or a code that is typed.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use whatsapp_rust::buffa::Message as _;
use whatsapp_rust::wacore::crypto::{hkdf_sha256, hkdf_sha256_into};
use whatsapp_rust::wacore::libsignal::crypto::aes_256_gcm_decrypt;
use whatsapp_rust::wacore::libsignal::protocol::{KeyPair, PublicKey};
use whatsapp_rust::wacore_binary::Node;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::waproto::whatsapp as wa;

use super::companion::{Companion, Line};
use super::passkey;
use super::server::Server;
use super::signal::public;
use super::stanza::{self, SERVER, attribute, bytes, content_of, parent};
use super::world::{Account, DeviceName, World};

/// How many QR codes a device gets, to show one after the other.
const CODES: usize = 6;
/// The id of the server's query that says that the device was accepted.
const ACCEPTED: &str = "pair-success";
/// The beginnings of signed bytes: by the account, by the device, by the account of a business with hosted
/// devices.
const BY_ACCOUNT: [u8; 2] = [6, 0];
const BY_DEVICE: [u8; 2] = [6, 1];
const BY_HOSTED_ACCOUNT: [u8; 2] = [6, 5];

/// A device that asked for a pairing code and waits until a person types it.
#[derive(Clone)]
pub(super) struct CodeLink {
    pub(super) line: Line,
    /// The id of the exchange on both sides.
    pub(super) reference: Vec<u8>,
    /// The device's ephemeral key, hidden by the code.
    pub(super) hidden_key: Vec<u8>,
    /// The ephemeral keys of the phone and of the device, once the code was typed.
    pub(super) keys: Option<(KeyPair, PublicKey)>,
}

/// A device that the phone has accepted and that has to sign in its turn.
pub(super) struct Engagement {
    name: DeviceName,
    /// The device's public identity key.
    identity: Vec<u8>,
    /// The signed bytes.
    details: Vec<u8>,
}

/// Offers codes to an unknown device.
pub(super) fn offer_codes(server: &Server, line: &Line) {
    let codes: Vec<String> = (0..CODES).map(|_| format!("2@{:032x}", rand::random::<u128>())).collect();
    server.change(|world| {
        world.offered.extend(codes.iter().map(|code| (code.clone(), line.clone())));
    });
    let codes = codes.into_iter().map(|code| bytes("ref", code));
    line.say(stanza::order("pair-device", parent("pair-device", codes)));
}

/// Answers a device that asks for a pairing code, or that answers to the phone's part of it.
pub(super) fn answer_code(server: &Arc<Server>, line: &Line, query: &Node, registration: &Node) -> Node {
    let number = attribute(registration, "jid").split('@').next().unwrap_or_default().to_owned();
    match attribute(registration, "stage").as_str() {
        "companion_hello" => {
            if let Some((code, text)) = server.look(|world| world.code_refusal) {
                return stanza::error(query, code, text);
            }
            let reference = format!("3@{:032x}", rand::random::<u128>()).into_bytes();
            let hidden = content_of(registration, "link_code_pairing_wrapped_companion_ephemeral_pub");
            let Some(hidden_key) = hidden else { return stanza::error(query, 400, "bad-request") };
            let link = CodeLink { line: line.clone(), reference: reference.clone(), hidden_key, keys: None };
            server.change(|world| world.code_links.insert(number, link));
            let answer = NodeBuilder::new("link_code_companion_reg").attr("stage", "companion_hello");
            stanza::result(query, [answer.children([bytes("link_code_pairing_ref", reference)]).build()])
        }
        _ => {
            let finished = server.change(|world| finish_code(world, &number, registration));
            // A phone that cannot open the device's key tells only its owner.
            if finished.is_err() {
                server.change(|world| world.account(&number).wrong_codes += 1);
            }
            stanza::result(query, [])
        }
    }
}

/// The phone opens the device's key, and so gets their shared secret.
fn finish_code(world: &mut World, number: &str, registration: &Node) -> Result<()> {
    let link = world.code_links.get(number).cloned().context("nobody asked for a code")?;
    let (own, theirs) = link.keys.context("nobody typed the code")?;
    let reference = content_of(registration, "link_code_pairing_ref").context("no reference")?;
    ensure!(reference == link.reference, "another reference");
    let sealed = content_of(registration, "link_code_pairing_wrapped_key_bundle").context("no bundle")?;
    let identity = content_of(registration, "companion_identity_public").context("no identity")?;

    let shared = own.private_key.calculate_agreement(&theirs)?;
    let (salt, sealed) = sealed.split_first_chunk::<32>().context("no salt")?;
    let (nonce, sealed) = sealed.split_first_chunk::<12>().context("no nonce")?;
    let mut key = [0; 32];
    hkdf_sha256_into(&shared, Some(salt), b"link_code_pairing_key_bundle_encryption_key", &mut key)?;
    let mut bundle = Vec::new();
    aes_256_gcm_decrypt(&key, nonce, b"", sealed, &mut bundle)?;

    let phone = world.account(number).person.phone.identity();
    let [device, account, random] = [&bundle[..32], &bundle[32..64], &bundle[64..]];
    ensure!(device == identity && account == public(&phone), "the bundle is about others");
    let agreed = phone.private_key.calculate_agreement(&PublicKey::from_djb_public_key_bytes(&identity)?)?;
    let secret = hkdf_sha256(&[&shared[..], &agreed, random].concat(), 32, None, b"adv_secret")?;
    used(world, number, &link.line, identity, &secret);
    Ok(())
}

/// The phone has used a device's code: it accepts the device, unless its account has a passkey.
pub(super) fn used(world: &mut World, number: &str, line: &Line, identity: Vec<u8>, secret: &[u8]) {
    match world.account(number).passkey.clone() {
        Some(required) => passkey::ask(world, number, line, required),
        None => accept(world, number, line, identity, secret),
    }
}

/// The phone accepts a device: it signs the device's identity, and proves that it knows the device's secret.
pub(super) fn accept(world: &mut World, number: &str, line: &Line, identity: Vec<u8>, secret: &[u8]) {
    let account = world.account(number);
    account.last_device += 1;
    let device = account.last_device;
    let (address, lid) = account.addresses(device);
    let details = wa::ADVDeviceIdentity {
        raw_id: Some(1),
        timestamp: Some(stanza::now()),
        key_index: Some(device.into()),
        ..Default::default()
    }
    .encode_to_vec();
    let identity_of_account = sign(account, &details, &identity);
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(&identity_of_account);
    let proven = wa::ADVSignedDeviceIdentityHMAC {
        hmac: Some(mac.finalize().into_bytes().to_vec()),
        details: Some(identity_of_account),
        ..Default::default()
    };
    let properties = wa::ClientPairingProps { is_chat_db_lid_migrated: Some(true), ..Default::default() };
    let success = [
        bytes("device-identity", proven.encode_to_vec()),
        bytes("client-props", properties.encode_to_vec()),
        NodeBuilder::new("biz").attr("name", "Pombo e Filhos").build(),
        NodeBuilder::new("platform").attr("name", "android").build(),
        NodeBuilder::new("device").attr("jid", address).attr("lid", lid).build(),
    ];
    let name = DeviceName { number: number.to_owned(), device };
    world.engagements.insert(line.id, Engagement { name, identity, details });
    world.offered.retain(|_, offered| offered.id != line.id);
    world.code_links.remove(number);
    line.say(stanza::order(ACCEPTED, parent("pair-success", success)));
}

/// The bytes of a device that the phone signs, with its signature.
fn sign(account: &Account, details: &[u8], identity: &[u8]) -> Vec<u8> {
    let phone = account.person.phone.identity();
    let prefix = if account.is_hosted { BY_HOSTED_ACCOUNT } else { BY_ACCOUNT };
    let signed = [&prefix[..], details, identity].concat();
    let signature = phone.private_key.calculate_signature(&signed, &mut rand::rng()).unwrap();
    let signed = wa::ADVSignedDeviceIdentity {
        details: Some(details.to_vec()),
        account_signature_key: Some(public(&phone).to_vec()),
        account_signature: Some(signature.to_vec()),
        ..Default::default()
    };
    signed.encode_to_vec()
}

/// Handles the answer of an accepted device: it has signed, or rejects the phone.
pub(super) fn conclude(server: &Server, line: &Line, answer: &Node) {
    if attribute(answer, "id") != ACCEPTED {
        return;
    }
    let Some(engagement) = server.change(|world| world.engagements.remove(&line.id)) else { return };
    let Some(signed) = answer.get_optional_child("pair-device-sign") else { return };
    if let Err(fault) = verify(server, &engagement, signed) {
        server.fault(format!("the device's signature: {fault:#}"));
        return;
    }
    server.change(|world| {
        let Engagement { name, identity, .. } = engagement;
        world.account(&name.number).devices.insert(name.device, Companion::new(identity));
    });
    // The device has to connect again under its new identity.
    line.say(NodeBuilder::new("stream:error").attr("code", "515").build());
    line.hang_up();
}

fn verify(server: &Server, engagement: &Engagement, signed: &Node) -> Result<()> {
    let signed = content_of(signed, "device-identity").context("the signed identity is missing")?;
    let signed = wa::ADVSignedDeviceIdentity::decode_from_slice(&signed)?;
    let phone = server.change(|world| world.account(&engagement.name.number).person.phone.identity());
    let text = [&BY_DEVICE[..], &engagement.details, &engagement.identity, &public(&phone)].concat();
    let key = PublicKey::from_djb_public_key_bytes(&engagement.identity)?;
    let signature = signed.device_signature.unwrap_or_default();
    ensure!(key.verify_signature(&text, &signature), "the signature is not the device's");
    Ok(())
}

/// Tells a device that its codes are no longer valid, so that it shows others.
pub(super) fn refresh_codes(world: &World) {
    let lines: HashMap<u64, &Line> = world.offered.values().map(|line| (line.id, line)).collect();
    for line in lines.into_values() {
        let notification = NodeBuilder::new("notification")
            .attr("type", "companion_reg_refresh")
            .attr("from", SERVER)
            .attr("id", format!("refresh-{}", line.id))
            .attr("t", stanza::now().to_string());
        line.say(notification.children([NodeBuilder::new("pair-device-rotate-qr").build()]).build());
    }
}

/// The phone tells the device that the code was typed, with its own ephemeral key hidden by that code.
pub(super) fn say_code_was_typed(link: &CodeLink, number: &str, hidden_key: &[u8], identity: &KeyPair) {
    let registration = NodeBuilder::new("link_code_companion_reg")
        .attr("jid", format!("{number}@{SERVER}"))
        .attr("stage", "primary_hello")
        .children([
            bytes("link_code_pairing_wrapped_primary_ephemeral_pub", hidden_key),
            bytes("primary_identity_pub", public(identity)),
            bytes("link_code_pairing_ref", link.reference.clone()),
        ]);
    let notification = NodeBuilder::new("notification")
        .attr("type", "link_code_companion_reg")
        .attr("from", SERVER)
        .attr("id", format!("typed-{}", link.line.id))
        .attr("t", stanza::now().to_string());
    link.line.say(notification.children([registration.build()]).build());
}
