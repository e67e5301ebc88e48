//! Sets up the log, once for the whole process.
//!
//! All log lines go to standard error, so that a command's output stays clean. The modules decide what they
//! log; they never log messages' bodies, tokens and complete phone numbers.

use std::io::{self, IsTerminal as _};

use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{FilterFn, ParseError, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{Log, LogFormat};

/// Parts of the library that speaks WhatsApp Web's protocol. Its log contains complete numbers, and sometimes
/// complete messages. Web sessions log the relevant events themselves. To debug the library, name a part in
/// `log.level`.
const INDISCREET: [&str; 3] = ["whatsapp_rust", "wacore", "waproto"];

/// The part of the HTTP library that logs clients' faults as errors: bytes that are not a request, connections
/// that break off. The service answers and counts the relevant ones. To debug the library, name the part in
/// `log.level`.
const CLIENTS: &str = "actix_http::h1::dispatcher";

/// The library for NATS, which logs each attempt to connect. The connector logs the relevant events once. To debug
/// the library, name it in `log.level`.
const NATS: &str = "async_nats";

/// The targets of crates that were modules of the program: filters that name the modules keep their effect. The first
/// module that fits counts.
const MODULES: &[(&str, &[&str])] = &[
    ("pombo::accounts", &["pombo_accounts"]),
    ("pombo::cluster", &["pombo_cluster", "pombo_machines::node"]),
    ("pombo::engine", &["pombo_engine", "pombo_machines"]),
    ("pombo::connector::web_session::whatsapp", &["pombo_web_session"]),
    ("pombo::connector::web_session", &["pombo_web_session"]),
    ("pombo::connector", &["pombo_connectors"]),
    ("pombo::config", &["pombo_config"]),
    ("pombo::domain", &["pombo_domain"]),
    ("pombo::files", &["pombo_files"]),
    ("pombo::import", &["pombo_import"]),
    ("pombo::loadtest", &["pombo_loadtest"]),
    ("pombo::simulator", &["pombo_simulator"]),
    ("pombo::store", &["pombo_store"]),
    ("pombo::telemetry", &["pombo_telemetry"]),
    ("pombo::vault", &["pombo_vault"]),
];

/// Why the log cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `log.level` is not a filter; the configuration's own check reports that earlier.
    #[error("log.level is not a filter: {0}")]
    Level(#[from] ParseError),
    /// Logging was set up before.
    #[error("the log is already set up: {0}")]
    Twice(#[from] TryInitError),
}

/// Sets up the log as configured. It also receives what dependencies log through the `log` crate.
///
/// Colours appear only on a terminal, and not when `NO_COLOR` is set (the subscriber checks that itself).
///
/// # Errors
///
/// [`Error::Twice`] when it was called before in this process.
pub fn init(log: &Log) -> Result<(), Error> {
    Ok(subscriber(log, io::stderr().is_terminal(), io::stderr)?.try_init()?)
}

fn subscriber<W>(
    log: &Log,
    terminal: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, ParseError>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder().parse(with_crates(&log.level))?;
    let discreet = discreet(&log.level);
    let builder = fmt().with_env_filter(filter).with_writer(writer);
    Ok(match (log.format, terminal) {
        (LogFormat::Json, _) | (LogFormat::Auto, false) => {
            Box::new(builder.json().flatten_event(true).with_span_list(false).finish().with(discreet))
        }
        (LogFormat::Text | LogFormat::Auto, true) => Box::new(builder.finish().with(discreet)),
        (LogFormat::Text, false) => Box::new(builder.with_ansi(false).finish().with(discreet)),
    })
}

/// The filter with the targets of crates instead of modules.
fn with_crates(level: &str) -> String {
    let translated = level.split(',').flat_map(|directive| {
        let fits = |(module, targets): &(&str, &'static [&'static str])| {
            Some((*targets, directive.trim_start().strip_prefix(module)?))
        };
        match MODULES.iter().find_map(fits) {
            Some((targets, rest)) => targets.iter().map(|target| format!("{target}{rest}")).collect(),
            None => vec![directive.to_owned()],
        }
    });
    translated.collect::<Vec<_>>().join(",")
}

/// Filters out lines that must not be logged, and clients' faults. A line whose target contains a slash,
/// which only that library writes, may contain a pairing code, and is never logged.
fn discreet(level: &str) -> FilterFn<impl Fn(&Metadata<'_>) -> bool + use<>> {
    let is_asked_for = INDISCREET.iter().any(|part| level.contains(part));
    let is_looked_for = level.contains(CLIENTS);
    let is_nats_looked_for = level.contains(NATS);
    filter_fn(move |metadata| {
        let target = metadata.target();
        if target.starts_with(NATS) && !is_nats_looked_for {
            return false;
        }
        if target == CLIENTS && !is_looked_for {
            return false;
        }
        let is_indiscreet = || INDISCREET.iter().any(|part| target.starts_with(part));
        !target.contains('/') && (is_asked_for || !is_indiscreet())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(level: &str, format: LogFormat) -> String {
        let written = Written::default();
        let writer = written.clone();
        let log = Log { level: level.to_owned(), format };
        let subscriber = subscriber(&log, false, move || writer.clone()).unwrap();
        tracing::subscriber::with_default(subscriber, || {
            let _request = tracing::info_span!("request", id = 7).entered();
            tracing::info!(channel.id = "c1", "channel connected");
            tracing::debug!("too fine");
            tracing::warn!(target: "Client/PairCode", "Code: ABCD1234");
            tracing::warn!(target: "wacore::usync", "5511988887777");
            tracing::error!(target: "actix_http::h1::dispatcher", "stream error: Invalid Header provided");
        });
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_away_from_a_terminal_is_one_plain_line() {
        let text = logged("info", LogFormat::Text);
        assert!(
            text.contains("INFO request{id=7}") && text.contains("channel connected channel.id=\"c1\""),
            "{text}"
        );
        assert!(text.lines().count() == 1 && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn json_has_the_fields_beside_the_message_and_auto_means_json_away_from_a_terminal() {
        for format in [LogFormat::Json, LogFormat::Auto] {
            let line: serde_json::Value = serde_json::from_str(logged("info", format).trim()).unwrap();
            assert_eq!((&line["message"], &line["channel.id"]), (&"channel connected".into(), &"c1".into()));
            assert_eq!(line["span"]["id"], 7);
        }
    }

    #[test]
    fn the_level_is_a_filter() {
        assert_eq!(logged("warn", LogFormat::Text), "");
        let asked_for = logged("off,wacore=warn,pombo=info", LogFormat::Text);
        assert!(asked_for.contains("5511988887777") && !asked_for.contains("ABCD1234"), "{asked_for}");
        let looked_for = logged("off,actix_http::h1::dispatcher=error", LogFormat::Text);
        assert!(looked_for.contains("stream error"), "{looked_for}");
        assert_eq!(logged("off,pombo=debug", LogFormat::Text).lines().count(), 2);
        let of_modules =
            "info,pombo::store=debug,pombo::connector::web_session::whatsapp=warn,pombo::engine=trace";
        let of_crates =
            "info,pombo_store=debug,pombo_web_session=warn,pombo_engine=trace,pombo_machines=trace";
        assert_eq!(with_crates(of_modules), of_crates);
        let broken = Log { level: "pombo=loud".to_owned(), format: LogFormat::Text };
        assert!(subscriber(&broken, false, io::sink).is_err());
        let of_drivers = "pombo::connector::web_session=debug,pombo::connector::nats=trace";
        assert_eq!(with_crates(of_drivers), "pombo_web_session=debug,pombo_connectors::nats=trace");
    }
}
