//! The server's side of the Noise handshake: XX with a new client, IK with a client that knows the server's
//! key.

use anyhow::{Context as _, Result, anyhow};
use whatsapp_rust::buffa::{Message as _, MessageField};
use whatsapp_rust::wacore::framing::encode_frame;
use whatsapp_rust::wacore::libsignal::protocol::KeyPair;
use whatsapp_rust::wacore::noise::{NoiseCipher, NoiseHandshake};
use whatsapp_rust::wacore_binary::consts::{NOISE_PATTERN_IK, NOISE_PATTERN_XX, WA_CONN_HEADER};
use whatsapp_rust::waproto::whatsapp as wa;
use whatsapp_rust::waproto::whatsapp::cert_chain::NoiseCertificate;
use whatsapp_rust::waproto::whatsapp::cert_chain::noise_certificate::Details;
use whatsapp_rust::waproto::whatsapp::handshake_message::{ClientHello, ServerHello};

use super::signal::public;

/// A handshake that succeeded.
pub(super) struct Secured {
    /// The key of the client's frames.
    pub(super) incoming: NoiseCipher,
    /// The key of the server's frames.
    pub(super) outgoing: NoiseCipher,
    /// The client's payload.
    pub(super) payload: wa::ClientPayload,
}

/// The results of a client's first message, each with the frame that answers it.
pub(super) enum Answered {
    /// The client knew the server's key.
    Resumed(Vec<u8>, Box<Secured>),
    /// The client has to finish.
    Met(Vec<u8>, Box<Meeting>),
}

/// A handshake of which the client's last message is still to come.
pub(super) struct Meeting {
    noise: NoiseHandshake,
    ephemeral: KeyPair,
}

fn key(bytes: Option<Vec<u8>>) -> Result<[u8; 32]> {
    bytes.context("a key is missing")?.try_into().map_err(|_| anyhow!("a key has not 32 bytes"))
}

/// A certificate chain without a valid signature: clients have to skip its check.
fn certificate(server: &KeyPair) -> Vec<u8> {
    let certificate = |serial: u32, issuer: u32, key: Vec<u8>| {
        let details = Details {
            serial: Some(serial),
            issuer_serial: Some(issuer),
            key: Some(key),
            not_before: Some(1_700_000_000),
            not_after: Some(4_000_000_000),
        };
        let details = Some(details.encode_to_vec());
        MessageField::some(NoiseCertificate { details, signature: Some(vec![0; 64]) })
    };
    let leaf = certificate(2, 1, public(server).to_vec());
    wa::CertChain { leaf, intermediate: certificate(1, 0, vec![0xCC; 32]) }.encode_to_vec()
}

/// Answers the first message of a client.
pub(super) fn answer(server: &KeyPair, frame: &[u8]) -> Result<Answered> {
    let hello =
        wa::HandshakeMessage::decode_from_slice(frame)?.client_hello.into_option().context("no hello")?;
    if hello.r#static.is_some() { resume(server, hello) } else { meet(server, hello) }
}

/// IK: e, es, s, ss, and the client's payload at once; then e, ee, se.
fn resume(server: &KeyPair, hello: ClientHello) -> Result<Answered> {
    let theirs = key(hello.ephemeral)?;
    let mut noise = NoiseHandshake::new(NOISE_PATTERN_IK, &WA_CONN_HEADER)?;
    noise.authenticate(&public(server));
    noise.authenticate(&theirs);
    noise.mix_shared_secret(server.private_key.serialize(), &theirs)?;
    let their_key = key(Some(noise.decrypt(&hello.r#static.unwrap_or_default())?))?;
    noise.mix_shared_secret(server.private_key.serialize(), &their_key)?;
    let payload = noise.decrypt(&hello.payload.context("no payload")?)?;
    let payload = wa::ClientPayload::decode_from_slice(&payload)?;

    let ephemeral = KeyPair::generate(&mut rand::rng());
    noise.authenticate(&public(&ephemeral));
    noise.mix_shared_secret(ephemeral.private_key.serialize(), &theirs)?;
    noise.mix_shared_secret(ephemeral.private_key.serialize(), &their_key)?;
    let sealed = noise.encrypt(&certificate(server))?;
    let reply = reply(&ephemeral, None, sealed)?;
    let (incoming, outgoing) = noise.finish()?;
    Ok(Answered::Resumed(reply, Box::new(Secured { incoming, outgoing, payload })))
}

/// XX: e; then e, ee, s, es.
fn meet(server: &KeyPair, hello: ClientHello) -> Result<Answered> {
    let theirs = key(hello.ephemeral)?;
    let mut noise = NoiseHandshake::new(NOISE_PATTERN_XX, &WA_CONN_HEADER)?;
    noise.authenticate(&theirs);
    let ephemeral = KeyPair::generate(&mut rand::rng());
    noise.authenticate(&public(&ephemeral));
    noise.mix_shared_secret(ephemeral.private_key.serialize(), &theirs)?;
    let own_key = noise.encrypt(&public(server))?;
    noise.mix_shared_secret(server.private_key.serialize(), &theirs)?;
    let sealed = noise.encrypt(&certificate(server))?;
    Ok(Answered::Met(reply(&ephemeral, Some(own_key), sealed)?, Box::new(Meeting { noise, ephemeral })))
}

fn reply(ephemeral: &KeyPair, own_key: Option<Vec<u8>>, sealed: Vec<u8>) -> Result<Vec<u8>> {
    let hello = ServerHello {
        ephemeral: Some(public(ephemeral).to_vec()),
        r#static: own_key,
        payload: Some(sealed),
        ..Default::default()
    };
    let message = wa::HandshakeMessage { server_hello: MessageField::some(hello), ..Default::default() };
    encode_frame(&message.encode_to_vec(), None)
}

impl Meeting {
    /// Takes the client's last message: s, se, and its payload.
    pub(super) fn finish(mut self, frame: &[u8]) -> Result<Secured> {
        let finish = wa::HandshakeMessage::decode_from_slice(frame)?.client_finish.into_option();
        let finish = finish.context("no finish")?;
        let their_key = key(Some(self.noise.decrypt(&finish.r#static.unwrap_or_default())?))?;
        self.noise.mix_shared_secret(self.ephemeral.private_key.serialize(), &their_key)?;
        let payload = self.noise.decrypt(&finish.payload.context("no payload")?)?;
        let payload = wa::ClientPayload::decode_from_slice(&payload)?;
        let (incoming, outgoing) = self.noise.finish()?;
        Ok(Secured { incoming, outgoing, payload })
    }
}
