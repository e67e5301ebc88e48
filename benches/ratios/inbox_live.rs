//! Open pages of the inbox: how long a message takes from the webhook to the event on a page, and the cost of 200 pages while
//! a hundred messages a second arrive.

use std::time::{Duration, Instant};

use pombo::domain::inbound::PeerKey;
use pombo::store::conversations::ConversationFilter;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::live_pages::{Cost, Readers, page};
use crate::pages::{agents, owner};
use crate::service::Service;
use crate::singles::at;
use crate::writers::{Writers, WritersPace};
use crate::{Row, dispatch, median};

const PAGES: usize = 200;
const ROUNDS: usize = 3;
/// The first seconds, in which the pages open.
const BEGINNING: Duration = Duration::from_secs(3);
const PEOPLE: u64 = 2_000;
/// What each of them has written before.
const BEFORE: u64 = 10;
const PACE: WritersPace = WritersPace { connections: 8, in_each: 1, each_second: Some(100) };
/// Messages that are followed, of one of the people, and the time between two of them in milliseconds: without others, such
/// that the list of conversations was not read lately.
const FOLLOWED: u64 = 100;
const QUIET: (u64, u64) = (1_050, 1_450);
const BUSY: (u64, u64) = (150, 350);
/// The longest that an event may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn measure() -> Vec<Row> {
    let provider = dispatch::provider(std::sync::Arc::default());
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), "unlimited", dispatch::CONCURRENCY).await;
        let writers = Writers::new(&service, PEOPLE);
        writers.write_each(BEFORE).await;
        let (owner, agents) = (owner(&service).await, agents(&service, PAGES).await);
        let open = open_pages(&service, &agents).await;
        let conversations = service.store.of(service.company).conversations();
        let peer = PeerKey::of_number(Writers::number(0));
        let own = conversations.find_with(service.channel, &peer).await.unwrap().unwrap().id;
        let thread = page(&service.address, &format!("/console/inbox/live?open={own}"), &owner);
        let list = page(&service.address, "/console/inbox/live", &owner);
        let follow = |pages: Vec<String>, gaps| {
            let (writers, address) = (writers.clone(), service.address.clone());
            async move {
                let following = move || Followed::of(&writers, &address, &pages, gaps);
                tokio::task::spawn_blocking(following).await.unwrap()
            }
        };
        let quiet = follow(vec![thread.clone(), list], QUIET).await;

        let writing = writers.begin(PACE);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        actix_web::rt::time::sleep(BEGINNING).await;
        for _ in 0..ROUNDS {
            without.push(Cost::during(&writers.taken, &[writing.thread]).await);
            let readers = Readers::open(&service.address, open.clone());
            actix_web::rt::time::sleep(BEGINNING).await;
            assert_eq!(service.pages.open_streams(), PAGES);
            with.push(Cost::during(&writers.taken, &[writing.thread, readers.thread]).await);
            readers.close(&service).await;
        }
        // The page that is followed is one of them.
        let readers = Readers::open(&service.address, open[1..].to_vec());
        actix_web::rt::time::sleep(BEGINNING).await;
        let busy = follow(vec![thread], BUSY).await;
        readers.close(&service).await;
        writing.end().await;
        service.engine.stop().await;
        rows(&quiet, &busy, (&with, &without))
    })
}

/// The requests of open pages, each with another conversation.
async fn open_pages(service: &Service, agents: &[String]) -> Vec<String> {
    let conversations = service.store.of(service.company).conversations();
    let listed = conversations.list(&ConversationFilter::default(), None, PAGES as u64).await.unwrap().0;
    assert_eq!(listed.len(), agents.len());
    let place = |id: Uuid| format!("/console/inbox/live?open={id}");
    let pages = listed.iter().zip(agents);
    pages.map(|(conversation, agent)| page(&service.address, &place(conversation.id), agent)).collect()
}

fn rows(quiet: &Followed, busy: &Followed, (with, without): (&[Cost], &[Cost])) -> Vec<Row> {
    let cores = |costs: &[Cost]| median(costs.iter().map(|cost| cost.cores * 100.0).collect());
    let rates = median(with.iter().map(|cost| cost.messages).collect());
    let row = |what, shown: &[f64], answered: &[f64]| Row {
        what,
        ours: format!("p50 {:.0}, p99 {:.0} ms of {}", at(shown, 0.5), at(shown, 0.99), shown.len()),
        yardstick: format!(
            "the webhook's answer p50 {:.1}, p99 {:.1} ms",
            at(answered, 0.5),
            at(answered, 0.99)
        ),
        ratio: "–".to_owned(),
        bound: "p99 ≤ 300 ms",
    };
    vec![
        row("from a webhook to the event on the page of its conversation", &quiet.shown[0], &quiet.answered),
        row("… on a page of the list", &quiet.shown[1], &quiet.answered),
        row(
            "… of its conversation, beside 200 pages while 100 messages a second arrive",
            &busy.shown[0],
            &busy.answered,
        ),
        Row {
            what: "200 open pages of the inbox, each with another conversation, while 2,000 people write 100 messages a second",
            ours: format!("{:.1} % of a core, {rates:.0} messages a second included", cores(with)),
            yardstick: format!("without them {:.1} %", cores(without)),
            ratio: format!("+{:.1} %", cores(with) - cores(without)),
            bound: "≤ 5 % of a core",
        },
    ]
}

/// Milliseconds from a webhook to its answer, and to its event on each of some pages; ascending.
struct Followed {
    answered: Vec<f64>,
    shown: Vec<Vec<f64>>,
}

impl Followed {
    /// Follows messages on a thread of its own.
    fn of(writers: &Writers, address: &str, pages: &[String], (least, most): (u64, u64)) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut streams = Vec::new();
            for page in pages {
                streams.push(OpenPage::of(address, page).await);
            }
            let (mut answered, mut shown) = (Vec::new(), vec![Vec::new(); pages.len()]);
            for nth in 0..FOLLOWED {
                // Spread over the intervals in which pages look for news.
                let gap = Duration::from_millis(least + nth * 7_919 % (most - least));
                futures_util::future::join_all(streams.iter_mut().map(|stream| stream.read_on(gap))).await;
                let text = format!("followed{nth}x");
                let webhook = writers.saying(0, &text);
                let mut hook = TcpStream::connect(address).await.unwrap();
                hook.set_nodelay(true).unwrap();
                let began = Instant::now();
                let answer = async {
                    hook.write_all(&webhook).await.unwrap();
                    let mut buffer = [0; 1_024];
                    let read = hook.read(&mut buffer).await.unwrap();
                    assert!(buffer[..read].starts_with(b"HTTP/1.1 200"));
                    began.elapsed().as_secs_f64() * 1e3
                };
                let events = streams.iter_mut().map(|stream| stream.until(&text, began));
                let (answer, events) = tokio::join!(answer, futures_util::future::join_all(events));
                answered.push(answer);
                shown.iter_mut().zip(events).for_each(|(shown, event)| shown.push(event));
            }
            answered.sort_by(f64::total_cmp);
            shown.iter_mut().for_each(|shown| shown.sort_by(f64::total_cmp));
            Self { answered, shown }
        })
    }
}

/// The stream of an open page.
struct OpenPage {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl OpenPage {
    async fn of(address: &str, request: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut buffer = vec![0; 65_536];
        let first = stream.read(&mut buffer).await.unwrap();
        assert!(
            buffer[..first].starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&buffer[..first])
        );
        Self { stream, buffer }
    }

    /// Reads what comes meanwhile.
    async fn read_on(&mut self, time: Duration) {
        let reading = async {
            loop {
                assert!(self.stream.read(&mut self.buffer).await.unwrap() > 0, "the stream ended");
            }
        };
        tokio::select! {
            () = reading => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Milliseconds until an event with this text has come.
    async fn until(&mut self, text: &str, began: Instant) -> f64 {
        let mut seen = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&seen).contains(text) {
                let read = self.stream.read(&mut self.buffer).await.unwrap();
                assert!(read > 0, "the stream ended");
                seen.extend_from_slice(&self.buffer[..read]);
            }
        };
        assert!(tokio::time::timeout(PATIENCE, reading).await.is_ok(), "{text} is not shown");
        began.elapsed().as_secs_f64() * 1e3
    }
}
