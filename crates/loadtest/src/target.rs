//! The target of the measurement: the service, its channels and tags, the receiver, and the meters of resources.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::client::{Answer, Named, Service};
use super::content;
use super::events::EventReceiver;
use super::limit::Limit;
use super::meter::Meter;
use super::own::{self, Own};
use super::receiver::{Receivers, Simulator, Webhooks};
use super::traffic::Tag;
use super::{Plan, Receiving, Target, people};
use store::Store;

/// The timeout of the message that checks the way to the simulator.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);
/// How long the receipts of such messages are waited for, so that the test does not count them.
const RECEIPTS: Duration = Duration::from_secs(5);
/// How many such messages may be tried with a simulator of our own, which may be told to refuse a share of them.
const ATTEMPTS: u32 = 30;

/// One channel of the test.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// The service with a key of the channel's company.
    pub(super) service: Service,
    pub(super) company: String,
    pub(super) channel: Uuid,
    pub(super) name: String,
    /// Its tier, when it is ours.
    pub(super) tier: Option<String>,
    pub(super) limit: Option<Limit>,
    pub(super) tags: Vec<Tag>,
    /// Everything of a send but its recipients.
    pub(super) content: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct Tested {
    /// At least one.
    pub(super) lanes: Vec<Lane>,
    pub(super) singles_to: Vec<String>,
    pub(super) has_singles: bool,
    /// `None` when people receive the messages, so that nothing is counted.
    pub(super) receivers: Option<Receivers>,
    /// The simulator's webhooks; `None` without a simulator.
    pub(super) webhooks: Option<Webhooks>,
    /// The receiver of the service's webhooks, once it is there.
    pub(super) events: Option<EventReceiver>,
    pub(super) service_meters: Vec<Meter>,
    pub(super) simulator_meter: Option<Meter>,
    pub(super) store: Option<Store>,
    pub(super) database: String,
}

impl Tested {
    /// Looks up the target, and sends one message through each channel to check that it arrives at the simulator.
    pub(super) async fn find(plan: &Plan, own: Option<&Own>) -> anyhow::Result<Self> {
        let mut tested = match (&plan.target, own) {
            (Target::Other { .. }, _) => Self::other(plan).await?,
            (Target::Own, Some(own)) => Self::of_own(plan, own).await?,
            (Target::Own, None) => bail!("there is nothing to test"),
        };
        for lane in &mut tested.lanes {
            lane.content = plan.content.body(&lane.service, lane.channel, plan.values).await?;
            lane.limit = Limit::read(&lane.service.limits(lane.channel).await?);
        }
        Ok(tested)
    }

    async fn other(plan: &Plan) -> anyhow::Result<Self> {
        let Target::Other { urls, key, channels, tags, receiving } = &plan.target else {
            bail!("there is nothing to test")
        };
        let service = Service::new(urls, key.clone())?;
        let found = choose("channel", service.channels().await?, channels)?;
        if channels.is_empty() && found.len() > 1 {
            let names: Vec<_> = found.iter().map(|channel| channel.name.as_str()).collect();
            bail!("the company has several connected channels: choose with --channel ({})", names.join(", "));
        }
        let tags: Vec<_> = choose("tag", service.tags().await?, tags)?
            .into_iter()
            .map(|tag| Tag { id: tag.id, name: tag.name, expected: None, numbers: Arc::default() })
            .collect();
        let lanes: Vec<_> = found
            .into_iter()
            .map(|channel| Lane {
                service: service.clone(),
                company: String::new(),
                channel: channel.id,
                name: channel.name,
                tier: None,
                limit: None,
                tags: tags.clone(),
                content: Map::new(),
            })
            .collect();
        let (receivers, webhooks, singles_to, has_singles) = match receiving {
            Receiving::Simulator(simulator) => {
                let receivers = ways(&lanes, simulator, 1).await?;
                let webhooks = Webhooks::begin(Simulator::find(simulator).await?, Duration::ZERO).await?;
                (Some(receivers), Some(webhooks), Vec::new(), true)
            }
            Receiving::RealPeople { singles_to } => (None, None, singles_to.clone(), !singles_to.is_empty()),
        };
        Ok(Self {
            service_meters: service.nodes().into_iter().map(Meter::Metrics).collect(),
            simulator_meter: None,
            store: None,
            database: "its own".to_owned(),
            lanes,
            singles_to,
            has_singles,
            receivers,
            webhooks,
            events: None,
        })
    }

    async fn of_own(plan: &Plan, own: &Own) -> anyhow::Result<Self> {
        let mut lanes = Vec::new();
        for company in &own.companies {
            let service = Service::new(&own.urls(), company.key.clone())?;
            let mut numbers = if plan.values > 0 { company.people.numbers() } else { Vec::new() };
            // Tags without people are left out of the company's, too.
            numbers.retain(|its| !its.is_empty());
            let mut numbers = numbers.into_iter();
            let tag = |(tag, expected): &(Named, u64)| Tag {
                id: tag.id,
                name: tag.name.clone(),
                expected: Some(*expected),
                numbers: numbers.next().unwrap_or_default().into(),
            };
            let tags: Vec<_> = company.tags.iter().map(tag).collect();
            lanes.extend(company.channels.iter().map(|channel| Lane {
                service: service.clone(),
                company: company.name.clone(),
                channel: channel.id,
                name: channel.name.clone(),
                tier: Some(channel.tier.clone()),
                limit: None,
                tags: tags.clone(),
                content: Map::new(),
            }));
        }
        let receivers = ways(&lanes, &own.simulator.base_url, ATTEMPTS).await?;
        let mut service_meters = Vec::new();
        let nodes = lanes.first().map(|lane| lane.service.nodes()).unwrap_or_default();
        for (process, node) in own.services.iter().zip(nodes) {
            let process = Meter::Process(process.id());
            // Without /proc, the service's metrics may have the figures.
            let is_told = process.read().await.is_some();
            service_meters.push(if is_told { process } else { Meter::Metrics(node) });
        }
        Ok(Self {
            service_meters,
            simulator_meter: Some(Meter::Process(own.simulator.id())),
            store: Some(own.store.clone()),
            database: own::database(plan),
            singles_to: Vec::new(),
            has_singles: true,
            receivers: Some(receivers),
            webhooks: Some(Webhooks::begin(Simulator::find(&own.simulator.base_url).await?, RECEIPTS).await?),
            events: None,
            lanes,
        })
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

/// The receivers of all lanes, once a message through each has arrived.
async fn ways(lanes: &[Lane], simulator: &str, attempts: u32) -> anyhow::Result<Receivers> {
    let mut numbers = Vec::new();
    for lane in lanes {
        numbers.push(way(&lane.service, lane.channel, simulator, attempts).await?);
    }
    Receivers::begin(Simulator::find(simulator).await?, numbers).await
}

/// Sends one message through the channel to a number that nobody has, and waits until the simulator has it.
/// This proves that no other person gets messages, and returns which of the simulator's numbers the channel uses.
async fn way(service: &Service, channel: Uuid, simulator: &str, attempts: u32) -> anyhow::Result<String> {
    let simulator_url = simulator;
    let simulator = Simulator::find(simulator).await?;
    simulator.open_windows().await?;
    let mut to = String::new();
    for _ in 0..attempts {
        to = people::probe();
        if let Some(number) = probe(service, channel, &simulator, &to).await? {
            return Ok(number);
        }
    }
    bail!(
        "a message to {to}, a number that nobody has, did not arrive at the simulator {simulator_url}: the service sends \
         elsewhere, or its channel waits. Nothing else was sent"
    )
}

/// The simulator's number from which a message to this recipient came; `None` when it failed, or went elsewhere.
async fn probe(
    service: &Service,
    channel: Uuid,
    simulator: &Simulator,
    to: &str,
) -> anyhow::Result<Option<String>> {
    let send = match service.send(channel, content::to_number(&content::plain(), to, 0)).await {
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
        if let Some(number) = simulator.sender_of(to).await? {
            return Ok(Some(number));
        }
        if is_over || Instant::now() >= deadline {
            service.cancel(send).await?;
            return Ok(None);
        }
        tokio::time::sleep(PAUSE).await;
    }
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
