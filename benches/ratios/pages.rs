//! Every page of the console, of a company with a million contacts, ten thousand sends and a thousand tags, while one more
//! send of a million goes out; beside `/healthz`, in turns.

mod addresses;
pub(crate) mod report;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use pombo::accounts::{Create, Invite, Origin, Role, SignIn, SignedIn};
use pombo::console::ROUTES;
use pombo::store::changes::Who;
use uuid::Uuid;

use crate::populate::Bulk;
use crate::seed::Seed;
use crate::service::{Ground, Service};
use crate::{Row, dispatch, people};

const CONTACTS: u64 = 1_000_000;
pub(crate) const SENDS: u64 = 10_000;
const COMPANIES: u64 = 200;
const MESSAGES: u64 = 1_000_000;
/// The largest send whose figures a page counts.
const COUNTED: u64 = 16_384;
const TEMPLATES: u64 = 500;
const SUPPRESSED: u64 = 100_000;
const CHANGES: u64 = 100_000;
const MEMBERS: u64 = 100;
const KEYS: u64 = 100;
const FILES: u64 = 1_000;
/// Channels of the company beside its first.
pub(crate) const CHANNELS: usize = 20;
/// The rate of the send that goes out meanwhile.
pub(crate) const RATE: &str = "100/s";
/// Requests for each page.
const ROUNDS: usize = 100;
const PASSWORD: &str = "a long enough password";

const WORDS: report::Words = report::Words {
    slowest: "the console's slowest page, 1 M contacts, 10,000 sends, 1,000 tags, while a send of 1 M goes out",
    heaviest: "… its heaviest page, compressed, with all assets",
    most: "≤ 100 kB, the page ≤ 60 kB",
};

/// The caller of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    Nobody,
    Owner,
    Operator,
}

/// A page and its measures.
pub(crate) struct Shown {
    path: String,
    asker: Asker,
    /// Milliseconds.
    took: Vec<f64>,
    bytes: usize,
}

pub(crate) fn measure() -> Vec<Row> {
    let provider = dispatch::provider(Arc::new(AtomicU64::new(0)));
    actix_web::rt::System::new().block_on(async {
        let ground = Ground::new(&format!("http://{provider}"), RATE, dispatch::CONCURRENCY).await;
        people::add(&ground.store, ground.company, CONTACTS).await;
        let stage = Stage::prepare(ground).await;
        let mut pages: Vec<Shown> = stage.addresses().await.into_iter().map(Shown::new).collect();
        check_routes(&pages);
        let (mut health, bare) = (Vec::new(), format!("http://{}/healthz", stage.service.address));
        // The service's own work after a start is over, and every page was requested once.
        for round in 0..=ROUNDS {
            for page in &mut pages {
                let (took, bytes) = stage.ask(&page.path, page.asker).await;
                let began = Instant::now();
                stage.client.get(&bare).send().await.unwrap().bytes().await.unwrap();
                if round > 0 {
                    page.took.push(took);
                    health.push(began.elapsed().as_secs_f64() * 1_000.0);
                }
                page.bytes = page.bytes.max(bytes);
            }
        }
        let assets = stage.assets().await;
        stage.service.engine.stop().await;
        report::rows(pages, health, assets, &WORDS)
    })
}

impl Shown {
    fn new((path, asker): (String, Asker)) -> Self {
        Self { path, asker, took: Vec::new(), bytes: 0 }
    }

    /// What an owner asks for.
    pub(crate) fn of_owner(path: String) -> Self {
        Self::new((path, Asker::Owner))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn note(&mut self, took: Duration, bytes: usize) {
        self.took.push(took.as_secs_f64() * 1_000.0);
        self.bytes = self.bytes.max(bytes);
    }
}

/// Checks that every page of the console's table is measured.
fn check_routes(pages: &[Shown]) {
    let fits = |route: &str, path: &str| {
        let path = path.split('?').next().unwrap_or_default();
        let (mut parts, mut own) = (route.split('/'), path.split('/'));
        loop {
            match (parts.next(), own.next()) {
                (None, None) => return true,
                (Some(part), Some(_)) if part.starts_with('{') => {}
                (Some(part), Some(word)) if part == word => {}
                _ => return false,
            }
        }
    };
    let measured = |route: &str| pages.iter().any(|page| fits(route, &page.path));
    // This service runs without a cluster, so there is no page of a node. The inbox has rows of its own.
    let is_page = |path: &str| {
        !["/live", "/file", "{file}", "/thumbnail"].iter().any(|end| path.ends_with(end))
            && !path.contains("{rest")
            && !["/console/operator/nodes/{id}", "/console/inbox/{id}"].contains(&path)
    };
    for route in ROUTES.iter().filter(|route| route.method == "GET" && is_page(route.path)) {
        assert!(measured(route.path), "{} is not measured", route.path);
    }
}

/// A running service whose console has full pages.
pub(crate) struct Stage {
    pub(crate) service: Service,
    client: reqwest::Client,
    /// The sessions of an owner in the company and of an operator.
    pub(crate) owner: String,
    operator: String,
    invitation: String,
    /// A finished send to a million, a send that goes out, and a send whose figures are counted at once.
    over: Uuid,
    pub(crate) running: Uuid,
    counted: Uuid,
}

impl Stage {
    /// Adds all rows of the database besides the contacts, and starts the service.
    pub(crate) async fn prepare(ground: Ground) -> Self {
        let (company, channel) = (ground.company, ground.channel);
        let seed = Seed::at(&ground.database.url).await;
        let channels = seed.channels(&ground.vault, company, 100, CHANNELS).await;
        seed.know_levels().await;
        seed.sends(company, &channels, SENDS).await;
        let bulk = |recipients, hours: u64, done| Bulk {
            company,
            channel,
            recipients,
            ago: Duration::from_secs(hours * 3_600),
            done,
        };
        let over = seed.bulk(bulk(MESSAGES, 48, MESSAGES)).await;
        let counted = seed.bulk(bulk(COUNTED, 24, COUNTED)).await;
        let running = seed.bulk(bulk(MESSAGES, 1, MESSAGES / 2)).await;
        seed.templates(company, "2", TEMPLATES).await;
        seed.suppressions(company, SUPPRESSED).await;
        seed.changes(CHANGES).await;
        seed.members_of(company, MEMBERS).await;
        seed.keys(company, KEYS).await;
        seed.own_field(company).await;
        seed.files(company, FILES).await;
        seed.costs(company, &channels).await;
        let service = ground.serve().await;
        let owner = owner(&service).await;
        let operator = person(&service, "operator@example.com", None).await;
        let user = service.accounts.session(&owner).await.unwrap().unwrap().user.id;
        seed.companies_of(user, COMPANIES).await;
        seed.settle().await;
        let invite = Invite {
            email: "somebody@example.com",
            name: "Somebody",
            company: Some((company, Role::Member)),
            is_operator: false,
        };
        let invitation = service.accounts.invite(&Who::Pombo, invite).await.unwrap().path();
        let client = reqwest::Client::builder().tcp_nodelay(true);
        let client = client.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { service, client, owner, operator, invitation, over, running, counted }
    }

    /// Milliseconds until the whole answer or, for a file, its first bytes; and the number of bytes.
    async fn ask(&self, path: &str, asker: Asker) -> (f64, usize) {
        let url = format!("http://{}{path}", self.service.address);
        let mut request = self.client.get(url).header("accept-encoding", "gzip");
        request = match asker {
            Asker::Nobody => request,
            Asker::Owner => request.header("cookie", format!("pombo_session={}", self.owner)),
            Asker::Operator => request.header("cookie", format!("pombo_session={}", self.operator)),
        };
        let began = Instant::now();
        let mut answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        if answer.headers().contains_key("content-disposition") {
            let first = answer.chunk().await.unwrap().unwrap_or_default();
            return (began.elapsed().as_secs_f64() * 1_000.0, first.len().min(1));
        }
        let bytes = answer.bytes().await.unwrap();
        (began.elapsed().as_secs_f64() * 1_000.0, bytes.len())
    }

    /// Bytes of all files that a page refers to.
    async fn assets(&self) -> usize {
        let url = format!("http://{}/console/sign-in", self.service.address);
        let page = self.client.get(url).send().await.unwrap().text().await.unwrap();
        let mut bytes = 0;
        for place in page.split('"').filter(|word| word.starts_with("/console/assets/")) {
            bytes += self.ask(place, Asker::Nobody).await.1;
        }
        assert!(bytes > 0);
        bytes
    }
}

/// Signs the company's owner in and returns the session's token.
pub(crate) async fn owner(service: &Service) -> String {
    person(service, "owner@example.com", Some(service.company)).await
}

/// Signs a person in and returns the session's token. Without a company, the person is an operator.
async fn person(service: &Service, email: &str, company: Option<Uuid>) -> String {
    let accounts = &service.accounts;
    let create = Create {
        email,
        name: "Somebody",
        password: Some(PASSWORD),
        company: company.map(|company| (company, Role::Owner)),
        is_operator: company.is_none(),
    };
    accounts.create(&Who::Pombo, create).await.unwrap();
    let origin = Origin::new(IpAddr::V4(Ipv4Addr::LOCALHOST), "bench");
    let signed_in = accounts.sign_in(SignIn { email, password: PASSWORD, code: None, origin: &origin });
    token(service, signed_in.await.unwrap()).await
}

/// Signs people of the company in, and returns the tokens of their sessions. Links instead of passwords save the time that
/// passwords are hashed for.
pub(crate) async fn agents(service: &Service, count: usize) -> Vec<String> {
    let (accounts, mut tokens) = (&service.accounts, Vec::new());
    let origin = Origin::new(IpAddr::V4(Ipv4Addr::LOCALHOST), "bench");
    for nth in 0..count {
        let email = format!("agent.{nth}@example.com");
        let create = Create {
            email: &email,
            name: "Somebody",
            password: None,
            company: Some((service.company, Role::Member)),
            is_operator: false,
        };
        let user = accounts.create(&Who::Pombo, create).await.unwrap();
        let link = accounts.sign_in_link(&Who::Pombo, &user).await.unwrap();
        let signed_in = accounts.use_sign_in_link(link.token.expose(), &origin).await.unwrap();
        tokens.push(token(service, signed_in).await);
    }
    tokens
}

async fn token(service: &Service, signed_in: SignedIn) -> String {
    let SignedIn::Session(session) = signed_in else { panic!("no second factor was set up") };
    service.accounts.choose_company(&session.session, service.company).await.unwrap();
    session.token.expose().to_owned()
}
