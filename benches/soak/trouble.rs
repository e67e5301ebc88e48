//! The faults, in turns: at the provider for some seconds each, and kills of the service.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use simulator::Simulator;

use crate::WABA;
use crate::channel::{Channel, PLANS};
use crate::service::Service;

/// How long one kind of trouble lasts, and how long the pause after it is.
const TURN: Duration = Duration::from_secs(8);
const CALM: Duration = Duration::from_secs(4);

/// When the service is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kills {
    pub(crate) every: Duration,
    /// No kills after this moment, so that the last process lives long enough for a measure of its memory.
    pub(crate) until: Instant,
}

/// The present trouble, for the line of progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Going>>);

#[derive(Debug, Default)]
struct Going {
    now: String,
    kills: u64,
}

/// Each kind of trouble with its script. Rules end with their turn; switches end by themselves or by
/// [`Trouble::end`].
fn turns() -> Vec<(&'static str, Value)> {
    let [slow, fast] = [PLANS[0].number, PLANS[1].number];
    let some = |share: f64, outcome: Value| json!({ "probability": share, "seed": 7, "outcome": outcome });
    let number = |id: &str, what: &str| json!({ "number": { "phone_number_id": id, what: "5s" } });
    vec![
        ("the slow number is throttled", number(slow, "throttled_for")),
        ("replies are lost", some(0.05, json!({ "drop_reply": true }))),
        ("connections are reset", some(0.1, json!({ "reset": true }))),
        ("the provider is away", json!({ "outage": "4s" })),
        ("the fast number is throttled", number(fast, "throttled_for")),
        ("answers are no JSON", some(0.02, json!({ "garbled_reply": true }))),
        ("the app is throttled", json!({ "app": { "throttled_for": "5s" } })),
        ("a proxy fails", some(0.05, json!({ "bad_gateway": true }))),
        ("the fast number is upgraded", number(fast, "upgrade_for")),
        ("unknown errors", some(0.05, json!({ "error": { "code": 131_000 } }))),
        ("answers are slow", json!({ "latency": "400ms" })),
        (
            "the account is throttled",
            json!({ "account": { "waba_id": WABA, "throttled_for": "5s", "regain_minutes": 0 } }),
        ),
        ("requests hang and are accepted", some(0.01, json!({ "hang_then_accept": "7s" }))),
        ("messages fail later", some(0.01, json!({ "async_failed": { "code": 131_053 } }))),
    ]
}

impl Trouble {
    /// The name of the present trouble.
    pub(crate) fn now(&self) -> String {
        self.0.lock().unwrap().now.clone()
    }

    /// How often the service was killed.
    pub(crate) fn kills(&self) -> u64 {
        self.0.lock().unwrap().kills
    }

    /// Sets the name of the present trouble.
    pub(crate) fn say(&self, what: &str) {
        what.clone_into(&mut self.0.lock().unwrap().now);
    }

    /// Makes trouble until `end`, and kills the service in the middle of it.
    pub(crate) async fn make(
        &self,
        service: &mut Service,
        simulator: &Simulator,
        channels: &[Arc<Channel>],
        kills: Kills,
        end: Instant,
    ) -> anyhow::Result<()> {
        let mut killed_at = Instant::now();
        for (what, script) in turns().iter().cycle() {
            self.say("calm");
            until(Instant::now() + CALM, end).await;
            if Instant::now() >= end {
                return Ok(());
            }
            self.say(what);
            simulator.script(script)?;
            until(Instant::now() + TURN / 2, end).await;
            if killed_at.elapsed() >= kills.every && Instant::now() < kills.until {
                killed_at = Instant::now();
                self.say(&format!("{what}; the service is killed"));
                self.0.lock().unwrap().kills += 1;
                service.kill()?;
                service.start().await?;
                service.aim(simulator, channels)?;
            }
            until(Instant::now() + TURN / 2, end).await;
            self.end(simulator)?;
        }
        Ok(())
    }

    /// Ends all trouble that does not end by itself.
    pub(crate) fn end(&self, simulator: &Simulator) -> anyhow::Result<()> {
        simulator.end_script();
        Ok(simulator.script(&json!([{ "outage": false }, { "latency": "40ms" }]))?)
    }
}

/// Waits until a moment, at the latest until `end`.
async fn until(moment: Instant, end: Instant) {
    tokio::time::sleep_until(moment.min(end).into()).await;
}
