//! Divides text into CSV records, and reports where quotes are broken.
//!
//! The `csv` crate splits a record into fields, but silently accepts broken quotes: a quote that is never
//! closed would consume the rest of the file. So this module finds the records, by RFC 4180's rules for
//! quotes; spaces around a quoted field are dropped. A record that breaks the rules is reported as broken, and
//! reading continues at the next line.

mod delimiter;

pub(super) use self::delimiter::DELIMITERS;

use std::collections::VecDeque;
use std::io::{self, BufRead};

/// The longest record, in bytes; no contact is that long.
const MAX_RECORD: usize = 256 * 1024;
/// The maximum of lines in a record. A longer record has lost its closing quote; notes of some dozens of
/// lines occur.
const MAX_LINES: usize = 200;
/// The first lines of a text, and their bytes, from which the delimiter is learnt.
const SAMPLE_LINES: usize = 12;
const SAMPLE_BYTES: usize = 64 * 1024;

/// Why a text is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    /// A quote in the middle of a field, or text after the closing one.
    #[error(
        "a quote stands inside a field; a field with quotes must be quoted, and each of its quotes doubled"
    )]
    Stray,
    /// The end of the file, or far too much text, before the closing quote.
    #[error("a quote is opened here and never properly closed")]
    Unclosed,
    /// Over [`MAX_RECORD`].
    #[error("the line is longer than 256 KiB")]
    TooLong,
}

/// The position of a record, and whether it is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The number of its first line, from 1.
    pub(super) line: u64,
    pub(super) broken: Option<Broken>,
}

/// The records of a text.
pub(super) struct Records<R> {
    source: R,
    delimiter: u8,
    /// Lines that were read ahead and belong to later records, each with its length in the text.
    ahead: VecDeque<(Vec<u8>, u64)>,
    line: u64,
    /// Bytes of the text before the next line.
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote in a quoted field: its end, or the first of a doubled quote.
    QuoteInQuoted,
    /// In the spaces behind a quoted field.
    Behind,
    Stray,
}

impl<R: BufRead> Records<R> {
    /// Records that this delimiter divides; without one, it is found in the first lines, or in a spreadsheet's `sep=` line.
    pub(super) fn divided_by(delimiter: Option<u8>, source: R) -> io::Result<Self> {
        let mut records = Self { source, delimiter: b',', ahead: VecDeque::new(), line: 1, offset: 0 };
        let mut lines = Vec::new();
        let (mut sampled, mut before) = (0, 0);
        while lines.len() < SAMPLE_LINES && sampled < SAMPLE_BYTES {
            let mut line = Vec::new();
            if !records.read_line(&mut line)? {
                break;
            }
            sampled += line.len();
            lines.push((line, records.offset - before));
            before = records.offset;
        }
        records.offset = 0;
        if let Some(delimiter) = delimiter {
            records.delimiter = delimiter;
            records.ahead.extend(lines);
            return Ok(records);
        }
        let bare = lines.first().map_or(&b""[..], |(line, _)| line.trim_ascii());
        match bare.strip_prefix(b"sep=").or_else(|| bare.strip_prefix(b"SEP=")) {
            Some([delimiter]) if *delimiter != b'"' => records.delimiter = *delimiter,
            // `sep=` and a tab, which was trimmed with the line end.
            Some([]) => records.delimiter = b'\t',
            _ => {
                records.delimiter = delimiter::find(lines.iter().map(|(line, _)| line.as_slice()));
                records.ahead.extend(lines);
                return Ok(records);
            }
        }
        records.ahead.extend(lines);
        if let Some((_, length)) = records.ahead.pop_front() {
            (records.line, records.offset) = (2, length);
        }
        Ok(records)
    }

    /// The delimiter of the fields.
    pub(super) const fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The first lines of a text of which nothing was read yet.
    pub(super) fn first_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.ahead.iter().map(|(line, _)| line.as_slice())
    }

    /// Passes over the first lines of a text of which nothing was read yet.
    pub(super) fn skip_lines(&mut self, count: usize) {
        for (_, length) in self.ahead.drain(..count.min(self.ahead.len())) {
            self.offset += length;
            self.line += 1;
        }
    }

    /// The position of the next record: the bytes of text before it, and its line.
    pub(super) const fn position(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// Reads the records before `position`, which an earlier reading of the same text returned, and counts them. `None`
    /// when no record ends there: it is not the same text.
    pub(super) fn pass_to(&mut self, position: (u64, u64)) -> io::Result<Option<u64>> {
        let (mut passed, mut text) = (0, Vec::new());
        while self.offset < position.0 {
            text.clear();
            if self.next(&mut text)?.is_none() {
                return Ok(None);
            }
            passed += 1;
        }
        Ok((self.position() == position).then_some(passed))
    }

    /// The source of the text.
    pub(super) const fn source(&self) -> &R {
        &self.source
    }

    /// Appends the next record to `text`; `None` at the end. Blank lines are skipped.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Found>> {
        let start = text.len();
        loop {
            let more = self.read_line(text)?;
            if !more {
                return Ok(None);
            }
            if !is_blank(&text[start..]) {
                break;
            }
            text.truncate(start);
            self.line += 1;
        }
        let line = self.line;
        let first = text.len();
        let mut ends = vec![first];
        let mut lengths = vec![self.offset];
        let mut state = scan(State::FieldStart, &text[start..], self.delimiter);
        let broken = loop {
            if text.len() - start > MAX_RECORD {
                break Some(if ends.len() == 1 { Broken::TooLong } else { Broken::Unclosed });
            }
            match state {
                State::Stray if ends.len() == 1 => break Some(Broken::Stray),
                State::Stray => break Some(Broken::Unclosed),
                State::Quoted if ends.len() == MAX_LINES => break Some(Broken::Unclosed),
                State::Quoted => {
                    let end = text.len();
                    if !self.read_line(text)? {
                        break Some(Broken::Unclosed);
                    }
                    state = scan(state, &text[end..], self.delimiter);
                    ends.push(text.len());
                    lengths.push(self.offset);
                }
                State::FieldStart | State::Plain | State::QuoteInQuoted | State::Behind => break None,
            }
        };
        if broken.is_some() {
            // Only the first line is broken; the lines after it are read again, each as a record of its own.
            for (bounds, lengths) in ends.windows(2).zip(lengths.windows(2)).rev() {
                let length = lengths[1] - lengths[0];
                self.ahead.push_front((text[bounds[0]..bounds[1]].to_vec(), length));
                self.offset -= length;
            }
            text.truncate(first.min(start + MAX_RECORD));
            self.line += 1;
        } else {
            self.line += ends.len() as u64;
            drop_spaces(text, start, self.delimiter);
        }
        Ok(Some(Found { line, broken }))
    }

    /// Appends a line with its end, which is LF, CRLF or CR. For a line over the bound, only the beginning is
    /// kept, enough to show that it is too long. Returns whether there was a line.
    fn read_line(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        if let Some((line, length)) = self.ahead.pop_front() {
            text.extend(line);
            self.offset += length;
            return Ok(true);
        }
        let start = text.len();
        let mut any = false;
        loop {
            let ready = self.source.fill_buf()?;
            let end = ready.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.map_or(ready.len(), |end| end + 1);
            any |= length > 0;
            let room = (MAX_RECORD + 1).saturating_sub(text.len() - start);
            text.extend(&ready[..length.min(room)]);
            let carriage_return = end.is_some_and(|end| ready[end] == b'\r');
            let over = ready.is_empty();
            self.source.consume(length);
            self.offset += length as u64;
            if carriage_return && self.source.fill_buf()?.first() == Some(&b'\n') {
                self.source.consume(1);
                self.offset += 1;
                text.push(b'\n');
            }
            if over || end.is_some() {
                return Ok(any);
            }
        }
    }
}

/// Whether a line holds nothing but its end, and byte-order marks.
fn is_blank(mut line: &[u8]) -> bool {
    while let Some(rest) = line.strip_prefix("\u{feff}".as_bytes()) {
        line = rest;
    }
    line.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

fn scan(state: State, text: &[u8], delimiter: u8) -> State {
    let mut state = state;
    for byte in text {
        state = next_state(state, *byte, delimiter);
        if state == State::Stray {
            break;
        }
    }
    state
}

const fn next_state(state: State, byte: u8, delimiter: u8) -> State {
    match (state, byte) {
        (State::Stray, _) => State::Stray,
        (State::FieldStart | State::QuoteInQuoted, b'"') => State::Quoted,
        (State::Quoted, b'"') => State::QuoteInQuoted,
        (State::Quoted, _) => State::Quoted,
        (State::Plain, b'"') => State::Stray,
        (_, byte) if byte == delimiter => State::FieldStart,
        (_, b'\r' | b'\n') => state,
        (State::FieldStart, b' ') => State::FieldStart,
        (State::QuoteInQuoted | State::Behind, b' ') => State::Behind,
        (State::QuoteInQuoted | State::Behind, _) => State::Stray,
        (State::FieldStart | State::Plain, _) => State::Plain,
    }
}

/// Drops the spaces before and behind the quoted fields of the record that begins at `start`: the `csv` crate would take
/// the quotes for a part of the field.
fn drop_spaces(text: &mut Vec<u8>, start: usize, delimiter: u8) {
    let is_spaced = |pair: &[u8]| pair == b" \"" || pair == b"\" ";
    if !text[start..].windows(2).any(is_spaced) {
        return;
    }
    let record = text.split_off(start);
    let (mut state, mut field) = (State::FieldStart, start);
    for byte in record {
        let before = state;
        state = next_state(before, byte, delimiter);
        match (before, state) {
            (State::FieldStart, State::Quoted) => text.truncate(field),
            // The line end behind the spaces ends the record.
            (_, State::Behind) if byte == b' ' => continue,
            _ => {}
        }
        text.push(byte);
        if state == State::FieldStart && byte != b' ' {
            field = text.len();
        }
    }
}

#[cfg(test)]
mod tests;
