//! Sends e-mail to people, through the operator's mail server.
//!
//! Each mail has a connection of its own: they are few, and a connection that is kept belongs to one thread.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use tokio::time::timeout;
use uuid::Uuid;

use config::Encryption;
use domain::secret::Secret;

/// Says that no person wrote a mail, so that no program answers it (RFC 3834).
const AUTOMATIC: (&str, &str) = ("Auto-Submitted", "auto-generated");
/// Answers of a server that does not accept the name or the password.
const SIGN_IN_CODES: [u16; 4] = [530, 534, 535, 538];
/// The most characters of a server's words that are shown.
const MOST_WORDS: usize = 300;

/// A mail to one person, in text and in HTML.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The same for each attempt, so that a mail that arrives twice is known as one.
    pub id: Uuid,
    /// The recipient's address.
    pub to: String,
    /// The recipient's name.
    pub name: String,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same in HTML.
    pub html: String,
    /// Where the recipient chooses which mails come.
    pub unsubscribe: Option<String>,
}

/// Why a mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// There is no connection, or no encryption.
    #[error("no connection to the mail server: {0}")]
    Unreachable(String),
    /// The server did not answer in time.
    #[error("the mail server did not answer within {} s", seconds(.0))]
    Late(Duration),
    /// The server does not accept the name or the password.
    #[error("the mail server refuses the sign-in: {0}; check mail.user and mail.password")]
    SignIn(String),
    /// The server does not take the mail.
    #[error("the mail server refused the mail: {0}")]
    Refused(String),
    /// The address cannot be used.
    #[error("the mail cannot be written: {0}")]
    Unfit(String),
}

impl NotSent {
    /// Whether it is about this mail alone, so that others may be sent.
    pub const fn is_about_the_mail(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Unfit(_))
    }
}

const fn seconds(span: &Duration) -> u64 {
    span.as_secs()
}

/// Why no mail can be sent at all; completes a sentence that begins with the option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// The way to the mail server; clones share it.
#[derive(Clone)]
pub struct Mailer(Arc<MailServer>);

struct MailServer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    timeout: Duration,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("from", &self.0.from.email).finish_non_exhaustive()
    }
}

impl Mailer {
    /// The way to the configured server; `None` without one. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When the certificates cannot be read, or the sender's address is none.
    pub fn new(options: &config::Mail) -> Result<Option<Self>, Unusable> {
        if !options.is_on() {
            return Ok(None);
        }
        let unfit = || Unusable("mail.from is not the address of a sender".to_owned());
        let (name, address) = options.sender().ok_or_else(unfit)?;
        let from = Mailbox::new(name.map(str::to_owned), mailbox(address.as_str()).map_err(|_| unfit())?);
        let tls = match options.encryption {
            Encryption::StartTls => Tls::Required(tls(options)?),
            Encryption::Tls => Tls::Wrapper(tls(options)?),
            Encryption::None => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host(options))
            .port(options.port)
            .tls(tls)
            .hello_name(ClientId::Domain(from.email.domain().to_owned()))
            .timeout(Some(options.timeout));
        if let Some(password) = options.password.as_ref().map(Secret::expose) {
            transport = transport.credentials(Credentials::new(options.user.clone(), password.to_owned()));
        }
        Ok(Some(Self(Arc::new(MailServer { transport: transport.build(), from, timeout: options.timeout }))))
    }

    /// Sends a mail. Returns the server's words. If this is aborted, the mail may have been sent.
    ///
    /// # Errors
    ///
    /// Why the mail was not sent. After [`NotSent::Late`] and [`NotSent::Unreachable`], it may have been.
    pub async fn send(&self, letter: &Letter) -> Result<String, NotSent> {
        let MailServer { transport, timeout: patience, .. } = &*self.0;
        let message = self.message(letter)?;
        let sent = timeout(*patience, transport.send(message)).await;
        let response = sent.map_err(|_| NotSent::Late(*patience))?.map_err(|error| not_sent(&error))?;
        let words: Vec<_> = response.message().collect();
        Ok(short(&format!("{} {}", response.code(), words.join(" "))))
    }

    /// Connects, signs in and sends nothing.
    ///
    /// # Errors
    ///
    /// Why no mail could be sent.
    pub async fn check(&self) -> Result<(), NotSent> {
        let MailServer { transport, timeout: patience, .. } = &*self.0;
        let checked = timeout(*patience, transport.test_connection()).await;
        match checked.map_err(|_| NotSent::Late(*patience))?.map_err(|error| not_sent(&error))? {
            true => Ok(()),
            false => Err(NotSent::Unreachable("the server ended the connection".to_owned())),
        }
    }

    fn message(&self, letter: &Letter) -> Result<Message, NotSent> {
        let Letter { id, to, name, subject, text, html, unsubscribe } = letter;
        let from = &self.0.from;
        let unfit = |error: &dyn fmt::Display| NotSent::Unfit(format!("{to}: {error}"));
        let address = mailbox(to).map_err(|error| unfit(&error))?;
        let name = Some(line(name)).filter(|name| !name.is_empty());
        let mut message = Message::builder()
            .from(from.clone())
            .to(Mailbox::new(name, address))
            .subject(line(subject))
            .message_id(Some(format!("<{}@{}>", id.as_simple(), from.email.domain())))
            .raw_header(header(AUTOMATIC.0, AUTOMATIC.1.to_owned()));
        if let Some(link) = unsubscribe {
            message = message.raw_header(header("List-Unsubscribe", format!("<{link}>")));
        }
        let parts = MultiPart::alternative_plain_html(text.clone(), html.clone());
        message.multipart(parts).map_err(|error| unfit(&error))
    }
}

fn mailbox(address: &str) -> Result<Address, lettre::address::AddressError> {
    address.parse()
}

fn header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

/// The text without line breaks and the like.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The host, an address of IPv6 without its brackets.
fn host(options: &config::Mail) -> &str {
    options.host.trim_start_matches('[').trim_end_matches(']')
}

fn tls(options: &config::Mail) -> Result<TlsParameters, Unusable> {
    let mut tls = TlsParameters::builder(host(options).to_owned());
    if let Some(file) = &options.ca_file {
        let unreadable =
            |error: &dyn fmt::Display| Unusable(format!("mail.ca_file {}: {error}", file.display()));
        let pem = std::fs::read(file).map_err(|error| unreadable(&error))?;
        let certificate = Certificate::from_pem(&pem).map_err(|error| unreadable(&error))?;
        tls = tls.certificate_store(CertificateStore::None).add_root_certificate(certificate);
    }
    tls.build().map_err(|error| Unusable(format!("mail.encryption: {error}")))
}

fn not_sent(error: &smtp::Error) -> NotSent {
    let words = short(&error.to_string());
    match error.status() {
        Some(code) if SIGN_IN_CODES.contains(&u16::from(code)) => NotSent::SignIn(words),
        Some(_) => NotSent::Refused(words),
        // The library says it of addresses and texts, but also of encryption and sign-ins that the server does not offer.
        None if error.is_client() && words.contains("non-ascii") => NotSent::Unfit(words),
        None => NotSent::Unreachable(words),
    }
}

/// The beginning of a server's words, in one line.
fn short(words: &str) -> String {
    line(words).chars().take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Config, Mail};

    fn options() -> Mail {
        let from = "Pombo <alerts@example.com>".to_owned();
        Mail { host: "127.0.0.1".to_owned(), from, encryption: Encryption::None, ..Config::default().mail }
    }

    fn letter(to: &str) -> Letter {
        Letter {
            id: Uuid::from_u128(7),
            to: to.to_owned(),
            name: "João\r\nBcc: x@example.com".to_owned(),
            subject: "Canal «Loja» parado\r\nX-Other: 1".to_owned(),
            text: "Olá".to_owned(),
            html: "<p>Olá</p>".to_owned(),
            unsubscribe: Some("https://pombo.example/console/account#alerts".to_owned()),
        }
    }

    #[tokio::test]
    async fn a_mail_has_its_headers_and_no_others_that_a_name_brings_along() {
        let mailer = Mailer::new(&options()).unwrap().unwrap();
        let raw = mailer.message(&letter("ana@example.com")).unwrap().formatted();
        let raw = String::from_utf8(raw).unwrap();
        let head = raw.split("\r\n\r\n").next().unwrap();
        for wanted in [
            "From: Pombo <alerts@example.com>",
            "Message-ID: <00000000000000000000000000000007@example.com>",
            "List-Unsubscribe: <https://pombo.example/console/account#alerts>",
            "Auto-Submitted: auto-generated",
            "Content-Type: multipart/alternative;",
        ] {
            assert!(head.lines().any(|line| line.starts_with(wanted)), "{wanted}: {head}");
        }
        assert!(!head.lines().any(|line| line.starts_with("Bcc:") || line.starts_with("X-Other:")), "{head}");
        assert!(raw.contains("text/plain") && raw.contains("text/html"), "{raw}");
        assert!(matches!(mailer.message(&letter("nobody")), Err(NotSent::Unfit(_))));
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_an_error_in_words() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mailer = Mailer::new(&Mail { port, ..options() }).unwrap().unwrap();
        let error = mailer.send(&letter("ana@example.com")).await.unwrap_err();
        assert!(matches!(&error, NotSent::Unreachable(_)) && !error.is_about_the_mail(), "{error}");
        assert!(mailer.check().await.is_err());
    }

    #[test]
    fn without_a_server_there_is_no_mail_and_with_a_missing_file_a_reason() {
        assert!(Mailer::new(&Config::default().mail).unwrap().is_none());
        let missing =
            Mail { encryption: Encryption::Tls, ca_file: Some("/nowhere/ca.pem".into()), ..options() };
        let error = Mailer::new(&missing).err().unwrap().to_string();
        assert!(error.contains("mail.ca_file /nowhere/ca.pem"), "{error}");
    }
}
