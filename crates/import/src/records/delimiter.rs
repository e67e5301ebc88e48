//! Finds the delimiter of a text in its first lines.

use crate::header;

/// The delimiters, the least preferred first: of two that would do equally well, a semicolon is hardly ever text.
pub(crate) const DELIMITERS: [u8; 4] = [b',', b'|', b'\t', b';'];

/// A delimiter, and how well it divides the lines.
struct Candidate {
    delimiter: u8,
    /// The first line that has it: the header, or a line behind a title.
    first: usize,
    /// How often that line has it.
    count: usize,
    /// How many lines have it as often.
    alike: usize,
    /// Whether another line has it as often or more often.
    divides_others: bool,
}

/// The delimiter that divides the most lines alike, then the most frequent one; a comma when there is none.
pub(super) fn find<'a>(lines: impl Iterator<Item = &'a [u8]>) -> u8 {
    let lines: Vec<&[u8]> = lines.filter(|line| !super::is_blank(line)).collect();
    let lines = records(&lines);
    // A file of one column has no delimiter, whatever its cells hold.
    let is_one_column = lines.first().is_some_and(|line| header::identifies(&String::from_utf8_lossy(line)));
    let candidates: Vec<Candidate> = DELIMITERS
        .into_iter()
        .filter_map(|delimiter| {
            let counts: Vec<usize> = lines.iter().map(|line| count(line, delimiter)).collect();
            let first = counts.iter().position(|count| *count > 0)?;
            let (count, behind) = (counts[first], &counts[first + 1..]);
            let alike = 1 + behind.iter().filter(|other| **other == count).count();
            let divides_others = behind.iter().any(|other| *other >= count);
            Some(Candidate { delimiter, first, count, alike, divides_others })
        })
        .filter(|candidate| candidate.first == 0 || !is_one_column)
        .collect();
    // The first line is the header, unless it divides no other line.
    let is_header = |candidate: &&Candidate| candidate.first == 0;
    let has_header =
        candidates.iter().filter(is_header).any(|candidate| candidate.divides_others || lines.len() == 1);
    let best = candidates
        .iter()
        .filter(|candidate| !has_header || is_header(candidate))
        .max_by_key(|candidate| (candidate.alike, candidate.count));
    best.map_or(b',', |candidate| candidate.delimiter)
}

/// The lines, with those in one that a quoted field joins. A quote that is never closed joins none.
fn records(lines: &[&[u8]]) -> Vec<Vec<u8>> {
    let is_odd = |line: &&[u8]| line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
    let mut records = Vec::new();
    let mut rest = lines;
    while let Some(line) = rest.first() {
        let end = if is_odd(line) && opens_a_field(line) { rest[1..].iter().position(is_odd) } else { None };
        let (record, behind) = rest.split_at(end.map_or(1, |end| end + 2));
        records.push(record.concat());
        rest = behind;
    }
    records
}

/// Whether a quote stands where a field may begin.
fn opens_a_field(line: &[u8]) -> bool {
    let is_quote_at = |at: usize| {
        let front = line[..at].trim_ascii_end();
        line[at] == b'"' && front.last().is_none_or(|byte| DELIMITERS.contains(byte))
    };
    (0..line.len()).any(is_quote_at)
}

/// How often a line has the delimiter outside quotes.
fn count(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for byte in line {
        quoted ^= *byte == b'"';
        count += usize::from(!quoted && *byte == delimiter);
    }
    count
}
