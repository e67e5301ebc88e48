//! Exports the traces of sends to an OpenTelemetry collector, by OTLP over HTTP.
//!
//! One task takes spans from the queue and exports them, at most some thousand in each request, one request
//! after the other. Only this task waits for the collector.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, SpanExporter as Collector, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;

use super::{Error, http};
use domain::address::is_here;
use domain::secret::Secret;
use telemetry::{MOST_AT_ONCE, Spans};

/// The path below the collector's address, by the standard of OTLP over HTTP.
const PATH: [&str; 2] = ["v1", "traces"];
/// How long spans are collected before they are exported, unless there are many.
const GATHERING: Duration = Duration::from_millis(500);
/// The timeout of connecting.
const CONNECTING: Duration = Duration::from_secs(5);

/// A handle of the exporter, which runs as long as its runtime.
#[derive(Debug)]
pub struct Exporter(mpsc::Sender<oneshot::Sender<()>>);

impl Exporter {
    /// Starts creating and exporting spans; `None` when no collector is configured, or this process exports
    /// already. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// When no client can be built, or a header's value cannot be sent.
    pub fn start(options: &config::Telemetry, network: &config::Network) -> Result<Option<Self>, Error> {
        let Some(endpoint) = &options.otlp_endpoint else { return Ok(None) };
        let collector = collector(endpoint, options, network)?;
        let Some(spans) = telemetry::open(options) else { return Ok(None) };
        let (ask, asked) = mpsc::channel(1);
        tokio::spawn(Work { collector, spans, asked, is_failing: false }.run());
        tracing::info!(endpoint = %endpoint, "exporting traces of sends");
        Ok(Some(Self(ask)))
    }

    /// Returns once the spans that wait now are exported or lost.
    pub async fn flush(&self) {
        let (tell, told) = oneshot::channel();
        if self.0.send(tell).await.is_ok() {
            // The receiver ends without a value when the task ends.
            let _ = told.await;
        }
    }
}

fn collector(
    endpoint: &Url,
    options: &config::Telemetry,
    network: &config::Network,
) -> Result<Collector, Error> {
    let client = if is_here(endpoint) { http::direct() } else { http::outward(network)? };
    let client = client
        .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers(options)?)
        .connect_timeout(CONNECTING.min(options.timeout))
        .timeout(options.timeout)
        // The headers are only for the collector.
        .redirect(Policy::none())
        .build()
        .map_err(|error| Error::NoAnswer(format!("cannot make a client: {error}")))?;
    let mut address = endpoint.clone();
    if let Ok(mut path) = address.path_segments_mut() {
        path.pop_if_empty().extend(PATH);
    }
    let mut collector = Collector::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(address)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(options.timeout)
        .build()
        .map_err(|error| Error::NoAnswer(error.to_string()))?;
    // Several processes may have the same name, one after the other or for different databases.
    let instance = KeyValue::new("service.instance.id", Uuid::now_v7().to_string());
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder_empty()
        .with_service_name(options.service_name.clone())
        .with_attributes([version, instance])
        .build();
    collector.set_resource(&resource);
    Ok(collector)
}

fn headers(options: &config::Telemetry) -> Result<HeaderMap, Error> {
    let header = |(name, value): &(String, Secret)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    let headers = options.otlp_headers.iter().map(header).collect::<Option<_>>();
    headers.ok_or_else(|| {
        Error::NoAnswer("telemetry.otlp_headers has a name or a value that no header may have".to_owned())
    })
}

/// Takes spans from the queue and exports them to the collector.
struct Work {
    collector: Collector,
    spans: Spans,
    asked: mpsc::Receiver<oneshot::Sender<()>>,
    /// Whether the last export failed: only the first in a row is logged.
    is_failing: bool,
}

impl Work {
    async fn run(mut self) {
        let mut batch = Vec::new();
        loop {
            let asked = self.gather(&mut batch).await;
            self.export(&mut batch).await;
            let Some(tell) = asked else { continue };
            loop {
                self.spans.take(&mut batch);
                if batch.is_empty() {
                    break;
                }
                self.export(&mut batch).await;
            }
            // The caller may be gone.
            let _ = tell.send(());
        }
    }

    /// Waits for spans, and a moment longer for more, or until a flush is requested.
    async fn gather(&mut self, batch: &mut Vec<SpanData>) -> Option<oneshot::Sender<()>> {
        let Self { spans, asked, .. } = self;
        // A dropped exporter requests no more flushes.
        let mut hear = async || match asked.recv().await {
            Some(tell) => tell,
            None => std::future::pending().await,
        };
        tokio::select! {
            () = spans.wait(batch) => {}
            tell = hear() => return Some(tell),
        }
        let until = Instant::now() + GATHERING;
        while batch.len() < MOST_AT_ONCE {
            tokio::select! {
                waited = timeout_at(until, spans.wait(batch)) => if waited.is_err() { break },
                tell = hear() => return Some(tell),
            }
        }
        None
    }

    async fn export(&mut self, batch: &mut Vec<SpanData>) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len();
        match self.collector.export(std::mem::take(batch)).await {
            Ok(()) => {
                telemetry::note_exported(count);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("exporting traces again");
                }
            }
            Err(error) => {
                telemetry::note_lost(count);
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(%error, spans = count, "cannot export traces, their spans are lost");
                }
            }
        }
    }
}
