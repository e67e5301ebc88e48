//! The inbox of a company with thousands of records, and of people who may open little.

use std::collections::BTreeSet;

use pombo::accounts::{Create, Role};
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::template::{ListedTemplate, ParameterFormat};
use pombo::store::changes::Who;
use serde_json::value::RawValue;

use super::inbox::Desk;
use super::weight::{MOST, assets, weight};
use crate::harness::WABA;

const PLACE: &str = "/console/inbox";
/// Who writes.
const ANA: &str = "5511900000007";

/// The addresses of the console that a page leads to.
fn links(page: &str) -> BTreeSet<String> {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let links = links.filter(|link| link.starts_with("/console") && !link.contains("/assets/"));
    links.map(|link| link.split('#').next().unwrap().replace("&amp;", "&")).collect()
}

#[tokio::test]
async fn a_page_of_an_agent_leads_only_to_pages_that_agents_may_open() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "hello", 60).await;
    let picture = ListedTemplate {
        provider_id: "7".to_owned(),
        name: "picture".to_owned(),
        language: "en".to_owned(),
        category: "MARKETING".into(),
        status: "APPROVED".into(),
        parameter_format: ParameterFormat::Positional,
        components: RawValue::from_string(
            r#"[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"Fresh cake"}]"#.to_owned(),
        )
        .unwrap(),
        rejected_reason: None,
        quality_score: None,
    };
    let templates = desk.world.service.store().of(desk.world.acme.id).templates();
    templates.sync(WABA, &[picture]).await.unwrap();
    let template = desk.world.service.template_id(&desk.world.acme, "picture", "en").await;
    let (agent, member) = (desk.world.signed_in(Role::Agent).await, desk.world.signed_in(Role::Member).await);
    let place = desk.place(ANA).await;
    let with_file = format!("{place}?template={template}");
    let page = agent.page(&with_file).await;
    assert!(page.contains("name=\"header_link\"") && !page.contains("\"/console/media\""), "{page}");
    assert!(member.page(&with_file).await.contains("href=\"/console/media\" target=\"_blank\""));
    for path in [PLACE, &place, &with_file] {
        for link in links(&agent.page(path).await) {
            let status = agent.get(&link).await.status;
            assert!((200..400).contains(&status), "{path} leads to {link}: {status}");
        }
    }
}

#[tokio::test]
async fn the_inbox_of_a_company_with_many_records_stays_small_and_reaches_all_of_them() {
    let desk = Desk::new().await;
    let (service, acme) = (&desk.world.service, &desk.world.acme);
    for nth in 0..40 {
        let number = format!("55119000001{nth:02}");
        desk.writes(&number, &format!("wamid.{nth}"), &format!("question number {nth}"), 600 - nth).await;
        desk.writes(ANA, &format!("wamid.ana.{nth}"), &format!("line {nth} of a long story"), 500 - nth)
            .await;
    }
    let place = desk.place(ANA).await;
    // The channel of the conversations is the oldest of all.
    for nth in 0..501 {
        let name = format!("Branch {nth} of the company");
        service.channel(acme, Kind::BusinessAccount, &name, Status::Disconnected).await;
    }
    let names: Vec<_> = (0..2_001).map(|nth| (format!("Customers of fair {nth:04}"), None)).collect();
    let tags = service.store().of(acme.id).tags();
    tags.write(&Who::Pombo, &names, Timestamp::now()).await.unwrap();
    for nth in 0..120 {
        let email = format!("person.{nth:03}@acme.example");
        let agent = Create {
            email: &email,
            name: "Maria Aparecida dos Santos",
            password: None,
            company: Some((acme.id, Role::Agent)),
            is_operator: false,
        };
        service.accounts().create(&Who::Pombo, agent).await.unwrap();
    }
    let owner = desk.world.signed_in(Role::Owner).await;
    let page = owner.page(&place).await;
    assert!(page.contains("name=\"message\""), "it can be answered, whatever the number of channels: {page}");
    let mut files = 0;
    for file in assets(&page) {
        files += weight(&owner, file).await;
    }
    for path in [PLACE, &place] {
        let bytes = files + weight(&owner, path).await;
        assert!(bytes <= MOST, "{path}: {bytes} bytes, {files} of them for files");
    }
    // Those that are not suggested are found by their names.
    let page = owner.page(&format!("{PLACE}?channel=Shop+%26+Co")).await;
    assert!(page.contains("question number 39") && page.contains("value=\"Shop &amp; Co\""), "{page}");
    let page = owner.page(&format!("{PLACE}?channel=Branch+500+of+the+company&tag=nothing")).await;
    assert!(page.contains("There is nothing with this name."), "{page}");
    assert!(!page.contains("question number 39"), "{page}");
    for (form, field, unknown, known, says) in [
        ("tags", "tag", "Customers of", "Customers of fair 1999", "The tags are changed."),
        ("assign", "to", "nobody@acme.example", "Person.119@acme.example", "The conversation is assigned."),
    ] {
        let refused = owner.post(&format!("{place}/{form}"), &[(field, unknown)]).await;
        assert_eq!(refused.status, 422, "{form}: {}", refused.body);
        assert!(refused.body.contains(&format!("value=\"{unknown}\"")), "{form}: {}", refused.body);
        let page = owner.submit(&format!("{place}/{form}"), &[(field, known)]).await;
        assert!(page.contains(says), "{form}: {page}");
    }
    let page = owner.page(&format!("{PLACE}?tag=Customers+of+fair+1999")).await;
    assert!(page.contains("line 39 of a long story") && !page.contains("question number"), "{page}");
}
