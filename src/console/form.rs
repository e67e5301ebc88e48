//! A submitted form: its values, and the faults that are shown beside its fields.
//!
//! A handler reads the fields it needs, each of which notes its own fault, and shows the page again when there are any:
//!
//! ```ignore
//! let name = form.required("name", 80);
//! let role = form.choice("role", &["owner", "member", "viewer", "agent"]);
//! if form.has_faults() {
//!     return page(&viewer, &form).unprocessable().into();
//! }
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::future::LocalBoxFuture;
use uuid::Uuid;

use super::access::Access;
use super::error::{Error, Result};
use super::text::Text;
use super::visitor::Visitor;
use super::words::Words;
use crate::surface::body::{Incoming, Room};
use crate::surface::paths::Argument;

/// The largest form of a visitor who is not signed in, in bytes.
const PUBLIC_BYTES: usize = 16 * 1024;
/// The largest form of a person who is signed in, in bytes: a hundred thousand numbers fit.
const OWN_BYTES: usize = 3 * 1024 * 1024;
/// The most fields of a form: more than any page has, whose longest forms pick contacts or map the columns of a file.
const MOST_FIELDS: usize = 1_000;

/// A form, with the faults that were found in it.
#[derive(Debug)]
pub(super) struct Form {
    words: Words,
    faults: BTreeMap<String, String>,
    text: Text,
    once: Option<Uuid>,
    hold: Option<Duration>,
    /// The room of the values, for as long as they live.
    _room: Option<Room>,
}

impl Form {
    /// The form of a page that is shown for the first time, with a new id.
    pub(super) fn new(text: Text) -> Self {
        Self { words: Words::default(), faults: BTreeMap::new(), text, once: None, hold: None, _room: None }
    }

    /// The same, with these values in its fields.
    pub(super) fn filled<'a>(text: Text, values: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let mut form = Self::new(text);
        for (name, value) in values {
            form.words.add(name, value);
        }
        form
    }

    /// The form in the body of a request.
    pub(super) async fn of(request: &HttpRequest, body: Incoming) -> Result<Self> {
        let visitor = Visitor::of(request)?;
        let (words, room) = read(request, body).await?;
        let once = words.one("once").parse().ok();
        Ok(Self { words, once, _room: Some(room), ..Self::new(visitor.text) })
    }

    /// The form of these words, with the id under which it acts.
    pub(super) fn kept(text: Text, words: Words) -> Self {
        let once = words.one("once").parse().ok();
        Self { words, once, ..Self::new(text) }
    }

    /// Sets the value of a field, in place of the submitted one.
    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        self.words.put(name, value);
    }

    /// The texts in the person's language.
    pub(super) const fn text(&self) -> Text {
        self.text
    }

    /// The submitted values.
    pub(super) const fn words(&self) -> &Words {
        &self.words
    }

    /// The value that a field shows.
    pub(super) fn value(&self, name: &str) -> &str {
        self.words.raw(name).unwrap_or_default()
    }

    /// Whether the checkbox of this name and value is checked.
    pub(super) fn is_ticked(&self, name: &str, value: &str) -> bool {
        self.words.has(name, value)
    }

    /// The id by which the form acts only once.
    pub(super) const fn once(&self) -> Option<Uuid> {
        self.once
    }

    /// Encodes the values as a browser does, except those of these names, under this id.
    pub(super) fn encoded(&self, except: &[&str], once: Uuid) -> String {
        let values = self.words.iter().filter(|(name, value)| !except.contains(name) && !value.is_empty());
        let mut encoded = url::form_urlencoded::Serializer::new(String::new());
        encoded.extend_pairs(values).append_pair("once", &once.to_string()).finish()
    }

    /// Gives the form a new id: what it sends next is not what was sent under the old one.
    pub(super) fn renew(&mut self) {
        self.once = None;
    }

    /// The fault of the field; `""` is the form as a whole.
    pub(super) fn fault_of(&self, name: &str) -> Option<&str> {
        self.faults.get(name).map(String::as_str)
    }

    /// The names of the fields with a fault.
    pub(super) fn faulty(&self) -> impl Iterator<Item = &str> {
        self.faults.keys().map(String::as_str)
    }

    /// Whether any fault was found.
    pub(super) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Notes the fault of a field, a sentence in the person's language; the first fault stays.
    pub(super) fn fault(&mut self, name: &str, sentence: impl Into<String>) {
        self.faults.entry(name.to_owned()).or_insert_with(|| sentence.into());
    }

    /// Notes a fault of the form as a whole.
    pub(super) fn general_fault(&mut self, sentence: impl Into<String>) {
        self.fault("", sentence);
    }

    /// Sets the time after which the form may be sent again.
    pub(super) const fn hold(&mut self, wait: Duration) {
        self.hold = Some(wait);
    }

    /// How long the form must wait.
    pub(super) const fn held(&self) -> Option<Duration> {
        self.hold
    }

    /// A required text of at most `most` characters, trimmed. Without a valid text, it notes a fault and
    /// returns an empty one.
    pub(super) fn required(&mut self, name: &str, most: usize) -> String {
        let text = self.optional(name, most);
        if text.is_none() {
            self.fault(name, self.text.get("fault-field-missing"));
        }
        text.unwrap_or_default()
    }

    /// A text of at most `most` characters; `None` when it is absent or blank.
    pub(super) fn optional(&mut self, name: &str, most: usize) -> Option<String> {
        let text = self.words.one(name).to_owned();
        if text.chars().count() > most {
            self.fault(name, self.text.with("fault-field-too-long", [("most", most.into())]));
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// A password as it was typed, including spaces. Without a valid password, it notes a fault and returns
    /// an empty one.
    pub(super) fn password(&mut self, name: &str) -> String {
        /// Longer than any password that a person types or a program generates.
        const MOST: usize = 1024;
        let typed = self.words.raw(name).unwrap_or_default().to_owned();
        if typed.is_empty() {
            self.fault(name, self.text.get("fault-field-missing"));
        } else if typed.len() > MOST {
            self.fault(name, self.text.with("fault-field-too-long", [("most", MOST.into())]));
            return String::new();
        }
        typed
    }

    /// One of these values; otherwise it notes a fault and returns `None`.
    pub(super) fn choice<'a>(&mut self, name: &str, among: &[&'a str]) -> Option<&'a str> {
        let given = self.words.one(name);
        let chosen = among.iter().find(|value| **value == given).copied();
        if chosen.is_none() {
            self.fault(name, self.text.get("fault-field-choice"));
        }
        chosen
    }
}

impl Argument for Form {}

impl FromRequest for Form {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, body) = (request.clone(), Incoming::from_request(request, payload).into_inner());
        Box::pin(async move {
            let Ok(body) = body;
            Self::of(&request, body).await
        })
    }
}

async fn read(request: &HttpRequest, body: Incoming) -> Result<(Words, Room)> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
        return Err(Error::Unreadable);
    }
    let access = request.extensions().get::<Access>().copied().unwrap_or(Access::Public);
    let most = if access == Access::Public { PUBLIC_BYTES } else { OWN_BYTES };
    let whole = body.whole(most).await?;
    let (words, mut room) = whole.read(parse).await?;
    room.shrink_to(words.weight());
    Ok((words, room))
}

/// The values of a form, charged before they are made.
fn parse(encoded: &[u8], room: &mut Room) -> Result<Words> {
    let fields = 1 + encoded.iter().filter(|byte| **byte == b'&').count();
    if fields > MOST_FIELDS {
        return Err(Error::TooManyFields);
    }
    room.charge(Words::most_weight(encoded.len(), fields))?;
    Ok(Words::parse(encoded))
}
