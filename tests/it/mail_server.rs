//! Alerts through a mail server: over TLS, to who wants them, once, after it was away and after the service was killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::alert::AlertKind;
use pombo::store::Store;
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::events::killed::metric;
use crate::proxy::OwnPort;
use crate::running::{NUMBER, until};
use crate::serving::Serving;

const ANA: &str = "ana@acme.example";
const HOUR: Duration = Duration::from_secs(3_600);

/// Tests that need Python with the packages of `tests/mail/requirements.txt`.
macro_rules! with_mail {
    ($($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[actix_web::test]
                #[ignore = "needs a mail server: run scripts/test"]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::sqlite().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
        mod postgres {
            $(
                #[actix_web::test]
                #[ignore = "needs PostgreSQL and a mail server: run scripts/test"]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::postgres().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
    };
}

with_mail! {
    a_channel_that_is_refused_and_connected_again_is_told_to_its_owner,
    a_mail_that_is_refused_waits_also_while_the_service_is_killed,
    a_mail_is_repeated_when_the_service_is_killed_before_it_knows_that_it_was_taken,
    the_doctor_signs_in_to_the_mail_server,
}

/// A mail server of a test's own, with the mails that it took.
struct MailServer {
    port: OwnPort,
    directory: TempDir,
    child: Option<OwnedChild>,
}

impl MailServer {
    fn start() -> Self {
        let python = std::env::var("POMBO_TEST_MAIL").expect("POMBO_TEST_MAIL names a Python with aiosmtpd");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/server.py");
        let (port, directory) = (OwnPort::new(), tempfile::tempdir().unwrap());
        let mut command = Command::new(python);
        command.arg(script).arg(port.address.port().to_string()).arg(directory.path());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = OwnedChild::spawn(&mut command);
        assert_eq!(child.first_line(), "listening\n");
        Self { port, directory, child: Some(child) }
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        let authority = self.directory.path().join("ca.pem").display().to_string();
        let options = [
            ("POMBO__SERVER__PUBLIC_URL", "https://pombo.example"),
            ("POMBO__MAIL__HOST", "localhost"),
            ("POMBO__MAIL__FROM", "Pombo <alerts@pombo.example>"),
            ("POMBO__MAIL__USER", "pombo"),
            ("POMBO__MAIL__PASSWORD", "s3cret"),
            ("POMBO__METRICS__ENABLED", "true"),
        ];
        let options = options.into_iter().map(|(name, value)| (name, value.to_owned()));
        let port = self.port.address.port().to_string();
        options.chain([("POMBO__MAIL__PORT", port), ("POMBO__MAIL__CA_FILE", authority)]).collect()
    }

    /// A service with a company that Ana owns.
    async fn serving(&self, universe: &Universe) -> Serving {
        let options = self.options();
        let options: Vec<_> = options.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let serving = Serving::new_with(universe, 0, "unlimited", &options).await;
        serving.place.json(&format!("user create {ANA} --name Ana --company Acme --role owner"));
        serving
    }

    fn mails(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.path().join("mails")).unwrap();
        // The last line may not be complete yet.
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn begin(&self, word: &str) {
        std::fs::write(self.directory.path().join(word), "").unwrap();
    }

    fn end(&self, word: &str) {
        std::fs::remove_file(self.directory.path().join(word)).unwrap();
    }
}

/// The service asks the provider about the channel with this token, and gets its answer.
async fn reconnected(serving: &Serving, token: &str, status: &str) {
    let channel = &serving.channel;
    serving.place.json_with(token, &format!("channel reconnect {channel} --token-file -"));
    until(status, async || serving.place.json(&format!("channel show {channel}"))["status"] == status).await;
}

/// Starts the service with a channel that is connected.
async fn serve(serving: &mut Serving) -> (OwnedChild, String) {
    let started = serving.serve().await;
    let show = format!("channel show {}", serving.channel);
    until("the channel connected", async || serving.place.json(&show)["status"] == "connected").await;
    started
}

/// A mail that waits is due now, whatever it waits for.
async fn due_now(store: &Store) {
    let now = Timestamp::now();
    let mail = store.alerts().take(now.plus(HOUR), HOUR).await.unwrap().expect("a mail");
    store.alerts().put_off(mail.id, mail.failures, now).await.unwrap();
}

async fn nothing_waits(store: &Store) {
    until("no mail waits", async || store.alerts().waiting().await.unwrap().0 == 0).await;
}

async fn a_channel_that_is_refused_and_connected_again_is_told_to_its_owner(universe: &Universe) {
    let server = MailServer::start();
    let mut serving = server.serving(universe).await;
    serving.place.json("user create bea@acme.example --name Bea --company Acme --role member");
    let (mut child, url) = serve(&mut serving).await;
    reconnected(&serving, "EAAG-bad", "disconnected").await;
    until("a mail", async || !server.mails().is_empty()).await;
    let mail = server.mails().remove(0);
    assert_eq!(mail["to"], serde_json::json!([ANA]));
    assert_eq!(mail["from"], "Pombo <alerts@pombo.example>");
    assert_eq!(mail["subject"], format!("Acme: N{NUMBER} is disconnected"));
    assert_eq!(mail["unsubscribe"], "<https://pombo.example/console/account#alerts>");
    let page = format!("https://pombo.example/console/channels/{}", serving.channel);
    for part in ["text", "html"] {
        let said = mail[part].as_str().unwrap();
        assert!(said.contains("Hello Ana") && said.contains(&page), "{said}");
    }

    // As if a minute were over.
    let store = &universe.store;
    let (company, channel): (Uuid, Uuid) = {
        let channel = store.channels().find(serving.channel.parse().unwrap()).await.unwrap().unwrap();
        (channel.company_id, channel.id)
    };
    let key = [(company, AlertKind::Channel, channel)];
    let mut threads = store.alerts().threads(&key).await.unwrap();
    threads[0].told_at = None;
    assert!(store.alerts().tell(&threads, &[], Timestamp::now()).await.unwrap());
    reconnected(&serving, "EAAG-good", "connected").await;
    until("another mail", async || server.mails().len() > 1).await;
    let mail = server.mails().remove(1);
    assert_eq!(mail["subject"], format!("Acme: N{NUMBER} is connected again"));
    nothing_waits(store).await;
    assert_eq!(metric(&url, r#"pombo_mails_total{result="sent"}"#).await, Some(2.0));
    child.crash();
    serving.simulator.stop().await;
}

async fn a_mail_that_is_refused_waits_also_while_the_service_is_killed(universe: &Universe) {
    let server = MailServer::start();
    let mut serving = server.serving(universe).await;
    server.begin("refuse");
    let (mut child, url) = serve(&mut serving).await;
    reconnected(&serving, "EAAG-bad", "disconnected").await;
    let failed = r#"pombo_mails_total{result="failed"}"#;
    until("an attempt", async || metric(&url, failed).await.is_some_and(|failed| failed > 0.0)).await;
    child.crash();
    assert_eq!(server.mails().len(), 0);
    server.end("refuse");
    due_now(&universe.store).await;

    let (mut child, _) = serving.serve().await;
    nothing_waits(&universe.store).await;
    assert_eq!(server.mails().len(), 1);
    child.crash();
    serving.simulator.stop().await;
}

async fn a_mail_is_repeated_when_the_service_is_killed_before_it_knows_that_it_was_taken(
    universe: &Universe,
) {
    let server = MailServer::start();
    let mut serving = server.serving(universe).await;
    server.begin("hold");
    let (mut child, _) = serve(&mut serving).await;
    reconnected(&serving, "EAAG-bad", "disconnected").await;
    until("a mail whose answer is held back", async || !server.mails().is_empty()).await;
    child.crash();
    server.end("hold");
    due_now(&universe.store).await;

    let (mut child, _) = serving.serve().await;
    nothing_waits(&universe.store).await;
    let ids: Vec<_> = server.mails().iter().map(|mail| mail["id"].clone()).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
    child.crash();
    serving.simulator.stop().await;
}

async fn the_doctor_signs_in_to_the_mail_server(universe: &Universe) {
    let mut server = MailServer::start();
    let serving = server.serving(universe).await;
    let found = || {
        let run = serving.place.run("doctor --json");
        let findings: Value = serde_json::from_str(&run.stdout).unwrap();
        let mut findings = findings.as_array().unwrap().iter();
        let mail = findings.find(|finding| finding["check"] == "mail").unwrap().clone();
        assert!(!run.stdout.contains("s3cret") && !run.stderr.contains("s3cret"), "{run:?}");
        mail
    };
    let good = found();
    assert_eq!(good["state"], "good", "{good}");
    server.child.take().unwrap().crash();
    let bad = found();
    let said = bad["finding"].as_str().unwrap();
    assert!(bad["state"] == "bad" && said.contains("no connection to the mail server"), "{bad}");
    assert!(server.mails().is_empty(), "it sends nothing");
    serving.simulator.stop().await;
}
