//! The standard output of all commands except `pombo serve`.
//!
//! Records are JSON on one line each, or text for people: tables as wide as the terminal, with colours only
//! on a terminal and only when `NO_COLOR` is not set.

use std::io::{self, IsTerminal, Write as _};

use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;

/// The narrowest terminal to which tables are fitted. Some terminals report the width 0.
const NARROWEST: u16 = 60;

/// Standard output, and the format of this command.
#[derive(Debug)]
pub(super) struct Output {
    /// Whether data is printed as JSON.
    pub(super) json: bool,
    colours: bool,
}

/// Writing to standard output failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(super) struct Unwritten(#[source] pub(super) io::Error);

impl Unwritten {
    /// Whether the reader has closed the pipe, as `head` does.
    pub(super) fn is_reader_gone(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// The columns of a table: the title of each, and what it shows of a record.
pub(super) type Columns<T> = &'static [(&'static str, fn(&T) -> String)];

/// A record that can be a row of a table.
pub(super) trait Listed: Serialize + 'static {
    const COLUMNS: Columns<Self>;
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json, colours: has_colours(&io::stdout()) }
    }

    /// Prints a record as one JSON object, or the sentence `said` for a person.
    pub(super) fn record(&self, record: &impl Serialize, said: &str) -> anyhow::Result<()> {
        if self.json { self.write(&serde_json::to_string(record)?) } else { self.write(said) }
    }

    /// Prints records as a JSON array or a table. A person gets the sentence `empty` when there are none.
    pub(super) fn list<T: Listed>(&self, records: &[T], empty: &str) -> anyhow::Result<()> {
        if self.json {
            return self.write(&serde_json::to_string(records)?);
        }
        if records.is_empty() {
            return self.write(empty);
        }
        let (titles, shown): (Vec<_>, Vec<_>) = T::COLUMNS.iter().copied().unzip();
        self.table(&titles, records.iter().map(|record| shown.iter().map(|shown| shown(record)).collect()))
    }

    /// A table for a person.
    pub(super) fn table(
        &self,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) -> anyhow::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if table.width().is_some_and(|width| width >= NARROWEST) {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        let title = |title: &&str| {
            let cell = Cell::new(title.to_uppercase());
            if self.colours { cell.add_attribute(Attribute::Bold) } else { cell }
        };
        if !columns.is_empty() {
            table.set_header(columns.iter().map(title));
        }
        for row in rows {
            table.add_row(row.into_iter().map(|text| {
                let colour = colour(&text).filter(|_| self.colours);
                let cell = Cell::new(text);
                colour.into_iter().fold(cell, Cell::fg)
            }));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
            // Only prose is broken into lines: a broken id or time can be neither read nor copied.
            let is_prose = match columns.get(column.index) {
                Some(title) => matches!(*title, "description" | "change" | "finding"),
                None => column.index > 0,
            };
            if !is_prose {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        self.write(&table.trim_fmt())
    }

    /// Prints a text for a person or another command, whatever the format.
    pub(super) fn text(&self, text: &str) -> anyhow::Result<()> {
        self.write(text)
    }

    /// Standard output itself, for data that is not a record.
    pub(super) fn stream(&self) -> impl io::Write {
        io::BufWriter::new(io::stdout().lock())
    }

    fn write(&self, text: &str) -> anyhow::Result<()> {
        let mut output = io::stdout().lock();
        writeln!(output, "{text}").and_then(|()| output.flush()).map_err(|error| Unwritten(error).into())
    }
}

/// Whether the output to `stream` may have colours (<https://no-color.org>).
pub(super) fn has_colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The colour of a word that has to be seen at a glance.
fn colour(word: &str) -> Option<Color> {
    match word {
        "connected" | "APPROVED" | "valid" | "applied" | "good" => Some(Color::Green),
        "disconnected" | "blocked" | "REJECTED" | "DISABLED" | "revoked" | "expired" | "bad" => {
            Some(Color::Red)
        }
        "connecting" | "pairing" | "PENDING" | "PAUSED" | "pending" | "look" => Some(Color::Yellow),
        _ => None,
    }
}
