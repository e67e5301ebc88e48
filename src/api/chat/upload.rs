//! A send whose recipients come in a file beside it, as a form: the parts `send`, `recipients`, `columns`, `encoding` and
//! `country`.
//!
//! The file goes to a temporary one piece by piece, and is read once the form is whole: of half a form nothing is sent.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use actix_web::web::{self, BytesMut};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::api::State;
use crate::api::body::Body;
use crate::api::error::{Error, RETRY_SOON};
use crate::api::options::Options;
use crate::domain::phone::Country;
use crate::domain::request::{BusinessRequest, BusinessSend, Limits};
use crate::error::Code;
use crate::import::{RecipientColumn, RecipientFault, RecipientFile, RecipientSettings};
use crate::surface::body::{Fault, Room};
use crate::surface::multipart::Multipart;

/// What a form may have around its parts, in bytes, and the largest part beside `send` and `recipients`.
const AROUND: usize = 64 * 1024;
/// The bytes of a file that are written at once.
const AT_ONCE: usize = 256 * 1024;
/// The most memory for the recipients of a file: 16 bytes for each, and the texts that are not in the file yet.
const MOST_MEMORY: usize = 24 * 1024 * 1024;
/// The most names of columns that an answer says nothing is read from.
const MOST_UNREAD: usize = 20;

/// A send and a file of its recipients.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct SendWithFile {
    /// The send, without `recipients`, as JSON.
    #[schema(value_type = BusinessSend)]
    send: String,
    /// The recipients, at most 1,000,000 in 64 MiB: CSV whose first line names the columns, or on each line a JSON object like
    /// an entry of `recipients` (NDJSON).
    #[schema(value_type = String, format = Binary)]
    recipients: String,
    /// What the columns of a CSV file hold, as a JSON object: by the name of the column, or its place such as `#3`, the word
    /// `phone_number`, `reference`, `ignored` or `value.` and a name. Other columns are not read. When absent, the names of the
    /// columns say so: `Order No` has the value `order_no`.
    #[schema(example = json!({"Telefone": "phone_number", "Pedido": "value.order"}))]
    columns: Option<BTreeMap<String, String>>,
    /// The encoding of the file, such as `windows-1252`. When absent, the file is UTF-8 or begins with a byte order mark. `auto`
    /// guesses from the whole file, and a few bytes that are not valid UTF-8 only skip their rows.
    #[schema(example = "auto")]
    encoding: Option<String>,
    /// Two letters, such as `BR`: numbers without a plus sign are read as numbers of this country. When absent, they are
    /// international.
    #[schema(example = "BR")]
    country: Option<String>,
}

/// A form that has arrived.
pub(super) struct Upload {
    send: Vec<u8>,
    columns: Option<Vec<u8>>,
    encoding: Option<String>,
    country: Option<String>,
    file: RecipientFile,
    digest: [u8; 32],
    /// What arrived, with its part of the memory.
    parts: Multipart,
}

/// The parts of a form while they arrive.
#[derive(Default)]
struct Parts {
    send: Option<Vec<u8>>,
    columns: Option<Vec<u8>>,
    encoding: Option<Vec<u8>>,
    country: Option<Vec<u8>>,
    file: Option<(RecipientFile, [u8; 32])>,
}

impl Upload {
    /// Receives a form.
    ///
    /// # Errors
    ///
    /// Those of reading a body, and `invalid_field` for a part that is missing or given twice.
    pub(super) async fn receive(body: Body, options: &Options) -> Result<Self, Error> {
        let most = options.upload_bytes.saturating_add(options.body_bytes).saturating_add(4 * AROUND);
        let mut parts = Multipart::new(body, most)?;
        match Parts::receive(&mut parts, options).await {
            Ok(arrived) => arrived.whole(parts),
            Err(error) => {
                parts.pass_over().await;
                Err(error)
            }
        }
    }

    /// SHA-256 of what the form says, however its parts are divided and ordered.
    pub(super) const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Reads the form: the request, with the memory that it takes.
    ///
    /// # Errors
    ///
    /// As [`BusinessRequest::parse_upload`] and [`RecipientFile::read`]; `invalid_field` for the other parts.
    pub(super) async fn read(self, state: &State) -> Result<(BusinessRequest, Room), Error> {
        let Self { send, columns, encoding, country, file, digest: _, parts } = self;
        let settings = RecipientSettings {
            encoding,
            country: country.map(|code| self::country(&code)).transpose()?,
            columns: columns.map(|columns| self::columns(&columns)).transpose()?,
            cleans: false,
        };
        let mut room = parts.into_room();
        let length = usize::try_from(file.length()).unwrap_or(usize::MAX);
        room.charge(length.saturating_mul(2).min(MOST_MEMORY))?;
        room.charge(BusinessRequest::weight(&send))?;
        let limits = state.options.send.clone();
        let read = web::block(move || request(&send, &limits, file, settings)).await;
        read.map(|read| read.map(|request| (request, room))).map_err(|error| {
            tracing::error!(%error, "reading a file of recipients was cut short");
            Error::Internal
        })?
    }
}

/// The request of a form.
fn request(
    send: &[u8],
    limits: &Limits,
    file: RecipientFile,
    settings: RecipientSettings,
) -> Result<BusinessRequest, Error> {
    let cleans = BusinessRequest::check_upload(send, limits)?;
    let read = file.read(&RecipientSettings { cleans, ..settings }).map_err(|fault| match fault {
        RecipientFault::Refused(refusal) => refusal.into(),
        RecipientFault::Disk(error) => on_disk(&error),
    })?;
    let mut request = BusinessRequest::parse_upload(send, limits, read.rows, read.skipped)?;
    let unread = read.unread_columns.into_iter().take(MOST_UNREAD);
    request.ignored.extend(unread.map(|column| format!("recipients.{column}")));
    Ok(request)
}

impl Parts {
    async fn receive(form: &mut Multipart, options: &Options) -> Result<Self, Error> {
        let mut parts = Self::default();
        while let Some(part) = form.next().await? {
            let (place, most) = match part.name.as_str() {
                "send" => (&mut parts.send, options.body_bytes),
                "columns" => (&mut parts.columns, AROUND),
                "encoding" => (&mut parts.encoding, AROUND),
                "country" => (&mut parts.country, AROUND),
                "recipients" if parts.file.is_some() => return Err(twice("recipients")),
                "recipients" => {
                    parts.file = Some(stored(form, options).await?);
                    continue;
                }
                _ => continue,
            };
            if place.is_some() {
                return Err(twice(&part.name));
            }
            *place = Some(form.bytes(most).await?);
        }
        Ok(parts)
    }

    fn whole(self, form: Multipart) -> Result<Upload, Error> {
        let Self { send, columns, encoding, country, file } = self;
        let missing = |part: &str, what: &str| Error::of(part, Code::InvalidField, what);
        let send =
            send.ok_or_else(|| missing("send", "is no part of the form: give the send there, as JSON"))?;
        let (file, of_file) = file.ok_or_else(|| {
            missing("recipients", "is no part of the form: give the file there, as CSV or NDJSON")
        })?;
        let mut digest = Sha256::new();
        for part in [Some(&send), columns.as_ref(), encoding.as_ref(), country.as_ref()] {
            let part = part.map(Vec::as_slice).unwrap_or_default();
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let digest = digest.chain_update(of_file).finalize().into();
        let text = |part: Vec<u8>| Some(String::from_utf8_lossy(&part).trim().to_owned());
        let text = |part: Option<Vec<u8>>| part.and_then(text).filter(|text| !text.is_empty());
        let (encoding, country) = (text(encoding), text(country));
        let columns = columns.filter(|columns| !columns.trim_ascii().is_empty());
        Ok(Upload { send, columns, encoding, country, file, digest, parts: form })
    }
}

/// Stores the part that arrives, and digests it.
async fn stored(form: &mut Multipart, options: &Options) -> Result<(RecipientFile, [u8; 32]), Error> {
    let directory = options.directory.clone();
    let mut file = blocking(move || RecipientFile::within(&directory)).await?;
    let (mut digest, mut waiting) = (Sha256::new(), BytesMut::new());
    let mut is_over = false;
    while !is_over {
        match form.piece().await? {
            Some(piece) => waiting.extend_from_slice(&piece),
            None => is_over = true,
        }
        if file.length() + waiting.len() as u64 > options.upload_bytes as u64 {
            return Err(Fault::TooLarge(options.upload_bytes).into());
        }
        if waiting.len() >= AT_ONCE || is_over && !waiting.is_empty() {
            let (piece, began) = (waiting.split().freeze(), Instant::now());
            (file, digest) = blocking(move || {
                file.write(&piece)?;
                digest.update(&piece);
                Ok((file, digest))
            })
            .await?;
            form.stored(began.elapsed());
        }
    }
    Ok((file, digest.finalize().into()))
}

/// Does this on a thread that serves no requests.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = web::block(work).await.map_err(|error| {
        tracing::error!(%error, "storing a file of recipients was cut short");
        Error::Internal
    })?;
    done.map_err(|error| on_disk(&error))
}

fn on_disk(error: &io::Error) -> Error {
    tracing::error!(%error, "cannot keep a file of recipients in the data directory");
    Error::Unavailable(RETRY_SOON)
}

fn twice(part: &str) -> Error {
    Error::of(part, Code::InvalidField, "is given twice in the form")
}

fn country(code: &str) -> Result<Country, Error> {
    Country::parse(code).ok_or_else(|| {
        Error::of("country", Code::InvalidField, "must be the two letters of a country, such as BR")
    })
}

fn columns(map: &[u8]) -> Result<Vec<(String, RecipientColumn)>, Error> {
    let refuse = |what: String| Error::of("columns", Code::InvalidField, what);
    let map: BTreeMap<String, String> = serde_json::from_slice(map).map_err(|wrong| {
        refuse(format!("must be a JSON object with what each column holds, by the column's name: {wrong}"))
    })?;
    let column = |(name, word): (String, String)| match word.parse::<RecipientColumn>() {
        Ok(column) => Ok((name, column)),
        Err(wrong) => Err(refuse(format!("has {word:?} for the column {name:?}: it {wrong}"))),
    };
    map.into_iter().map(column).collect()
}
