//! The spans that wait for the exporter.

use std::sync::OnceLock;

use opentelemetry_sdk::trace::SpanData;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use uuid::Uuid;

use super::sampling::Sampling;

/// The maximum of waiting spans, some ten megabytes; further spans are dropped.
const ROOM: usize = 16_384;
/// The maximum of spans in one export, about a megabyte.
pub const MOST_AT_ONCE: usize = 2_048;

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// Creates spans. A process has one tracer, shared by all services that are started in it.
pub(super) struct Tracer {
    queue: mpsc::Sender<SpanData>,
    sampling: Sampling,
}

/// The waiting spans, for the exporter.
#[derive(Debug)]
pub struct Spans(mpsc::Receiver<SpanData>);

/// Starts the creation of spans. `None` when it was started before, with another exporter.
pub fn open(options: &config::Telemetry) -> Option<Spans> {
    let (queue, spans) = mpsc::channel(ROOM);
    let tracer = Tracer { queue, sampling: Sampling::new(options) };
    TRACER.set(tracer).ok().map(|()| Spans(spans))
}

/// The tracer, unless traces are off.
pub(super) fn tracer() -> Option<&'static Tracer> {
    TRACER.get()
}

impl Tracer {
    /// The tracer, if this send is traced.
    pub(super) fn of(&self, send_id: Uuid) -> Option<&Self> {
        self.sampling.takes(send_id).then_some(self)
    }

    /// The tracer, if this message is traced.
    pub(super) fn of_message(&self, send_id: Uuid, ordinal: u64) -> Option<&Self> {
        self.sampling.takes_message(send_id, ordinal).then_some(self)
    }

    pub(super) fn add(&self, span: SpanData) {
        match self.queue.try_send(span) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => count("no_room", 1),
            Err(TrySendError::Closed(_)) => count("lost", 1),
        }
    }
}

impl Spans {
    /// Waits for spans and adds them to `batch`, up to [`MOST_AT_ONCE`] in all. If the future is dropped
    /// before it completes, no span is lost.
    pub async fn wait(&mut self, batch: &mut Vec<SpanData>) {
        let room = MOST_AT_ONCE.saturating_sub(batch.len());
        if room > 0 && self.0.recv_many(batch, room).await == 0 {
            // The tracer lasts as long as the process.
            std::future::pending::<()>().await;
        }
    }

    /// Adds the waiting spans to `batch`, up to [`MOST_AT_ONCE`] in all.
    pub fn take(&mut self, batch: &mut Vec<SpanData>) {
        while batch.len() < MOST_AT_ONCE {
            match self.0.try_recv() {
                Ok(span) => batch.push(span),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }
}

/// Counts spans that reached the collector.
pub fn note_exported(spans: usize) {
    count("exported", spans);
}

/// Counts lost spans: the collector was unreachable, or refused them.
pub fn note_lost(spans: usize) {
    count("lost", spans);
}

fn count(result: &'static str, spans: usize) {
    metrics::counter!("pombo_spans_total", "result" => result).increment(spans as u64);
}

#[cfg(test)]
mod tests {
    use opentelemetry::{KeyValue, Value};

    use super::super::trace::{Begun, child};
    use super::*;

    fn span(number: i64) -> SpanData {
        child(Uuid::now_v7(), "test", Begun::now(), vec![KeyValue::new("number", number)], None)
    }

    fn number(span: &SpanData) -> &Value {
        &span.attributes[0].value
    }

    #[test]
    fn a_span_for_which_there_is_no_room_is_dropped_and_counted() {
        let (queue, spans) = mpsc::channel(2);
        let sampling = Sampling::new(&config::Config::default().telemetry);
        let (tracer, mut spans) = (Tracer { queue, sampling }, Spans(spans));
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, || (1..=3).for_each(|id| tracer.add(span(id))));
        let mut batch = Vec::new();
        spans.take(&mut batch);
        assert_eq!(batch.iter().map(number).collect::<Vec<_>>(), [&Value::I64(1), &Value::I64(2)]);
        metrics::with_local_recorder(&recorder, || {
            tracer.add(span(4));
            drop(spans);
            tracer.add(span(5));
        });
        let shown = recorder.handle().render();
        for line in [r#"pombo_spans_total{result="no_room"} 1"#, r#"pombo_spans_total{result="lost"} 1"#] {
            assert!(shown.contains(line), "{shown}");
        }
    }

    #[test]
    fn no_more_spans_are_taken_at_once_than_fit_into_one_export() {
        let (queue, spans) = mpsc::channel(MOST_AT_ONCE + 1);
        (0..=MOST_AT_ONCE as i64).for_each(|id| queue.try_send(span(id)).unwrap());
        let (mut spans, mut batch) = (Spans(spans), Vec::new());
        spans.take(&mut batch);
        assert_eq!(batch.len(), MOST_AT_ONCE);
        batch.clear();
        spans.take(&mut batch);
        assert_eq!(batch.len(), 1);
    }
}
