//! `pombo plan --set`: all active sends, under their tiers and under changed ones.

use serde::Serialize;

use crate::api::records::SendEffect;
use crate::cli::failure::Misused;
use crate::cli::session::Session;
use crate::cli::tier;
use crate::cli::tier::effect;
use crate::domain::tier::Assignment;

#[derive(Serialize)]
struct Record {
    sends: Vec<SendEffect>,
    /// The tiers that cannot have these options, each with the reason.
    left_out: Vec<LeftOut>,
}

#[derive(Serialize)]
struct LeftOut {
    tier: String,
    reason: String,
}

pub(super) async fn run(session: &Session, set: &[Assignment], only: Option<String>) -> anyhow::Result<()> {
    let tiers = match &only {
        Some(name) => vec![tier::find(session, name, None).await?],
        None => tier::all(session).await?,
    };
    let mut record = Record { sends: Vec::new(), left_out: Vec::new() };
    for present in &tiers {
        match present.with(set) {
            Ok(after) => record.sends.extend(effect::between(session, present, &after).await?),
            Err(faults) => {
                let reason = faults.join("; also: ");
                record.left_out.push(LeftOut { tier: present.name.clone(), reason });
            }
        }
    }
    // An option that no tier can have is a mistake. Some are for one kind of channel.
    if record.left_out.len() == tiers.len() {
        let reasons =
            record.left_out.first().map_or("there are no tiers", |left_out| left_out.reason.as_str());
        return Err(Misused(reasons.to_owned()).into());
    }
    if session.output.json {
        return session.output.record(&record, "");
    }
    session.output.list(&record.sends, "no bulk send is active")
}
