//! Faults that no type can express: empty ranges, options that contradict each other.

use std::ops::RangeInclusive;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use url::{Host, Url};

use super::check::repeated;
use super::{Config, Database, Graph, Inbox, mail, media, nats, webhooks};
use domain::address;

/// An option, its fault, and the remedy.
pub(super) type Found = (&'static str, String, String);

/// The maximum of recipients in a stored block; a block is read and written as a whole.
const MAX_BLOCK: usize = 65_536;
/// The smallest body limit: a text of the default length in the widest encoding fits.
const MIN_BODY: usize = 32 * 1024;
/// The shortest interval for watching; a shorter one costs more than it brings.
const MIN_WATCH: Duration = Duration::from_millis(10);

/// How long answers under an `Idempotency-Key` are repeated; their sends are needed for as long.
const MIN_SENDS: Duration = Duration::from_secs(24 * 60 * 60);
/// The range of the patience. With a shorter one, only the first message in the queue could go out; with a
/// longer one, clients would not keep their connections.
const PATIENCE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(10 * 60);

/// All faults of a configuration whose options are each well-formed.
pub(super) fn faults(config: &Config) -> Vec<Found> {
    let mut found = Vec::new();
    amounts(config, &mut found);
    spans(config, &mut found);
    relations(config, &mut found);
    words(config, &mut found);
    media::faults(config, &mut found);
    nats::faults(config, &mut found);
    webhooks::faults(config, &mut found);
    mail::faults(config, &mut found);
    found
}

fn amounts(config: &Config, found: &mut Vec<Found>) {
    let Config { server, database, web_session, engine, retry, limits, imports, telemetry, .. } = config;
    let at_least_one = [
        ("server.connections", server.connections == 0),
        ("server.client_rate", server.client_rate == 0),
        ("database.connections", database.connections == 0),
        ("web_session.starts_per_second", web_session.starts_per_second == 0),
        ("web_session.dials_at_once", web_session.dials_at_once == 0),
        ("web_session.threads", web_session.threads == 0),
        ("engine.concurrency", engine.concurrency == 0),
        ("engine.in_flight", engine.in_flight == 0),
        ("engine.total_in_flight", engine.total_in_flight == 0),
        ("engine.block_size", engine.block_size == 0),
        ("engine.deferred", engine.deferred == 0),
        ("engine.active_bulk_sends", engine.active_bulk_sends == 0),
        ("engine.direct_lane", engine.direct_lane == 0),
        ("engine.resolvers", engine.resolvers == 0),
        ("engine.accept_queue", engine.accept_queue == 0),
        ("retry.attempts", retry.attempts == 0),
        ("limits.text_chars", limits.text_chars == 0),
        ("limits.caption_chars", limits.caption_chars == 0),
        ("limits.link_chars", limits.link_chars == 0),
        ("limits.phone_numbers", limits.phone_numbers == 0),
        ("limits.tags", limits.tags == 0),
        ("limits.page_size", limits.page_size == 0),
        ("limits.search_chars", limits.search_chars == 0),
        ("imports.max_bytes", imports.max_bytes == 0),
        ("telemetry.sample_attempts_per_send", telemetry.sample_attempts_per_send == 0),
    ];
    let zero = at_least_one.into_iter().filter(|(_, zero)| *zero);
    found.extend(zero.map(|(option, _)| (option, "0 is too few".to_owned(), "give at least 1".to_owned())));
    if engine.block_size > MAX_BLOCK {
        let problem = format!("{} recipients in a block are too many", engine.block_size);
        found.push(("engine.block_size", problem, format!("give at most {MAX_BLOCK}")));
    }
    if server.body_limit < MIN_BODY {
        let problem = format!("{} bytes are too few for a long text", server.body_limit);
        found.push(("server.body_limit", problem, "give at least \"32KiB\"".to_owned()));
    }
    if server.hook_body_limit < MIN_BODY {
        let problem = format!("{} bytes are too few for a webhook", server.hook_body_limit);
        found.push(("server.hook_body_limit", problem, "give at least \"32KiB\"".to_owned()));
    }
    if !(0.0..=1.0).contains(&telemetry.sample_sends) {
        let problem = format!("{} is not a fraction of all sends", telemetry.sample_sends);
        found.push(("telemetry.sample_sends", problem, "give a number from 0.0 to 1.0".to_owned()));
    }
    if !(retry.multiplier >= 1.0 && retry.multiplier.is_finite()) {
        let problem = format!("with {} the waits would shrink", retry.multiplier);
        found.push(("retry.multiplier", problem, "give at least 1.0".to_owned()));
    }
}

fn spans(config: &Config, found: &mut Vec<Found>) {
    let Config {
        server,
        database,
        cloud_api,
        web_session,
        retry,
        engine,
        retention,
        inbox,
        graph,
        telemetry,
        ..
    } = config;
    for (option, span) in [
        ("server.keep_alive", server.keep_alive),
        ("server.body_timeout", server.body_timeout),
        ("server.write_timeout", server.write_timeout),
        ("database.acquire_timeout", database.acquire_timeout),
        ("database.commit_timeout", database.commit_timeout),
        ("cloud_api.connect_timeout", cloud_api.connect_timeout),
        ("cloud_api.request_timeout", cloud_api.request_timeout),
        ("cloud_api.idle_timeout", cloud_api.idle_timeout),
        ("retry.first", retry.first),
        ("retention.interval", retention.interval),
        ("telemetry.timeout", telemetry.timeout),
    ] {
        if span.is_zero() {
            found.push((option, "it cannot be zero".to_owned(), "give a span such as \"5s\"".to_owned()));
        }
    }
    if let Some(age) = retention.sends.filter(|age| *age < MIN_SENDS) {
        let problem = format!(
            "{} is less than the 24 hours for which a repeated request is answered from its send",
            humantime::format_duration(age)
        );
        found.push(("retention.sends", problem, "give at least \"1d\", or \"forever\"".to_owned()));
    }
    if !inbox.keep.is_zero() && inbox.keep < Inbox::LEAST {
        let problem = format!(
            "{} is less than the days for which WhatsApp repeats messages: what was removed would come back",
            humantime::format_duration(inbox.keep)
        );
        found.push(("inbox.keep", problem, "give at least \"8d\", or \"0s\" to keep nothing".to_owned()));
    }
    if graph.wait > Graph::LONGEST_WAIT {
        let problem = format!("{} is longer than programs wait", humantime::format_duration(graph.wait));
        found.push(("graph.wait", problem, "give at most \"10s\"".to_owned()));
    }
    if !PATIENCE.contains(&web_session.patience) {
        let problem = format!("{} is out of bounds", humantime::format_duration(web_session.patience));
        found.push(("web_session.patience", problem, "give a span from \"1s\" to \"10m\"".to_owned()));
    }
    if engine.watch_interval < MIN_WATCH {
        let problem = format!("{} is too often", humantime::format_duration(engine.watch_interval));
        found.push(("engine.watch_interval", problem, "give at least \"10ms\"".to_owned()));
    }
}

fn relations(config: &Config, found: &mut Vec<Found>) {
    let Config { server, database, engine, retry, .. } = config;
    let limits =
        [("server.body_limit", server.body_limit), ("server.hook_body_limit", server.hook_body_limit)];
    for (option, limit) in
        limits.into_iter().filter(|(_, limit)| limit.saturating_mul(2) > server.body_memory)
    {
        found.push((
            "server.body_memory",
            format!("{} bytes are less than twice {option}, {limit} bytes", server.body_memory),
            format!("raise it, or lower {option}"),
        ));
    }
    let is_postgres = database.url.as_ref().is_some_and(|url| url.expose().starts_with("postgres"));
    if is_postgres && (1..Database::FEWEST_ON_POSTGRES).contains(&database.connections) {
        found.push((
            "database.connections",
            format!("{} are too few for PostgreSQL, where they are divided", database.connections),
            format!("give at least {}", Database::FEWEST_ON_POSTGRES),
        ));
    }
    if config.cluster.is_joined() && !is_postgres {
        found.push((
            "cluster.name",
            "a cluster needs PostgreSQL, and database.url names no PostgreSQL database".to_owned(),
            "set database.url to \"postgres://…\", or leave cluster.name empty".to_owned(),
        ));
    }
    if config.graph.pass_through && !is_protected(&config.cloud_api.base_url) {
        found.push((
            "graph.pass_through",
            "cloud_api.base_url does not begin with https, and tokens of others would go there".to_owned(),
            "give cloud_api.base_url an address with https, or leave this false".to_owned(),
        ));
    }
    if engine.in_flight < engine.concurrency {
        found.push((
            "engine.in_flight",
            format!("{} is less than engine.concurrency, {}", engine.in_flight, engine.concurrency),
            "raise it, or lower engine.concurrency".to_owned(),
        ));
    }
    if retry.cap < retry.first {
        let [cap, first] = [retry.cap, retry.first].map(humantime::format_duration);
        found.push((
            "retry.cap",
            format!("{cap} is less than retry.first, {first}"),
            "raise it, or lower retry.first".to_owned(),
        ));
    }
}

/// Whether nobody on the way can read what goes to this address.
fn is_protected(base: &str) -> bool {
    let Ok(url) = Url::parse(base) else { return false };
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || is_here
}

fn words(config: &Config, found: &mut Vec<Found>) {
    if config.data.dir.as_os_str().is_empty() {
        found.push(("data.dir", "it is empty".to_owned(), "give a directory; \".\" is this one".to_owned()));
    }
    if config.web_session.device_name.trim().is_empty() {
        let mend = "give a name that people recognise on their phones";
        found.push(("web_session.device_name", "it is empty".to_owned(), mend.to_owned()));
    }
    if config.telemetry.service_name.trim().is_empty() {
        let mend = "give the name of the service at the collector".to_owned();
        found.push(("telemetry.service_name", "it is empty".to_owned(), mend));
    }
    if let Some((problem, mend)) = config.database.url.as_ref().and_then(|url| database(url.expose())) {
        found.push(("database.url", problem.to_owned(), mend.to_owned()));
    }
    if let Some(network) = config.server.trusted_proxies.iter().find(|network| network.prefix_len() == 0) {
        let problem = format!("{network} includes all clients, who could then forge their addresses");
        let mend = "give the addresses of the proxies, such as \"10.0.0.2\", or their network";
        found.push(("server.trusted_proxies", problem, mend.to_owned()));
    }
    if !is_version(&config.cloud_api.version) {
        let problem =
            format!("{} is not a version of the provider's API", repeated(&config.cloud_api.version));
        found.push(("cloud_api.version", problem, "write it like \"v26.0\"".to_owned()));
    }
    if let Err(error) = EnvFilter::builder().parse(&config.log.level) {
        let problem = format!("{} is not a filter: {error}", repeated(&config.log.level));
        let mend =
            "write a level such as \"info\", or levels of modules such as \"info,pombo::engine=debug\"";
        found.push(("log.level", problem, mend.to_owned()));
    }
}

/// What is wrong with the address of a database, and the remedy.
fn database(url: &str) -> Option<(&'static str, &'static str)> {
    if url.starts_with("sqlite:") {
        None
    } else if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        Some((
            "the value is not the address of a supported database",
            "begin it with sqlite:// or postgres://, or leave it empty for a SQLite file in data.dir",
        ))
    } else if address::parse(url).is_none() {
        Some(("the value is not a readable address", address::REMEDY))
    } else {
        None
    }
}

/// "v26.0": a letter, two numbers.
fn is_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    text.strip_prefix('v')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(major, minor)| number(major) && number(minor))
}
