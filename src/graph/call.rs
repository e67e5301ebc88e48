//! A request to the door whose caller is known.

use std::sync::Arc;

use actix_web::HttpMessage as _;
use actix_web::HttpRequest;
use actix_web::http::header::HOST;
use actix_web::web::{Bytes, Data};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::GraphState;
use super::form::UploadForm;
use super::input::{self, DoorBody, GivenFields};
use super::key::{self, ACCESS_TOKEN};
use super::path::GraphPath;
use super::refusal::DoorRefusal;
use crate::domain::channel::Channel;
use crate::engine::graph::{GraphAccount, GraphDoor};
use crate::engine::{Caller, Who};
use crate::surface::body::{Incoming, Peer, Pieces, Sender};
use crate::surface::multipart::Multipart;

/// The parameter by which a caller proves that it knows the app secret.
pub(super) const PROOF: &str = "appsecret_proof";

/// A request whose caller is known.
pub(super) struct Call {
    pub(super) state: Data<GraphState>,
    pub(super) request: HttpRequest,
    pub(super) path: GraphPath,
    pub(super) caller: Caller,
    query: Vec<(String, String)>,
    /// The key, by which a proof is checked.
    key: String,
    proof: Option<String>,
    input: DoorBody,
}

impl Call {
    /// Finds the caller: by the key in the head, or in a form.
    pub(super) async fn enter(request: HttpRequest, body: Incoming) -> Result<Self, DoorRefusal> {
        let state = request.app_data::<Data<GraphState>>().ok_or_else(DoorRefusal::internal)?.clone();
        let query = pairs(request.query_string());
        let in_head = key::in_head(request.headers(), &query);
        let (key, input) = match in_head {
            Some(key) => (Some(key), DoorBody::Unread(body)),
            None => in_form(&state, &request, body).await?,
        };
        let key = key.ok_or_else(|| {
            DoorRefusal::bad_key("give an API key with the scope `graph`, as `Authorization: Bearer KEY`")
        })?;
        let caller = key::admit(&state, &request, &key).await?;
        let path = GraphPath::of(request.path());
        let proof = query.iter().find(|(name, _)| name == PROOF).map(|(_, value)| value.as_str());
        let proof = proof.or_else(|| input.text(PROOF)).map(str::to_owned);
        Ok(Self { state, request, path, caller, query, key, proof, input })
    }

    /// The objects that the caller may see.
    pub(super) fn door(&self) -> GraphDoor<'_> {
        GraphDoor::new(&self.state.engine, self.caller.company_id, self.caller.channels.clone())
    }

    /// The channel with this id of a phone number.
    ///
    /// # Errors
    ///
    /// 100 with the subcode 33 when the caller has none; 190 when its proof is wrong.
    pub(super) async fn number(&self, id: &str) -> Result<Arc<Channel>, DoorRefusal> {
        let channel = self.door().number(id).await?.ok_or_else(|| self.unknown(id))?;
        self.check_proof(&channel).await?;
        Ok(channel)
    }

    /// The account with this id.
    ///
    /// # Errors
    ///
    /// As [`Call::number`].
    pub(super) async fn account(&self, id: &str) -> Result<GraphAccount, DoorRefusal> {
        let account = self.door().account(id).await?.ok_or_else(|| self.unknown(id))?;
        if let Some(channel) = account.channels.first() {
            self.check_proof(channel).await?;
        }
        Ok(account)
    }

    pub(super) async fn check_proof(&self, channel: &Channel) -> Result<(), DoorRefusal> {
        let Some(proof) = &self.proof else { return Ok(()) };
        match self.door().is_proof(channel, proof, &self.key).await? {
            true => Ok(()),
            false => Err(DoorRefusal::bad_key(
                "`appsecret_proof` was not made of this key and the app secret of the channel, or the secret of a webhook",
            )),
        }
    }

    /// The refusal of an id that the caller does not have: the same for those of others and for those of nobody.
    pub(super) fn unknown(&self, id: &str) -> DoorRefusal {
        DoorRefusal::unknown(self.verb(), id)
    }

    /// The refusal of what the door does not offer.
    pub(super) fn unsupported(&self) -> DoorRefusal {
        DoorRefusal::unknown(self.verb(), self.path.at(0))
    }

    fn verb(&self) -> &'static str {
        match self.request.method().as_str() {
            "POST" => "post",
            "DELETE" => "delete",
            _ => "get",
        }
    }

    /// A parameter of the address that is not blank.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let value = self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// The parameters of the address.
    pub(super) fn parameters(&self) -> &[(String, String)] {
        &self.query
    }

    /// The name of the caller in the record of changes and on sends.
    pub(super) fn who(&self) -> Who {
        Who::Key(self.caller.key_name.to_string())
    }

    /// The fields of the body, with those of the address below them; and the bytes of the body. They are read once.
    pub(super) async fn fields(&mut self) -> Result<(GivenFields, Bytes), DoorRefusal> {
        let most = self.state.options.body_bytes;
        let (mut fields, bytes) =
            input::fields(std::mem::replace(&mut self.input, DoorBody::Taken), most).await?;
        for (name, value) in self.query.iter().filter(|(name, _)| name != ACCESS_TOKEN && name != PROOF) {
            if !fields.map.contains_key(name) {
                fields.map.insert(name.clone(), Value::String(value.clone()));
            }
        }
        Ok((fields, bytes))
    }

    /// The form of the body with a file; `None` when the body is no such form.
    pub(super) async fn form(&mut self, most: usize) -> Result<Option<UploadForm>, DoorRefusal> {
        match std::mem::replace(&mut self.input, DoorBody::Taken) {
            DoorBody::Form(form) => Ok(Some(form)),
            DoorBody::Unread(body) if Multipart::is(&body) => Ok(Some(UploadForm::open(body, most).await?)),
            DoorBody::Unread(_) | DoorBody::Fields(..) | DoorBody::Taken => Ok(None),
        }
    }

    /// The body as it is, of at most `most` bytes, piece by piece.
    pub(super) fn raw(&mut self, most: usize) -> Result<Pieces, DoorRefusal> {
        match std::mem::replace(&mut self.input, DoorBody::Taken) {
            DoorBody::Unread(body) => Ok(body.pieces(most)?),
            DoorBody::Form(_) | DoorBody::Fields(..) | DoorBody::Taken => {
                let details =
                    "give the key in the head of the request, and the bytes of the file as its body";
                Err(DoorRefusal::because(100, details))
            }
        }
    }

    /// The address of the service as the program reaches it, without a slash at its end.
    pub(super) fn base(&self) -> String {
        let options = &self.state.options;
        if let Some(public) = &options.public_url {
            return public.as_str().trim_end_matches('/').to_owned();
        }
        let connected = self.request.peer_addr().map(|address| address.ip());
        let is_https = options.proxies.client(connected, self.request.headers()).is_https;
        let host = self.request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let scheme = if is_https { "https" } else { "http" };
        let origin =
            Url::parse(&format!("{scheme}://{host}")).ok().filter(Url::has_host).map(|url| url.origin());
        origin.map_or_else(String::new, |origin| origin.ascii_serialization())
    }
}

/// The parameters of an address. A database cannot look for a NUL, which no value has.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let pairs = pairs.filter(|(name, value)| !name.contains('\0') && !value.contains('\0'));
    pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// The key in a form, whose sender is nobody until the form is read.
async fn in_form(
    state: &GraphState,
    request: &HttpRequest,
    body: Incoming,
) -> Result<(Option<String>, DoorBody), DoorRefusal> {
    let connected = request.peer_addr().map(|address| address.ip());
    let address = state.options.proxies.client(connected, request.headers()).address;
    let peer = Peer::new(Some(address));
    let has_file = Multipart::is(&body);
    request.extensions_mut().insert(if has_file { Sender::Program(peer) } else { Sender::Visitor(peer) });
    if has_file {
        let most = state.engine.media().largest();
        let form = UploadForm::open(body, most).await?;
        return Ok((form.text(ACCESS_TOKEN).map(str::to_owned), DoorBody::Form(form)));
    }
    if !input::is_form(request.headers()) {
        return Ok((None, DoorBody::Unread(body)));
    }
    let (mut fields, bytes) = input::fields(DoorBody::Unread(body), state.options.body_bytes).await?;
    let key = taken(&mut fields.map);
    Ok((key, DoorBody::Fields(fields, bytes)))
}

fn taken(fields: &mut Map<String, Value>) -> Option<String> {
    match fields.remove(ACCESS_TOKEN) {
        Some(Value::String(key)) => Some(key),
        _ => None,
    }
}
