//! The environment of a one-shot command: the opened app, the output, and look-ups of the records that
//! arguments name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use uuid::Uuid;

use super::Global;
use super::machine_user;
use super::output::Output;
use crate::accounts::Accounts;
use crate::app::{App, Secrecy};
use crate::config::Config;
use crate::domain::channel::Channel;
use crate::domain::nearest::nearest;
use crate::domain::page::PageRequest;
use crate::store::changes::Who;
use crate::store::channels::Owned;
use crate::store::companies::Company;

/// A one-shot command logs only problems, unless the configuration says otherwise.
const PRESETS: &[(&str, &str)] = &[("log.level", "warn")];

/// The channels among which a mistyped name is looked for.
const SUGGESTED: PageRequest = PageRequest { page: 1, limit: 1000 };

pub(super) struct Session {
    pub(super) app: App,
    pub(super) output: Output,
}

/// The configuration of a one-shot command.
pub(super) fn quiet_config(global: &Global) -> anyhow::Result<Config> {
    Ok(Config::load_with(PRESETS, global.config.as_deref())?)
}

/// The same without a statement timeout: an import or export may be long, and its user can interrupt it.
fn patient_config(global: &Global) -> anyhow::Result<Config> {
    let mut config = quiet_config(global)?;
    config.database.statement_timeout = Duration::ZERO;
    Ok(config)
}

/// Where a service with this configuration is reached from this machine.
pub(super) fn own_url(config: &Config) -> String {
    let mut address = config.server.bind;
    // A service that listens on all addresses is asked at this machine's own.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    format!("http://{address}")
}

impl Session {
    /// For a command on a database that is there.
    pub(super) async fn open(global: &Global, secrecy: Secrecy) -> anyhow::Result<Self> {
        let app = Box::pin(App::open_existing(patient_config(global)?, secrecy)).await?;
        Ok(Self { app, output: Output::new(global.json) })
    }

    /// For the command that may be the first one, and creates a database then.
    pub(super) async fn open_or_create(global: &Global) -> anyhow::Result<Self> {
        let app = Box::pin(App::open_or_create(patient_config(global)?)).await?;
        Ok(Self { app, output: Output::new(global.json) })
    }

    /// Closes the database cleanly.
    pub(super) async fn close(self) {
        self.app.store.close().await;
    }

    /// The person who runs the command, for the record of changes.
    pub(super) fn who(&self) -> Who {
        Who::CommandLine(machine_user::name())
    }

    /// Where a service with this configuration is reached from this machine.
    pub(super) fn own_url(&self) -> String {
        own_url(&self.app.config)
    }

    /// Where people reach the service: `server.public_url`, or this machine.
    pub(super) fn public_url(&self) -> String {
        let configured = self.app.config.server.public_url.as_ref();
        configured.map_or_else(|| self.own_url(), |url| url.as_str().trim_end_matches('/').to_owned())
    }

    /// People who sign in.
    pub(super) fn accounts(&self) -> Accounts {
        Accounts::new(self.app.store.clone(), Arc::clone(&self.app.vault))
    }

    /// The company that an argument names.
    pub(super) async fn company(&self, name_or_id: &str) -> anyhow::Result<Company> {
        if let Some(company) = self.app.store.companies().find_named(name_or_id.trim()).await? {
            return Ok(company);
        }
        let companies = self.app.store.companies().all().await?;
        let near = nearest(name_or_id, companies.iter().map(|company| company.name.as_str()));
        Err(match near {
            Some(near) => anyhow!("there is no company `{name_or_id}`; did you mean `{near}`?"),
            None => {
                anyhow!("there is no company `{name_or_id}`; `pombo company list` shows all companies")
            }
        })
    }

    /// The company that an argument names, or all when there is none.
    pub(super) async fn companies(&self, name_or_id: Option<&str>) -> anyhow::Result<Vec<Company>> {
        match name_or_id {
            Some(name_or_id) => Ok(vec![self.company(name_or_id).await?]),
            None => Ok(self.app.store.companies().all().await?),
        }
    }

    /// The channel that an argument names: by its id, by its name, or as COMPANY/NAME.
    pub(super) async fn channel(&self, name_or_id: &str) -> anyhow::Result<Channel> {
        let (channels, wanted) = (self.app.store.channels(), name_or_id.trim());
        if let Ok(id) = Uuid::try_parse(wanted)
            && let Some(found) = channels.find(id).await?
        {
            return Ok(found);
        }
        let mut found = channels.named(wanted).await?;
        if let (true, Some((company, name))) = (found.is_empty(), wanted.split_once('/')) {
            found = channels.named(name.trim()).await?;
            found.retain(|owned| owned.company == company.trim());
        }
        match &found[..] {
            [owned] => Ok(owned.channel.clone()),
            [] => {
                let known = channels.page(SUGGESTED, None).await?.records;
                let near = nearest(wanted, known.iter().map(|owned| owned.channel.name.as_str()));
                let hint = near.map_or_else(
                    || "`pombo channel list` shows all channels".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                Err(anyhow!("there is no channel `{wanted}`; {hint}"))
            }
            several => {
                let lines = several.iter().map(|Owned { channel, company, tier_end: _ }| {
                    format!("\n  {company}/{}  {}", channel.name, channel.id)
                });
                Err(anyhow!(
                    "{} channels are called `{wanted}`: name one as COMPANY/NAME, or by its id{}",
                    several.len(),
                    lines.collect::<String>()
                ))
            }
        }
    }
}
