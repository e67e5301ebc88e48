//! The target of the measurement: the service, the channel, the tags, the receiver, and the meters of
//! resources.

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use uuid::Uuid;

use super::client::{self, Answer, Named, Service};
use super::limit::Limit;
use super::meter::Meter;
use super::own::{self, Own};
use super::receiver::{Receiver, Simulator};
use super::traffic::Tag;
use super::{Plan, Receiving, Target, people};
use store::Store;

/// The timeout of the message that checks the way to the simulator.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct Tested {
    pub(super) service: Service,
    pub(super) channel: Uuid,
    pub(super) tags: Vec<Tag>,
    pub(super) singles_to: Vec<String>,
    pub(super) has_singles: bool,
    /// `None` when people receive the messages, so that nothing is counted.
    pub(super) receiver: Option<Receiver>,
    pub(super) limit: Option<Limit>,
    pub(super) service_meter: Meter,
    pub(super) simulator_meter: Option<Meter>,
    pub(super) store: Option<Store>,
    pub(super) database: String,
}

impl Tested {
    /// Looks up the target, and sends one message to check that it arrives at the simulator.
    pub(super) async fn find(plan: &Plan, own: Option<&Own>) -> anyhow::Result<Self> {
        match (&plan.target, own) {
            (Target::Other { url, key, channel, tags, receiving }, _) => {
                let service = Service::new(url, key.clone())?;
                let channel = choose("channel", service.channels().await?, channel.as_slice())?;
                let [channel] = channel.as_slice() else {
                    let names: Vec<_> = channel.iter().map(|channel| channel.name.as_str()).collect();
                    bail!(
                        "the company has several connected channels: choose one with --channel ({})",
                        names.join(", ")
                    );
                };
                let tags = choose("tag", service.tags().await?, tags)?;
                let tags = tags.into_iter().map(|tag| Tag { id: tag.id, name: tag.name, expected: None });
                let (receiver, singles_to, has_singles) = match receiving {
                    Receiving::Simulator(simulator) => {
                        (Some(way(&service, channel.id, simulator).await?), Vec::new(), true)
                    }
                    Receiving::RealPeople { singles_to } => {
                        (None, singles_to.clone(), !singles_to.is_empty())
                    }
                };
                Ok(Self {
                    limit: Limit::read(&service.limits(channel.id).await?),
                    service_meter: Meter::Metrics(service.clone()),
                    simulator_meter: None,
                    store: None,
                    database: "its own".to_owned(),
                    channel: channel.id,
                    tags: tags.collect(),
                    singles_to,
                    has_singles,
                    receiver,
                    service,
                })
            }
            (Target::Own, Some(own)) => {
                let service = Service::new(&own.service.base_url, own.key.clone())?;
                let receiver = way(&service, own.channel, &own.simulator.base_url).await?;
                let process = Meter::Process(own.service.id());
                let is_told = process.read().await.is_some();
                let tag = |(tag, expected): &(Named, u64)| Tag {
                    id: tag.id,
                    name: tag.name.clone(),
                    expected: Some(*expected),
                };
                Ok(Self {
                    limit: Limit::read(&service.limits(own.channel).await?),
                    // Without /proc, the service's metrics may have the figures.
                    service_meter: if is_told { process } else { Meter::Metrics(service.clone()) },
                    simulator_meter: Some(Meter::Process(own.simulator.id())),
                    store: Some(own.store.clone()),
                    database: own::database(plan),
                    channel: own.channel,
                    tags: own.tags.iter().map(tag).collect(),
                    singles_to: Vec::new(),
                    has_singles: true,
                    receiver: Some(receiver),
                    service,
                })
            }
            (Target::Own, None) => Err(anyhow!("there is nothing to test")),
        }
    }
}

/// The records with these ids or names; all of them when none is given.
fn choose(what: &str, all: Vec<Named>, wanted: &[String]) -> anyhow::Result<Vec<Named>> {
    if wanted.is_empty() {
        return match all.is_empty() {
            true if what == "tag" => bail!("the company has no tag with contacts: import some first"),
            true => bail!("the company has no connected business channel"),
            false => Ok(all),
        };
    }
    let find = |wanted: &String| {
        let found = all.iter().find(|one| one.name == *wanted || one.id.to_string() == *wanted);
        found.cloned().ok_or_else(|| {
            let names: Vec<_> = all.iter().take(20).map(|one| one.name.as_str()).collect();
            anyhow!("there is no usable {what} `{wanted}`; there are: {}", names.join(", "))
        })
    };
    wanted.iter().map(find).collect()
}

/// Sends one message through the channel to a number that nobody has, and waits until the simulator has it.
/// This proves that no other person gets messages, and shows which of the simulator's numbers the channel
/// uses.
async fn way(service: &Service, channel: Uuid, simulator: &str) -> anyhow::Result<Receiver> {
    let simulator_url = simulator;
    let simulator = Simulator::find(simulator).await?;
    simulator.open_windows().await?;
    let to = people::probe();
    let send = match service.send(channel, &client::to_number(&to)).await {
        Answer::Accepted { send_id, .. } => send_id,
        Answer::Refused { status, code } => {
            bail!("{} refuses to send through this channel: {code} (status {status})", service.base_url())
        }
        Answer::Unclear(what) => bail!("no answer from {}: {what}", service.base_url()),
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The service is asked first: a message that it has sent by then has arrived, or has gone elsewhere.
        let is_over = service.is_over(send).await?;
        if let Some(number) = simulator.sender_of(&to).await? {
            return simulator.receiver(number).await;
        }
        if is_over || Instant::now() >= deadline {
            service.cancel(send).await?;
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    bail!(
        "a message to {to}, a number that nobody has, did not arrive at the simulator {simulator_url}: the service sends \
         elsewhere, or its channel waits. Nothing else was sent"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_choose_and_nothing_chooses_all() {
        let all: Vec<_> =
            ["vip", "everyone"].map(|name| Named { id: Uuid::now_v7(), name: name.to_owned() }).into();
        assert_eq!(choose("tag", all.clone(), &[]).unwrap(), all);
        let wanted = [all[1].id.to_string(), "vip".to_owned()];
        let chosen = choose("tag", all.clone(), &wanted).unwrap();
        assert_eq!(chosen, [all[1].clone(), all[0].clone()]);
        let error = choose("tag", all, &["vop".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("everyone"), "{error}");
        assert!(choose("tag", Vec::new(), &[]).is_err());
    }
}
