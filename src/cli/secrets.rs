//! `pombo secrets`.

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::output::Listed;
use super::session::Session;
use crate::app::key_proof;
use crate::app::sealing_keys::{self, Counts, Key, Rotated};

#[derive(Debug, Args)]
pub(super) struct Forget {
    /// The key's id, as `pombo secrets list` shows it
    key: String,
}

#[derive(Serialize)]
struct Record {
    id: Option<String>,
    state: &'static str,
    tokens: u64,
    app_secrets: u64,
    verify_tokens: u64,
    session_records: u64,
    totp_secrets: u64,
}

impl From<Key> for Record {
    fn from(Key { id, state, counts }: Key) -> Self {
        let Counts { tokens, app_secrets, verify_tokens, session_records, totp_secrets } = counts;
        let id = id.map(|id| id.to_string());
        Self { id, state: state.as_str(), tokens, app_secrets, verify_tokens, session_records, totp_secrets }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] =
        &["key", "state", "tokens", "app secrets", "verify tokens", "session records", "totp secrets"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone().unwrap_or_else(|| "-".to_owned()),
            self.state.to_owned(),
            self.tokens.to_string(),
            self.app_secrets.to_string(),
            self.verify_tokens.to_string(),
            self.session_records.to_string(),
            self.totp_secrets.to_string(),
        ]
    }
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let records: Vec<Record> =
        sealing_keys::list(&session.app).await?.into_iter().map(Record::from).collect();
    session.output.list(&records, "there are no keys")
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
    let Counts { tokens, app_secrets, verify_tokens, session_records, totp_secrets } = resealed;
    let record = json!({
        "key": current.to_string(),
        "added": added.is_some(),
        "resealed": {
            "tokens": tokens,
            "app_secrets": app_secrets,
            "verify_tokens": verify_tokens,
            "session_records": session_records,
            "totp_secrets": totp_secrets,
        },
        "unopened": unopened,
        "retired": retired.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    session.output.record(&record, &said)
}
