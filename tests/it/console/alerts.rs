//! Alerts by e-mail: what a person chooses, who of a company gets what, and what the pages say without a mail server.

use pombo::accounts::Role;
use pombo::config::{Config, Encryption, Mail};
use pombo::connector::mail::Mailer;
use pombo::domain::alert::AlertKind;
use pombo::domain::page::PageRequest;
use pombo::store::changes::{Filter, What};

use super::world::World;
use crate::harness::Service;
use crate::proxy::OwnPort;

const ACCOUNT: &str = "/console/account";
const CHOOSE: &str = "/console/account/alerts";
const TEST: &str = "/console/account/alerts/test";

/// The boxes of a page that are ticked.
fn ticked(page: &str) -> Vec<AlertKind> {
    let boxes = page.split("<input").filter(|tag| tag.contains("name=\"kind\""));
    let ticked = boxes.filter(|tag| tag.split('>').next().unwrap().contains(" checked"));
    let value = |tag: &str| tag.split("value=\"").nth(1)?.split('"').next()?.parse().ok();
    ticked.filter_map(value).collect()
}

#[tokio::test]
async fn each_person_chooses_what_comes_by_mail_and_the_company_shows_who_gets_what() {
    let world = World::new().await;
    let (owner, member) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Member).await);
    let page = owner.page(ACCOUNT).await;
    assert!(page.contains("this service has no mail server") && page.contains("mail.host"), "{page}");
    let usual: Vec<_> = AlertKind::ALL.iter().copied().filter(|kind| *kind != AlertKind::Send).collect();
    assert_eq!((ticked(&page), ticked(&member.page(ACCOUNT).await)), (usual, Vec::new()));

    let acme = world.acme.id.to_string();
    let fields = [("company", acme.as_str()), ("kind", "send"), ("kind", "channel")];
    for _ in 0..2 {
        let page = member.submit(CHOOSE, &fields).await;
        assert!(page.contains("The choice is saved."), "{page}");
        assert_eq!(ticked(&page), [AlertKind::Channel, AlertKind::Send]);
    }
    let none = owner.submit(CHOOSE, &[("company", acme.as_str())]).await;
    assert!(ticked(&none).is_empty(), "{none}");
    let company = owner.page("/console/company").await;
    let row = |name: &str| company.split("<tr>").find(|row| row.contains(name)).unwrap().to_owned();
    assert!(row("Channels that cannot send").contains("Ana Müller"), "{company}");
    assert!(row("API keys that expire").contains("Nobody") && company.contains("key.expiring"), "{company}");

    let what = [What::Alerts];
    let (store, first) = (world.service.store(), PageRequest { page: 1, limit: 10 });
    let changes = store.changes().page(Filter { what: &what, ..Filter::default() }, first).await.unwrap();
    let told: Vec<_> = changes.records.iter().map(|change| change.subject.as_str()).collect();
    assert_eq!(told, ["owner@acme.example", "member@acme.example"], "a repetition is no change");
    assert_eq!(changes.records[1].after["kinds"], serde_json::json!(["channel", "send"]));

    for (company, kind, status) in
        [(world.globex.id.to_string(), "send", 404), (acme, "weather", 400), ("acme".to_owned(), "send", 404)]
    {
        let refused = member.post(CHOOSE, &[("company", company.as_str()), ("kind", kind)]).await;
        assert_eq!(refused.status, status, "{company} {kind}: {}", refused.body);
    }
    let page = member.submit(TEST, &[]).await;
    assert!(page.contains("Nothing is sent"), "{page}");
}

#[tokio::test]
async fn a_test_mail_that_is_not_sent_says_why() {
    let closed = OwnPort::new();
    let mail = Mail {
        host: closed.address.ip().to_string(),
        port: closed.address.port(),
        from: "alerts@pombo.example".to_owned(),
        encryption: Encryption::None,
        ..Config::default().mail
    };
    let mailer = Mailer::new(&mail).unwrap().unwrap();
    let world = World::on(Service::start_with_mailer(mailer).await).await;
    let owner = world.signed_in(Role::Owner).await;
    assert!(owner.page(ACCOUNT).await.contains("Send me a test mail"));
    let page = owner.submit(TEST, &[]).await;
    let said = "The test mail to owner@acme.example was not sent: no connection to the mail server";
    assert!(page.contains(said), "{page}");
    assert!(!owner.page(ACCOUNT).await.contains(said), "it is said once");
}
