//! The service is killed after it has accepted what people wrote: before it has fetched their files and answered them, and while
//! it does.

use std::time::Duration;

use super::killed::{Killed, slow};
use crate::database::{Universe, stores};
use crate::heard::Heard;
use crate::running::until;

stores!(what_was_accepted_before_a_kill_is_fetched_and_confirmed_once);

/// How long the provider takes for an answer: files are on their way, and messages in doubt, at a kill.
const LATENCY: Duration = Duration::from_millis(300);

/// When the service is killed.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// As soon as the messages are accepted.
    Accepted,
    /// As soon as the send of the answer is in the ledger.
    Answered,
    /// As soon as the provider has the answer, which the service does not know yet.
    Taken,
}

async fn what_was_accepted_before_a_kill_is_fetched_and_confirmed_once(universe: &Universe) {
    let mut killed = Killed::start(universe, 0, "unlimited", &[]).await;
    let mut heard = Heard::new(universe, &killed.serving).await;
    slow(&killed, LATENCY);
    for point in [Point::Accepted, Point::Answered, Point::Taken, Point::Accepted] {
        let before = killed.messages();
        heard.write(&killed.serving).await;
        heard.accepted().await;
        match point {
            Point::Accepted => {}
            Point::Answered => heard.answered().await,
            Point::Taken => {
                until("the answer at the provider", async || killed.messages() > before).await;
            }
        }
        killed.kill().await;
        heard.let_go().await;
        killed.start_again().await;
        killed.aim();
    }
    heard.each_once(&killed.serving).await;
    killed.end().await;
}
