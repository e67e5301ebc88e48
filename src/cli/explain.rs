//! `pombo explain`: what the codes and words in answers mean, and what to do about them; and what belongs to the metrics.
//!
//! It reads only the tables in the code, so it needs neither a database nor a running service.

mod entry;
mod page;

use clap::Args;

use self::entry::{Entry, Section};
use super::Global;
use super::failure::Misused;
use super::output::Output;
use crate::app::measures;
use crate::domain::nearest::nearest;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Codes and words, such as template_quota or 131047; without any, all of them
    #[arg(allow_negative_numbers = true)]
    words: Vec<String>,
    /// Print the page of the documentation
    #[arg(long, hide = true, conflicts_with = "words")]
    markdown: bool,
    /// Print the page of the documentation about metrics
    #[arg(long, hide = true, conflicts_with_all = ["words", "markdown"])]
    metrics: bool,
    /// Print the alert rules for Prometheus that fit this version's metrics
    #[arg(long, conflicts_with_all = ["words", "markdown", "metrics"])]
    alerts: bool,
    /// Print the board for Grafana that fits this version's metrics
    #[arg(long, conflicts_with_all = ["words", "markdown", "metrics", "alerts"])]
    board: bool,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { words, markdown, metrics, alerts, board } = arguments;
    // Each of these is a file, whatever the form of other answers.
    let files: [(bool, fn() -> String); 4] = [
        (*markdown, || page::markdown(&entry::all())),
        (*metrics, measures::page),
        (*alerts, measures::rules),
        (*board, || format!("{:#}", measures::board())),
    ];
    if let Some((_, write)) = files.iter().find(|(is_asked, _)| *is_asked) {
        return Output::new(false).record(&(), write().trim_end());
    }
    let entries = entry::all();
    let chosen = if words.is_empty() { entries } else { choose(&entries, words)? };
    Output::new(global.json).record(&chosen, &said(&chosen))
}

/// The entries for these words, in the order of the words. A word may have several entries.
fn choose(entries: &[Entry], words: &[String]) -> anyhow::Result<Vec<Entry>> {
    let mut chosen = Vec::new();
    for word in words {
        let found: Vec<_> = entries.iter().filter(|entry| entry.is_for(word)).cloned().collect();
        if found.is_empty() {
            return Err(Misused(unknown(entries, word)).into());
        }
        chosen.extend(found);
    }
    Ok(chosen)
}

fn unknown(entries: &[Entry], word: &str) -> String {
    if word.parse::<i64>().is_ok() {
        return format!(
            "the provider's code {word} is not in the table: such a message is retried when the provider says that the \
             error is temporary or answers with status 5xx, and fails otherwise"
        );
    }
    match nearest(word, entries.iter().map(|entry| entry.word.as_str())) {
        Some(near) => format!("`{word}` is neither a code nor a word of an answer: did you mean `{near}`?"),
        None => {
            format!(
                "`{word}` is neither a code nor a word of an answer: `pombo explain` without a word \
            lists all of them"
            )
        }
    }
}

fn said(entries: &[Entry]) -> String {
    let mut lines = Vec::new();
    let mut before: Option<Section> = None;
    for entry in entries {
        if before.replace(entry.section) != Some(entry.section) {
            lines.push(format!("{}\n", entry.section.title().to_uppercase()));
        }
        let status = entry.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        lines.push(format!("{}{status}", entry.word));
        lines.push(format!("  {}", entry.meaning));
        if let Some(remedy) = &entry.remedy {
            lines.push(format!("  {}: {remedy}", entry.section.remedy_title()));
        }
        lines.push(String::new());
    }
    lines.join("\n").trim_end().to_owned()
}
