//! The page `docs/codes.md`; a test compares the file with the output of this module.

use std::fmt::Write as _;

use super::entry::{Entry, Section};

const HEAD: &str = "\
<!-- Written by `pombo explain --markdown`. Change the tables in the code, not this page. -->

# Codes and words

Every code and word that an answer of Pombo may contain, from the program's own tables. `pombo explain WORD` prints an
entry in a terminal, for example `pombo explain template_quota 131047`.
";

/// The whole page.
pub(super) fn markdown(entries: &[Entry]) -> String {
    let mut page = HEAD.to_owned();
    let mut before: Option<Section> = None;
    for entry in entries {
        if before.replace(entry.section) != Some(entry.section) {
            let _ = write!(
                page,
                "\n## {}\n\n{}\n\n{}\n",
                entry.section.title(),
                about(entry.section),
                head(entry.section)
            );
        }
        let cells: Vec<_> = [
            Some(format!("`{}`", entry.word)),
            entry.status.map(|status| status.to_string()),
            Some(entry.meaning.replace('|', "\\|")),
            entry.remedy.as_ref().map(|remedy| remedy.replace('|', "\\|")),
        ]
        .into_iter()
        .flatten()
        .collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}

const fn about(section: Section) -> &'static str {
    match section {
        Section::Error => {
            "Every refusal has the body `{\"error\": \"a sentence\", \"code\": \"a_code\"}`. Codes never change; sentences may. \
             The sentence says what to do; `param` names the field or parameter at fault, if there is one."
        }
        Section::Wait => {
            "`GET /api/v1/sends/ID` has one of these words in `waiting.reason`, with a sentence and, where it is known, until \
             when. `GET /api/v1/chat/ID/limits` shows every limit of the channel and which one is in force."
        }
        Section::Send => "The field `state` of a send.",
        Section::SendEnd => {
            "The field `end_reason.code` of a send that ended although nobody asked for that."
        }
        Section::Message => {
            "The field `state` of a message. A state only moves forward, and the provider's report has priority over Pombo's own: \
             a message that Pombo calls `canceled` becomes `delivered` when a receipt says so."
        }
        Section::ChannelStatus => {
            "The field `status` of a channel. Only an answer of the provider about credentials, registration or account changes it; \
             timeouts and server errors do not."
        }
        Section::StatusReason => "The field `status_reason.code` of a channel.",
        Section::OwnCode => {
            "Negative codes in a message's `error.code`: Pombo decided that the message fails, and did not ask the provider."
        }
        Section::ProviderCode => {
            "The codes that Meta's Cloud API gives in answers and webhooks, as a message's `error.code` shows them. A code that \
             is not in the table is retried when the provider says that the error is temporary or answers with status 5xx; otherwise \
             the message fails."
        }
    }
}

const fn head(section: Section) -> &'static str {
    match section {
        Section::Error => "| code | status | meaning |\n|---|---|---|",
        Section::Wait => "| `reason` | what holds the send | what to do |\n|---|---|---|",
        Section::Send | Section::Message => "| `state` | meaning |\n|---|---|",
        Section::SendEnd => "| `code` | what happened | what to do |\n|---|---|---|",
        Section::ChannelStatus => "| `status` | meaning | what to do |\n|---|---|---|",
        Section::StatusReason => "| `code` | what happened | what to do |\n|---|---|---|",
        Section::OwnCode => "| code | meaning | what to do |\n|---|---|---|",
        Section::ProviderCode => "| code | what the provider says | what Pombo does |\n|---|---|---|",
    }
}
