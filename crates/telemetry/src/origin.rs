//! The origin of a send: the request that caused it.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::Either;
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

use super::queue;

tokio::task_local! {
    /// The request in progress.
    static CURRENT: Origin;
}

/// The request that caused a send; unknown while traces are off. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Origin(Option<Arc<Asked>>);

/// The fields of a request that a trace contains.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) began: SystemTime,
    /// Its `X-Request-Id`.
    pub(super) request_id: String,
    /// The caller's span in its own trace.
    pub(super) caller: Option<SpanContext>,
}

impl Origin {
    /// The origin for a new request, with its id and its header `traceparent`. An invalid header is ignored.
    pub fn new<'a>(request_id: &str, traceparent: impl FnOnce() -> Option<&'a str>) -> Self {
        if queue::tracer().is_none() {
            return Self::default();
        }
        Self(Some(Arc::new(Asked {
            began: SystemTime::now(),
            request_id: request_id.to_owned(),
            caller: traceparent().and_then(parse),
        })))
    }

    /// The request in progress, if there is one.
    pub fn current() -> Self {
        if queue::tracer().is_none() {
            return Self::default();
        }
        CURRENT.try_with(Self::clone).unwrap_or_default()
    }

    /// Makes this the origin inside of `answer`.
    pub fn carry<F: Future>(self, answer: F) -> impl Future<Output = F::Output> + use<F> {
        if self.0.is_some() { Either::Left(CURRENT.scope(self, answer)) } else { Either::Right(answer) }
    }

    pub(super) fn asked(&self) -> Option<&Asked> {
        self.0.as_deref()
    }
}

/// Makes the present origin the origin of a task that outlives the present one.
pub fn carried<F: Future>(task: F) -> impl Future<Output = F::Output> + use<F> {
    Origin::current().carry(task)
}

/// Parses a `traceparent`: version, trace, span and flags, <https://www.w3.org/TR/trace-context/>. Later versions may
/// have more fields after them.
fn parse(header: &str) -> Option<SpanContext> {
    let (version, rest) = header.split_once('-')?;
    let (trace_id, rest) = rest.split_once('-')?;
    let (span_id, rest) = rest.split_once('-')?;
    let (flags, more) = rest.split_once('-').map_or((rest, None), |(flags, more)| (flags, Some(more)));
    let version = digits(version, 2)?;
    if version == 0xff || (version == 0 && more.is_some()) {
        return None;
    }
    let trace_id = TraceId::from_bytes(digits(trace_id, 32)?.to_be_bytes());
    let span_id = SpanId::from_bytes(u64::try_from(digits(span_id, 16)?).ok()?.to_be_bytes());
    let flags = TraceFlags::new(u8::try_from(digits(flags, 2)?).ok()?);
    let context = SpanContext::new(trace_id, span_id, flags, true, TraceState::default());
    context.is_valid().then_some(context)
}

/// Exactly `count` hexadecimal digits, in lower case.
fn digits(text: &str, count: usize) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = text.len() == count && text.bytes().all(is_digit);
    is_number.then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_header_is_read_as_the_w3c_specifies_it() {
        let read = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let caller = parse(read).unwrap();
        assert_eq!(caller.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(caller.span_id().to_string(), "b7ad6b7169203331");
        assert!(caller.is_sampled() && caller.is_remote());
        assert_eq!(parse(&read.replacen("00", "01", 1)), Some(caller.clone()));
        assert_eq!(parse(&format!("{}-more", read.replacen("00", "01", 1))), Some(caller));
    }

    #[test]
    fn an_invalid_header_counts_as_none() {
        for header in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b71692033310-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(parse(header), None, "{header}");
        }
    }
}
