//! `POST /{phone_number_id}/messages`: the order of checks, and the outcome of a send.
//!
//! Token, object, number and account state, messages per second, pair, schema, template, parameters, customer service
//! window; then the script; then acceptance. The order is inferred: the provider does not document it.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::AUTHORIZATION;
use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse, rt};
use serde_json::{Map, Value, json};

use super::body::{self, Recipient, RecipientKind};
use super::conversation;
use super::error::GraphError;
use super::log::Note;
use super::outbox::Event;
use super::pacing::Step;
use super::parameters;
use super::phone::PhoneNumber;
use super::progression::{PlannedAnswer, Progression};
use super::reply::{self, Verdict};
use super::script::{AsyncFailure, Occasion, Outcome};
use super::signs::ShownSign;
use super::template::StoredTemplate;
use super::timers::{Action, PendingAnswer};
use super::world::World;
use super::written::PersonMessage;
use clock::Timestamp;

/// The longest wait for a receiver that must get a message's status before its send is answered.
const BEFORE_REPLY: Duration = Duration::from_secs(5);

/// A send that has passed every check.
struct Draft {
    number: Arc<PhoneNumber>,
    recipient: Recipient,
    kind: &'static str,
    key: String,
    template: Option<Arc<StoredTemplate>>,
    /// The failure that the provider reports after it accepted the message.
    failure: Option<AsyncFailure>,
    body: Bytes,
}

/// The token of a request, in its head or in its address; `None` when there is none.
pub(super) fn bearer(request: &HttpRequest) -> Option<&str> {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
    let is_known = |scheme: &str| ["bearer", "oauth"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let token = given.filter(|(scheme, _)| is_known(scheme)).map(|(_, token)| token.trim());
    // No token has characters that an address escapes.
    token.or_else(|| request.query_string().split('&').find_map(|pair| pair.strip_prefix("access_token=")))
}

/// The handler.
pub(super) async fn send(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    let token = bearer(&request);
    let number = match world.recognize(token).and_then(|()| world.number(token, &id)) {
        Ok(number) => number,
        Err(error) => return reply::answer(&world, None, &Err(error)),
    };
    let parsed: Option<Map<String, Value>> = serde_json::from_slice(&body).ok();
    if let Some(fields) = parsed.as_ref().filter(|fields| fields.contains_key("status")) {
        return reply::answer(&world, Some(&number.account), &mark_as_read(&world, &number, fields));
    }
    let reply = match judge(&world, &number, parsed.as_ref(), body) {
        Ok(draft) => match world.script.outcome(&draft.occasion()) {
            None => answer(&world, &number, &accept(&world, &draft, None).await),
            Some(outcome) => carry_out(&world, draft, outcome).await,
        },
        Err(error) => answer(&world, &number, &Err(error)),
    };
    pause(world.latency()).await;
    reply
}

fn judge(
    world: &World,
    number: &Arc<PhoneNumber>,
    parsed: Option<&Map<String, Value>>,
    body: Bytes,
) -> Result<Draft, GraphError> {
    number.arrive(world.now(), &world.app)?;
    let recipient = parsed.map(body::recipient);
    if let Some(Ok(recipient)) = &recipient
        && !world.permits_pair(number, &recipient.known_as)
    {
        return Err(GraphError::because(131_056, "too many messages to this recipient in a short time"));
    }
    let fields = parsed.ok_or_else(|| GraphError::because(100, "the body is not a JSON object"))?;
    let checked = body::check(fields)?;
    let recipient = recipient.unwrap_or_else(|| body::recipient(fields))?;
    if [&recipient.address, &recipient.known_as].iter().any(|address| number.is_own(address)) {
        return Err(GraphError::new(131_021));
    }
    if number.upkeep().has_blocked(&recipient.known_as) {
        return Err(GraphError::new(130_403));
    }
    if let Some(id) =
        checked.content["id"].as_str().filter(|id| checked.is_media() && !world.media.lock().has(id))
    {
        let details = format!(
            "Param {}['id'] {id} is not a valid whatsapp business account media attachment ID",
            checked.kind
        );
        return Err(GraphError::because(100, details));
    }
    let template = (checked.kind == "template").then(|| template(number, checked.content)).transpose()?;
    if template.is_none()
        && recipient.kind != RecipientKind::Group
        && !world.windows.allow(number.index, &recipient.address, world.now())
    {
        let details = "Message failed to send because more than 24 hours have passed since the customer last \
                       replied to this number.";
        return Err(GraphError::because(131_047, details));
    }
    let is_lost = checked.kind == "reaction" && !conversation::is_of(checked.content, &recipient);
    Ok(Draft {
        number: Arc::clone(number),
        recipient,
        kind: checked.kind,
        key: checked.key.to_owned(),
        template,
        failure: is_lost.then_some(AsyncFailure { code: 131_009, title: None }),
        body,
    })
}

/// The named template, if it may be sent with the given parameters.
fn template(number: &PhoneNumber, content: &Value) -> Result<Arc<StoredTemplate>, GraphError> {
    let name = content["name"].as_str().unwrap_or_default();
    let language = content["language"]["code"].as_str().unwrap_or_default();
    let found = number.account.catalogue.read().find(name, language).cloned();
    let missing =
        |what: &str| GraphError::because(132_001, format!("template name ({name}) {what} in {language}"));
    let stored = found.ok_or_else(|| missing("does not exist"))?;
    match stored.template.status.as_str() {
        "APPROVED" => {}
        "PAUSED" => return Err(GraphError::new(132_015)),
        "DISABLED" => return Err(GraphError::new(132_016)),
        _ => return Err(missing("is not approved")),
    }
    let components = content["components"].as_array().map_or(&[][..], Vec::as_slice);
    parameters::check(&stored.shape, components)?;
    Ok(stored)
}

/// Marks a message as read, and may show its writer that somebody types an answer.
fn mark_as_read(world: &World, number: &PhoneNumber, fields: &Map<String, Value>) -> Verdict {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("messaging_product") != "whatsapp" {
        return Err(GraphError::because(100, "messaging_product is required and must be whatsapp"));
    }
    if text("status") != "read" || !text("message_id").starts_with("wamid.") {
        return Err(GraphError::because(131_009, "status must be read and message_id the id of a message"));
    }
    let typing = fields.get("typing_indicator").filter(|typing| !typing.is_null());
    if typing.is_some_and(|typing| typing["type"] != "text") {
        return Err(GraphError::because(100, "typing_indicator must be an object with the type text"));
    }
    let kinds = [Some("read"), typing.map(|_| "typing")];
    for kind in kinds.into_iter().flatten() {
        let (from, messages) = (number.id.clone(), vec![text("message_id").to_owned()]);
        world.signs.add(ShownSign { from: from.to_string(), kind, to: String::new(), messages });
    }
    Ok(json!({ "success": true }))
}

/// Answers, and counts the refusal if it is one.
fn answer(world: &World, number: &PhoneNumber, verdict: &Verdict) -> HttpResponse {
    if let Err(error) = verdict {
        number.refuse(Some(error.code));
    }
    reply::answer(world, Some(&number.account), verdict)
}

/// Counts and logs a message, and queues its receipts. From here on the message exists.
async fn accept(world: &World, draft: &Draft, failure: Option<AsyncFailure>) -> Verdict {
    let at = Timestamp::now();
    let failure = failure.or_else(|| draft.failure.clone());
    let to = &draft.recipient.address;
    let sequence = world.log.append(&Note {
        phone_number_id: &draft.number.id,
        to,
        kind: draft.kind,
        key: &draft.key,
        at,
        body: &draft.body,
    });
    draft.number.accept(to, &draft.key, at, world.now());
    let id = world.log.message_id(sequence, to);
    if failure.is_none() {
        await_answer(world, draft, sequence, &id);
    }
    let event = || Event {
        number: Arc::clone(&draft.number),
        id: id.clone(),
        to: draft.recipient.known_as.clone(),
        is_group: draft.recipient.kind == RecipientKind::Group,
        key: draft.key.clone(),
        category: draft.category(),
        is_reaction: draft.kind == "reaction",
        failure,
    };
    let template = draft.template.as_ref().map(|stored| stored.id);
    if let Some(template) = template.filter(|template| is_held(world, &draft.number, *template)) {
        let ended = world.pacings.hold(template, (sequence, event()));
        if let Some((sequence, event)) = ended {
            drop(world.outbox.promise(sequence, &draft.number, || event));
        }
        return Ok(draft.acceptance(&id, "held_for_quality_assessment"));
    }
    if let Some(posted) = world.outbox.promise(sequence, &draft.number, event) {
        // The send is answered whether or not the receiver answered.
        let _ = tokio::time::timeout(BEFORE_REPLY, posted).await;
    }
    Ok(draft.acceptance(&id, "accepted"))
}

/// Sets the timer of the recipient's answer, if there will be one and not too many answers are outstanding.
fn await_answer(world: &World, draft: &Draft, sequence: u64, id: &str) {
    let Draft { number, recipient, .. } = draft;
    let Some(target) = world.outbox.receiver_of(number).filter(|_| recipient.kind == RecipientKind::Phone)
    else {
        return;
    };
    let Some(planned) = Progression::answer(&target.options, sequence) else { return };
    let PlannedAnswer { after, place, is_late, is_doubled } = planned;
    let Some(content) = target.options.answers.get(place) else { return };
    if world.timers.len() < target.options.queue_limit {
        let message = PersonMessage::answer(recipient.known_as.clone(), id.to_owned(), content.clone());
        let answer = PendingAnswer { number: Arc::clone(number), message, is_late, is_doubled };
        world.timers.add(after, Action::Answer(Box::new(answer)));
    }
}

/// Whether a message of this template is held. The first held message starts the timer that ends the pacing.
fn is_held(world: &World, number: &PhoneNumber, template: u64) -> bool {
    match world.pacings.step(template) {
        Step::Passes => return false,
        Step::IsHeld => {}
        Step::BeginsHolding(within, fate) => {
            let action = Action::EndPacing(Arc::clone(&number.account), template, fate);
            world.timers.add(within, action);
        }
    }
    true
}

async fn carry_out(world: &Data<World>, draft: Draft, outcome: Outcome) -> HttpResponse {
    let number = Arc::clone(&draft.number);
    match outcome {
        Outcome::Error(error) => answer(world, &number, &Err(error.graph_error())),
        Outcome::Delay(span) => {
            let verdict = accept(world, &draft, None).await;
            pause(span.0).await;
            answer(world, &number, &verdict)
        }
        Outcome::HangThenAccept(span) => {
            // A separate task continues when the client gives up and its handler ends.
            let later = Data::clone(world);
            let task = rt::spawn(async move {
                pause(span.0).await;
                accept(&later, &draft, None).await
            });
            task.await.map_or_else(|_| reply::severed(), |verdict| answer(world, &number, &verdict))
        }
        Outcome::HangThenDrop(span) => {
            pause(span.0).await;
            number.refuse(None);
            reply::severed()
        }
        Outcome::DropReply(_) => {
            // The client must not learn that the send was accepted.
            let _ = accept(world, &draft, None).await;
            reply::severed()
        }
        Outcome::GarbledReply(_) => {
            let _ = accept(world, &draft, None).await;
            reply::garbled()
        }
        Outcome::Reset(_) => {
            number.refuse(None);
            reply::severed()
        }
        Outcome::BadGateway(_) => {
            number.refuse(None);
            reply::bad_gateway()
        }
        Outcome::AsyncFailed(failure) => {
            let verdict = accept(world, &draft, Some(failure)).await;
            answer(world, &number, &verdict)
        }
        Outcome::Status(status) => {
            number.set_status(&status.phone_number_status);
            let details = format!("the number is {}", status.phone_number_status);
            answer(world, &number, &Err(GraphError::because(133_010, details)))
        }
    }
}

/// Sleeps; a duration of zero sets no timer.
async fn pause(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

impl Draft {
    fn occasion(&self) -> Occasion<'_> {
        Occasion {
            phone_number_id: &self.number.id,
            to: &self.recipient.address,
            kind: self.kind,
            template: self.template.as_ref().map(|stored| stored.template.name.as_str()),
            key: &self.key,
        }
    }

    /// The price category that receipts name.
    fn category(&self) -> &'static str {
        match self.template.as_ref().map(|stored| stored.template.category.as_str()) {
            Some("MARKETING") => "marketing",
            Some("AUTHENTICATION") => "authentication",
            Some(_) => "utility",
            None => "service",
        }
    }

    fn acceptance(&self, id: &str, status: &str) -> Value {
        let Recipient { input, address, known_as, kind } = &self.recipient;
        let contact = match kind {
            RecipientKind::User => json!({ "input": input, "user_id": address }),
            RecipientKind::Phone | RecipientKind::Group => json!({ "input": input, "wa_id": known_as }),
        };
        let mut message = json!({ "id": id, "message_status": status });
        if *kind == RecipientKind::Group {
            message["group_id"] = address.as_str().into();
        }
        json!({ "messaging_product": "whatsapp", "contacts": [contact], "messages": [message] })
    }
}
