//! One connection of a client: WebSocket, frames, encryption, and the client at the other end.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_websockets::{Message, ServerBuilder};
use whatsapp_rust::wacore::framing::{FrameDecoder, encode_frame};
use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::consts::WA_CONN_HEADER;
use whatsapp_rust::wacore_binary::{Node, OwnedNodeRef, marshal, util};
use whatsapp_rust::waproto::whatsapp as wa;

use super::companion::{Line, Order, batch_of};
use super::handshake::{Answered, Meeting, Secured, answer};
use super::refusal::Refusal;
use super::server::Server;
use super::stanza::{attribute, now};
use super::world::{DeviceName, HeardReceipt};
use super::{message, pairing, query};

/// The client at the other end.
#[derive(Clone)]
pub(super) struct Client {
    /// The linked device, if there is one yet.
    pub(super) name: Option<DeviceName>,
    pub(super) line: Line,
}

/// The state of the handshake.
enum Stage {
    Begin,
    Half(Box<Meeting>),
    Secured(Box<Session>),
}

struct Session {
    secured: Box<Secured>,
    /// The numbers of stanzas from the client and to it: each stanza is sealed with its number.
    received: u32,
    said: u32,
    /// Whether the server has identified the client.
    has_entered: bool,
    client: Client,
}

/// Takes connections until the runtime ends.
pub(super) async fn listen(server: Arc<Server>, listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let (orders, ordered) = mpsc::unbounded_channel();
            let line = Line { id: server.next_number(), orders };
            server.change(|world| world.lines.insert(line.id, line.clone()));
            // A connection may break at any time; a test that waits for it reports that.
            let _ = serve(&server, stream, &line, ordered).await;
            server.change(|world| world.forget(line.id));
        });
    }
}

async fn serve(
    server: &Arc<Server>,
    stream: TcpStream,
    line: &Line,
    mut ordered: mpsc::UnboundedReceiver<Order>,
) -> Result<()> {
    let (_, socket) = ServerBuilder::new().accept(stream).await?;
    let (mut sink, mut messages) = socket.split();
    let mut frames = FrameDecoder::new();
    let mut is_first = true;
    let mut stage = Stage::Begin;
    loop {
        tokio::select! {
            order = ordered.recv() => match (order, &mut stage) {
                (Some(Order::Say(stanza)), Stage::Secured(session)) => {
                    sink.send(Message::binary(session.seal(&stanza)?)).await?;
                }
                (Some(Order::Say(_)), Stage::Begin | Stage::Half(_)) => {}
                (Some(Order::HangUp) | None, _) => {
                    sink.close().await?;
                    return Ok(());
                }
            },
            message = messages.next() => {
                let message = message.context("the client has gone")??;
                if message.is_close() {
                    return Ok(());
                }
                if !message.is_binary() {
                    continue;
                }
                let bytes = message.into_payload();
                let header = if is_first && bytes.starts_with(&WA_CONN_HEADER) { WA_CONN_HEADER.len() } else { 0 };
                is_first = false;
                frames.feed(&bytes[header..]);
                while let Some(frame) = frames.decode_frame() {
                    if server.look(|world| world.is_silent) {
                        continue;
                    }
                    let (next, reply) = advance(server, stage, line, frame.to_vec()).await?;
                    stage = next;
                    if let Some(reply) = reply {
                        sink.send(Message::binary(reply)).await?;
                    }
                    if let Stage::Secured(session) = &mut stage && !session.has_entered {
                        session.has_entered = true;
                        session.client.name = enter(server, &session.secured.payload, line);
                    }
                }
            }
        }
    }
}

/// Handles one frame: in the handshake, or after it.
async fn advance(
    server: &Arc<Server>,
    stage: Stage,
    line: &Line,
    frame: Vec<u8>,
) -> Result<(Stage, Option<Vec<u8>>)> {
    match stage {
        Stage::Begin => Ok(match answer(&server.key, &frame)? {
            Answered::Resumed(reply, secured) => (Stage::Secured(Session::new(secured, line)), Some(reply)),
            Answered::Met(reply, meeting) => (Stage::Half(meeting), Some(reply)),
        }),
        Stage::Half(meeting) => {
            Ok((Stage::Secured(Session::new(Box::new(meeting.finish(&frame)?), line)), None))
        }
        Stage::Secured(mut session) => {
            let stanza = session.open(frame)?;
            hear(server, &session.client, stanza).await;
            Ok((Stage::Secured(session), None))
        }
    }
}

impl Session {
    fn new(secured: Box<Secured>, line: &Line) -> Box<Self> {
        let client = Client { name: None, line: line.clone() };
        Box::new(Self { secured, received: 0, said: 0, has_entered: false, client })
    }

    fn seal(&mut self, stanza: &Node) -> Result<Vec<u8>> {
        let sealed = self.secured.outgoing.encrypt_with_counter(self.said, &marshal(stanza)?)?;
        self.said += 1;
        encode_frame(&sealed, None)
    }

    fn open(&mut self, mut frame: Vec<u8>) -> Result<Node> {
        self.secured.incoming.decrypt_in_place_with_counter(self.received, &mut frame)?;
        self.received += 1;
        Ok(OwnedNodeRef::new(util::unpack(&frame)?.into_owned())?.to_owned_node())
    }
}

/// Lets a known device in, offers codes to a new one, or refuses.
fn enter(server: &Arc<Server>, payload: &wa::ClientPayload, line: &Line) -> Option<DeviceName> {
    let refuse = |refusal: Refusal| {
        line.say(refusal.stanza());
        line.hang_up();
    };
    if let Some(refusal) = server.look(|world| world.refusal) {
        refuse(refusal);
        return None;
    }
    let Some(number) = payload.username else {
        pairing::offer_codes(server, line);
        return None;
    };
    let device = u16::try_from(payload.device.unwrap_or_default()).unwrap();
    let name = DeviceName { number: number.to_string(), device };
    let entered = server.change(|world| {
        let account = world.accounts.get_mut(&name.number).ok_or(Refusal::LoggedOut)?;
        if let Some(refusal) = account.refusal {
            return Err(refusal);
        }
        let (_, lid) = account.addresses(device);
        let companion = account.devices.get_mut(&device).ok_or(Refusal::LoggedOut)?;
        if let Some(elder) = companion.line.replace(line.clone()) {
            elder.say(conflict("replaced"));
            elder.hang_up();
        }
        companion.is_active = false;
        companion.logins += 1;
        companion.mail.iter_mut().for_each(|mail| mail.is_sent = false);
        Ok(lid)
    });
    match entered {
        Ok(lid) => {
            line.say(NodeBuilder::new("success").attr("lid", lid).attr("t", now().to_string()).build());
            Some(name)
        }
        Err(refusal) => {
            refuse(refusal);
            None
        }
    }
}

/// The end of a stream: `replaced` by another, or `device_removed`.
pub(super) fn conflict(kind: &'static str) -> Node {
    let conflict = NodeBuilder::new("conflict").attr("type", kind).build();
    let error = NodeBuilder::new("stream:error");
    let error = if kind == "device_removed" { error.attr("code", "401") } else { error };
    error.children([conflict]).build()
}

/// Handles a stanza.
async fn hear(server: &Arc<Server>, client: &Client, stanza: Node) {
    match (stanza.tag.as_ref(), &client.name) {
        ("iq", _) => query::answer(server, client, &stanza),
        ("message", Some(name)) => message::take(server, name, &client.line, &stanza).await,
        ("receipt", Some(name)) => {
            let (id, kind) = (attribute(&stanza, "id"), attribute(&stanza, "type"));
            client.line.say(acknowledgement(&stanza));
            if kind == "retry" {
                server.fault(format!("{} could not read message {id}", name.number));
            }
            server.change(|world| {
                if let Some(companion) = world.companion(name) {
                    companion.acknowledge("message", &id);
                }
                let is_read = kind == "read";
                world.receipts.push(HeardReceipt { number: name.number.clone(), id, is_read });
            });
        }
        ("chatstate", Some(name)) => server.change(|world| world.typing.push(name.number.clone())),
        ("ack", Some(name)) => {
            let (id, class) = (attribute(&stanza, "id"), attribute(&stanza, "class"));
            server.change(|world| world.companion(name).map(|companion| companion.acknowledge(&class, &id)));
        }
        ("ib", Some(name)) => {
            if let Some(most) = batch_of(&stanza) {
                server.change(|world| world.companion(name).map(|companion| companion.hand_out(most)));
            }
        }
        ("xmlstreamend", _) => client.line.hang_up(),
        // Presence and the like.
        _ => {}
    }
}

/// Says that the server has a receipt.
fn acknowledgement(receipt: &Node) -> Node {
    let ack = NodeBuilder::new("ack").attr("class", "receipt").attr("id", attribute(receipt, "id"));
    ack.attr("from", attribute(receipt, "to")).build()
}
