//! `pombo restore`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::Global;
use super::backup::misused;
use super::machine_user;
use super::output::Output;
use super::session::quiet_config;
use crate::app::backup::{self, Decision, Restored};
use crate::domain::plural::counted;
use crate::store::changes::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
A backup does not contain what happened after it was made. Messages that waited at that time may have been sent since. So \
every send in progress is ended, and its messages without an answer are `unknown`, as after a crash: look at them in the \
console and send them again there, or with POST /api/v1/sends/{id}/retry and {\"state\": \"unknown\"}. Scheduled sends are \
paused until a person resumes them. Opt-outs and requests after the backup are lost. Keys that were revoked since are valid \
again, and people who were removed since may sign in again: --revoke-access revokes all keys.

Restore only a file whose author you trust. A file from somebody else runs nothing on this machine, but its author decides on \
its companies, people and keys.")]
pub(super) struct Arguments {
    /// The file that `pombo backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a database that has data, and lose it
    #[arg(long)]
    force: bool,
    /// Let sends continue where they were: no service sent anything after the backup was made, as when moving
    /// to another machine with the service stopped
    #[arg(long)]
    nothing_sent_since: bool,
    /// Revoke all keys of companies and operators, and end all sessions and links
    #[arg(long)]
    revoke_access: bool,
}

pub(super) async fn run(global: &Global, arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { file, force, nothing_sent_since, revoke_access } = arguments;
    let config = quiet_config(global)?;
    let decision = Decision { force, nothing_sent_since, revoke_access };
    let who = Who::CommandLine(machine_user::name());
    let restored = backup::restore(&config, &file, decision, &who).await.map_err(misused)?;
    let Restored { ended, ignored_objects, missing_keys, key_file } = &restored;
    let keys: Vec<_> = missing_keys
        .iter()
        .map(|(id, secrets)| json!({ "key": id.to_string(), "secrets": secrets }))
        .collect();
    let record = json!({
        "ended_sends": ended.ended_sends,
        "unknown_messages": ended.unknown_messages,
        "paused_sends": ended.paused_sends,
        "nothing_sent_since": nothing_sent_since,
        "revoked_keys": ended.revoked_keys,
        "ignored_objects": ignored_objects,
        "missing_keys": keys,
        "key_file": key_file.as_ref().map(|path| path.display().to_string()),
    });
    Output::new(global.json).record(&record, &said(&restored, decision))
}

fn said(restored: &Restored, decision: Decision) -> String {
    let Restored { ended, ignored_objects, missing_keys, key_file } = restored;
    let Decision { nothing_sent_since, revoke_access, .. } = decision;
    let mut said = "the backup is restored".to_owned();
    if nothing_sent_since {
        said += ", and sends continue where they were";
    }
    if ended.ended_sends > 0 {
        said += &format!(
            "\n{} ended; up to {} may have been sent since and count as unknown: send them again where that is right",
            counted(ended.ended_sends, "send was in progress and is", "sends were in progress and are"),
            counted(ended.unknown_messages, "message", "messages")
        );
    }
    if ended.paused_sends > 0 {
        said += &format!(
            "\n{} paused: resume what was not canceled since",
            counted(ended.paused_sends, "scheduled send is", "scheduled sends are")
        );
    }
    if *ignored_objects > 0 {
        said += &format!(
            "\n{} not Pombo's, such as triggers or functions, and left out",
            counted(*ignored_objects, "object of the backup is", "objects of the backup are")
        );
    }
    if revoke_access {
        said += &format!(
            "\n{} revoked: create new ones with `pombo key create` and `pombo operator create`",
            counted(ended.revoked_keys, "key is", "keys are")
        );
    } else {
        said += "\nkeys that were revoked and people who were removed since the backup are valid again: look at `pombo key \
        list` and `pombo user list`, or restore with --revoke-access";
    }
    if !nothing_sent_since || revoke_access {
        said += "\nall users have to sign in again; links that were created before the backup are no longer \
        valid";
    }
    let place = match key_file {
        Some(path) => format!("as {}", path.display()),
        None => "as secrets.key or in secrets.previous_keys".to_owned(),
    };
    for (id, secrets) in missing_keys {
        said += &format!(
            "\nMISSING KEY: {} sealed with the key {id}, which is missing: put the key of the time of the backup \
             back {place} before the service starts",
            counted(*secrets, "secret is", "secrets are")
        );
    }
    if missing_keys.is_empty() {
        said += "\nthe configured keys open its secrets";
    }
    said
}
