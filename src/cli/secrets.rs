//! `pombo secrets`.

use clap::Args;
use serde_json::json;

use super::output::{Columns, Listed};
use super::session::Session;
use crate::app::key_proof;
use crate::app::sealing_keys::{self, Key, Rotated};

#[derive(Debug, Args)]
pub(super) struct Forget {
    /// The key's id, as `pombo secrets list` shows it
    key: String,
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
    ];
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    session.output.list(&sealing_keys::list(&session.app).await?, "there are no keys")
}

pub(super) async fn forget(session: &Session, Forget { key }: Forget) -> anyhow::Result<()> {
    let values = key_proof::forget(&session.app, &session.who(), &key).await?;
    let said = format!(
        "the key {key} counts as lost; {values} secrets that are sealed with it stay and cannot be opened\n\
         next: start the service, and enter them again with `pombo channel reconnect` and `pombo channel webhook`; \
         pair web sessions again, and reset the second factors of people with `pombo user reset --totp`"
    );
    session.output.record(&json!({ "key": key, "secrets": values }), &said)
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
            let retired: Vec<_> = retired.iter().map(ToString::to_string).collect();
            format!(
                "removed: {}\nnext: back up {}; older copies of the database need the older copy of this \
                file",
                if retired.is_empty() { "no key".to_owned() } else { retired.join(", ") },
                path.display()
            )
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
