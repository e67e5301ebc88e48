//! `pombo secrets`.

use clap::Args;
use serde_json::json;

use super::output::{Columns, Listed};
use super::session::Session;
use crate::app::key_proof;
use crate::app::sealing_keys::{self, Key, Rotated};
use crate::domain::plural::counted;

#[derive(Debug, Args)]
pub(super) struct Forget {
    /// The key's id, as `pombo secrets list` shows it
    key: String,
}

#[derive(Debug, Args)]
pub(super) struct Discard {
    /// The ids of former keys, as `pombo secrets list` shows them
    #[arg(required = true)]
    keys: Vec<String>,
}

impl Listed for Key {
    const COLUMNS: Columns<Self> = &[
        ("key", |key| key.id.map_or_else(|| "-".to_owned(), |id| id.to_string())),
        ("state", |key| key.state.as_str().to_owned()),
        ("tokens", |key| key.counts.tokens.to_string()),
        ("app secrets", |key| key.counts.app_secrets.to_string()),
        ("verify tokens", |key| key.counts.verify_tokens.to_string()),
        ("session records", |key| key.counts.session_records.to_string()),
        ("totp secrets", |key| key.counts.totp_secrets.to_string()),
        ("webhook secrets", |key| key.counts.webhook_secrets.to_string()),
        ("webhook headers", |key| key.counts.webhook_headers.to_string()),
        ("data keys", |key| key.counts.data_keys.to_string()),
    ];
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    session.output.list(&sealing_keys::list(&session.app).await?, "there are no keys")
}

pub(super) async fn forget(session: &Session, Forget { key }: Forget) -> anyhow::Result<()> {
    let values = key_proof::forget(&session.app, &session.who(), &key).await?;
    let said = format!(
        "the key {key} counts as lost; {} sealed with it and cannot be opened\n\
         next: start the service, and enter them again with `pombo channel reconnect` and `pombo channel webhook`; \
         pair web sessions again, and reset the second factors of people with `pombo user reset --totp`; `pombo webhook list` \
         names webhook endpoints that wait for another secret or other headers",
        counted(values, "secret stays", "secrets stay")
    );
    session.output.record(&json!({ "key": key, "secrets": values }), &said)
}

pub(super) async fn discard(session: &Session, Discard { keys }: Discard) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for key in &keys {
        let since = sealing_keys::discard(&session.app, &session.who(), key).await?;
        let copies = since.map_or_else(
            || "copies of the database from before its rotation".to_owned(),
            |since| format!("copies of the database from before {since}"),
        );
        lines.push(format!(
            "the key {key} is removed from the key file; {copies} open only with a copy of the key file that still has it"
        ));
    }
    if session.app.config.cluster.is_joined() {
        lines.push("next: run this on each node that has a key file of its own".to_owned());
    }
    session.output.record(&json!({ "discarded": keys }), &lines.join("\n"))
}

pub(super) async fn rotate(session: &Session) -> anyhow::Result<()> {
    let vault = &session.app.vault;
    let Rotated { added, resealed, unopened, retired } =
        sealing_keys::rotate(&session.app, &session.who()).await?;
    let current = vault.current_key();
    let begun = match (added, vault.key_file()) {
        (Some(_), _) => format!("the new sealing key is {current}"),
        (None, Some(_)) => format!("continued an unfinished rotation; the sealing key is {current}"),
        (None, None) => format!("the sealing key is {current}, from secrets.key"),
    };
    let next = match vault.key_file() {
        Some(path) => {
            let kept: Vec<_> = retired.iter().map(ToString::to_string).collect();
            let kept = match &kept[..] {
                [] => String::new(),
                keys => format!(
                    "kept for older copies of the database: {}; `pombo secrets discard KEY` removes a key that no copy \
                     needs, or that somebody may have read\n",
                    keys.join(", ")
                ),
            };
            format!("{kept}next: back up {}", path.display())
        }
        None if vault.previous_keys().is_empty() => {
            "to change the key: set the new one as secrets.key and the old one as secrets.previous_keys, restart the \
             service, and run this again"
                .to_owned()
        }
        None => "secrets.previous_keys can be removed now: nothing is sealed with those keys any \
        more".to_owned(),
    };
    let unopened_said = match unopened {
        0 => String::new(),
        _ => format!(
            "\nno key opens {unopened} values, and they stay as they are: `pombo secrets list` shows them, and \
             `pombo channel reconnect` and `pombo channel webhook` replace those of business accounts"
        ),
    };
    let said = format!("{begun}\n{} values were sealed with it{unopened_said}\n{next}", resealed.total());
    let record = json!({
        "key": current.to_string(),
        "added": added.is_some(),
        "resealed": resealed,
        "unopened": unopened,
        "retired": retired.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    session.output.record(&record, &said)
}
