//! Traces of sends: the steps of a send, in any process, as spans of one trace for a collector.
//!
//! The id of a trace is the send's own id, and the id of its root span is derived from it. So all code that
//! knows a send can add a span to its trace, even in another process or after a restart, and no context
//! travels with messages. Callers report what happened with [`trace`]; an exporter takes the spans from the
//! queue. Spans are made in the form of OpenTelemetry's SDK at once; only the exporter speaks to a collector.
//!
//! Nothing here waits: a span that does not fit into the queue is dropped and counted. While traces are off,
//! a call costs one load of a static and a branch.

mod origin;
mod queue;
mod sampling;
pub mod trace;

pub use self::origin::{Origin, carried};
pub use self::queue::{MOST_AT_ONCE, Spans, note_exported, note_lost, open};
