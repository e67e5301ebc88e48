//! Traces of sends: what is done for a send, wherever that is, as spans of one trace on their way to a collector.
//!
//! The id of a trace is the send's own id, and the id of its root span is made from it. So every place that knows a send
//! can add a span to its trace, in another process or after a restart too, and no context travels with messages. The words
//! of [`trace`] say what happened; an exporter takes the spans out of the queue, and is the only one that knows a protocol.
//!
//! Nothing here waits: a span for which the queue has no room is dropped and counted. While traces are off, a call costs
//! one load of a static and a branch.

mod origin;
mod queue;
mod sampling;
mod span;
pub mod trace;

pub use self::origin::{Caller, Origin, carried};
pub use self::queue::{MOST_AT_ONCE, Spans, note_exported, note_lost, open};
pub use self::span::{Side, Span, Value};
