//! The raw samples as CSV: the figures over time, and every request.

use std::io;

use serde::Serialize;

use super::Report;
use super::board::Phase;

/// The most requests that are kept for their CSV, some 64 bytes each. Later ones are counted and left out.
pub(super) const MOST_REQUESTS: usize = 2_000_000;

/// One request of the test.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// When it was due, in seconds since the test began.
    pub due_s: f64,
    /// From then to its answer.
    pub latency_ms: f64,
    /// `single` or `bulk`.
    pub kind: &'static str,
    /// What the service was doing when it was due.
    pub phase: Phase,
    /// The number of the channel, from 1.
    pub channel: usize,
    /// `accepted`, the code of the refusal, or why the answer is not clear.
    pub answer: String,
}

/// Writes the samples of a report.
///
/// # Errors
///
/// When the file cannot be written.
pub fn samples(to: impl io::Write, report: &Report) -> csv::Result<()> {
    write(to, report.samples.iter())
}

/// Writes the requests that were kept.
///
/// # Errors
///
/// When the file cannot be written.
pub fn requests(to: impl io::Write, requests: &[Request]) -> csv::Result<()> {
    write(to, requests.iter())
}

fn write<T: Serialize>(to: impl io::Write, rows: impl Iterator<Item = T>) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;

    #[test]
    fn rows_have_the_names_of_their_fields_and_unknown_figures_are_empty() {
        let mut written = Vec::new();
        write(&mut written, [Sample { at_s: 0.5, promised: 3, ..Sample::default() }].iter()).unwrap();
        let text = String::from_utf8(written).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("at_s,promised,arrived,"), "{text}");
        assert!(lines[1].starts_with("0.5,3,,"), "{text}");
        let request = Request {
            due_s: 1.0,
            latency_ms: 2.5,
            kind: "single",
            phase: Phase::Idle,
            channel: 1,
            answer: "broken, connection".to_owned(),
        };
        let mut written = Vec::new();
        requests(&mut written, &[request]).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(
            text,
            "due_s,latency_ms,kind,phase,channel,answer\n1.0,2.5,single,idle,1,\"broken, connection\"\n"
        );
    }
}
