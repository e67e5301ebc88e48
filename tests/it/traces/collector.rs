//! A collector of traces that keeps what it gets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// Listens until it is dropped.
pub(super) struct Collector {
    /// The address in the service's configuration, with a path before the path of traces.
    pub(super) endpoint: String,
    got: Arc<Mutex<Got>>,
    server: ServerHandle,
}

/// The requests so far.
#[derive(Default)]
pub(super) struct Got {
    pub(super) requests: usize,
    pub(super) spans: Vec<Span>,
    /// The authorization and the resource of the last request.
    pub(super) authorization: Option<String>,
    pub(super) resource: BTreeMap<String, String>,
}

impl Collector {
    pub(super) fn start() -> Self {
        let got = Arc::new(Mutex::new(Got::default()));
        let kept = Data::from(Arc::clone(&got));
        let app = move || {
            App::new()
                .app_data(kept.clone())
                .app_data(web::PayloadConfig::new(64 * 1024 * 1024))
                .route("/otlp/v1/traces", web::post().to(take))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().bind(("127.0.0.1", 0)).unwrap();
        let endpoint = format!("http://{}/otlp/", server.addrs()[0]);
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self { endpoint, got, server: handle }
    }

    /// Looks at what came so far.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Got) -> T) -> T {
        look(&self.got.lock().unwrap())
    }

    /// The spans of this name in the trace of this send.
    pub(super) fn spans(&self, send: &str, name: &str) -> Vec<Span> {
        let trace = hex::decode(send.replace('-', "")).unwrap();
        let is_meant = |span: &&Span| span.trace_id == trace && span.name == name;
        self.look(|got| got.spans.iter().filter(is_meant).cloned().collect())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // The command is given at once; nobody waits for its end.
        drop(self.server.stop(false));
    }
}

async fn take(got: Data<Mutex<Got>>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    assert_eq!(header("content-type").as_deref(), Some("application/x-protobuf"));
    let ExportTraceServiceRequest { resource_spans } = ExportTraceServiceRequest::decode(body).unwrap();
    let mut got = got.lock().unwrap();
    got.requests += 1;
    got.authorization = header("authorization");
    for of_resource in resource_spans {
        got.resource = texts(&of_resource.resource.unwrap().attributes);
        got.spans.extend(of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans));
    }
    let answer = ExportTraceServiceResponse::default().encode_to_vec();
    HttpResponse::Ok().content_type("application/x-protobuf").body(answer)
}

/// Attributes as texts.
pub(super) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |KeyValue { key, value, .. }: &KeyValue| {
        let value = match value.as_ref().unwrap().value.as_ref().unwrap() {
            Value::StringValue(text) => text.clone(),
            Value::IntValue(number) => number.to_string(),
            other => panic!("{key} is {other:?}"),
        };
        (key.clone(), value)
    };
    attributes.iter().map(text).collect()
}
