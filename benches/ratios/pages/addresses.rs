//! The addresses of all pages, and the records that some of them are of.

use std::time::Duration;

use pombo::accounts::KeptForms;
use pombo::clock::Timestamp;
use serde_json::json;

use super::{Asker, Stage};

const FILE: &str = "Name,Phone\nAna,+5511977770001\nNobody,12\n";

impl Stage {
    /// The first record of a list of the API.
    async fn first(&self, list: &str) -> String {
        let url = format!("http://{}/api/v1/{list}", self.service.address);
        let answer = self.client.get(url).bearer_auth(&self.service.key).send().await.unwrap();
        let answer: serde_json::Value = answer.json().await.unwrap();
        let records = ["data", "records", "items"].into_iter().find_map(|name| answer[name].as_array());
        let record = records.and_then(|records| records.first()).unwrap_or_else(|| panic!("{answer}"));
        let id = &record["id"];
        id.as_str().map_or_else(|| id.to_string(), str::to_owned)
    }

    /// Adds a record over the API, and returns its id.
    async fn add(&self, list: &str, body: serde_json::Value) -> String {
        let url = format!("http://{}/api/v1/{list}", self.service.address);
        let post = self.client.post(url).bearer_auth(&self.service.key).json(&body);
        let answer: serde_json::Value = post.send().await.unwrap().json().await.unwrap();
        let id =
            answer.get("id").or_else(|| answer.get("send_id")).unwrap_or_else(|| panic!("{list}: {answer}"));
        id.as_str().map_or_else(|| id.to_string(), str::to_owned)
    }

    /// The pages of records that are there for them.
    async fn added(&self, tag: &str) -> Vec<String> {
        let field = self.add("contacts/fields", json!({ "name": "Birth date", "type": "date" })).await;
        let segment = json!({ "name": "One group", "filter": { "contact_tag_id": [tag] } });
        let segment = self.add("contacts/segments", segment).await;
        let reply = self.add("quick-replies", json!({ "word": "hours", "text": "From nine to six" })).await;
        let webhook = json!({ "url": "https://example.com/hook", "types": ["send.finished"] });
        let webhook = self.add("webhooks", webhook).await;
        let start = Timestamp::now().plus(Duration::from_secs(86_400)).to_string();
        let later = json!({ "type": "text", "message": "hi", "contact_tag_id": tag, "send_at": start });
        let later = self.add(&format!("chat/{}/messages", self.service.channel), later).await;
        vec![
            format!("/contacts/fields/{field}"),
            format!("/contacts/segments/{segment}"),
            format!("/contacts?segment={segment}"),
            format!("/quick-replies/{reply}"),
            format!("/webhooks/{webhook}"),
            format!("/sends/{later}"),
            format!("/sends/{later}/start"),
        ]
    }

    /// The pages of the steps of a new send to a tag.
    async fn steps(&self, tag: &str) -> [String; 4] {
        let accounts = &self.service.accounts;
        let session = accounts.session(&self.owner).await.unwrap().unwrap();
        let form = format!("channel={}&type=text&message=Open+until+eight&tag={tag}", self.service.channel);
        let kept = KeptForms::of(accounts).keep(&session, &form).await.unwrap();
        ["who", "what", "check", "when"].map(|step| format!("/sends/new?kept={kept}&step={step}"))
    }

    /// Uploads a file of contacts, one of which is rejected, and returns the address of its page.
    async fn import(&self) -> String {
        let (address, boundary) = (&self.service.address, "----bench");
        let body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"people.csv\"\r\n\r\n{FILE}\r\n\
             --{boundary}--\r\n"
        );
        let post = |place: &str, kind: String, body: String| {
            let request = self.client.post(format!("http://{address}{place}")).header("content-type", kind);
            let cookie = format!("pombo_session={}", self.owner);
            request.header("origin", format!("http://{address}")).header("cookie", cookie).body(body)
        };
        let kind = format!("multipart/form-data; boundary={boundary}");
        let answer = post("/console/contacts/import", kind, body).send().await.unwrap();
        assert_eq!(answer.status(), 303);
        let place = answer.headers()["location"].to_str().unwrap().to_owned();
        let steer = "column-0=first_name&column-1=phone_number&encoding=UTF-8&action=start".to_owned();
        let started =
            post(&place, "application/x-www-form-urlencoded".to_owned(), steer).send().await.unwrap();
        assert_eq!(started.status(), 303);
        place
    }

    /// The addresses of all pages, some with a search, a filter or a late page.
    pub(super) async fn addresses(&self) -> Vec<(String, Asker)> {
        let Self { over, running, counted, invitation, service, .. } = self;
        let user = service.accounts.session(&self.owner).await.unwrap().unwrap().user.id;
        let send = service.last_send().await;
        let (contact, tag) = (self.first("contacts?page=5000").await, self.first("contacts/tags").await);
        let templates = self.first(&format!("chat/{}/templates", service.channel)).await;
        let import = self.import().await;
        let channel = service.channel;
        let mut pages =
            vec![("/console/sign-in".to_owned(), Asker::Nobody), (invitation.clone(), Asker::Nobody)];
        let own = |path: &str| (format!("/console{path}"), Asker::Owner);
        pages.extend(OWN.iter().map(|path| own(path)));
        for (name, path) in [
            ("channels", format!("/{channel}")),
            ("sends", format!("?channel={channel}")),
            ("sends/new", format!("?channel={channel}&type=text")),
            ("sends/new", format!("?channel={channel}&type=template&template={templates}")),
            ("sends", format!("/{send}")),
            ("sends", format!("/{running}")),
            ("sends", format!("/{running}?state=queued&from=600000")),
            ("sends", format!("/{counted}")),
            ("sends", format!("/{over}")),
            ("sends", format!("/{over}?from=999950")),
            ("sends", format!("/{over}?state=read&from=500000")),
            ("sends", format!("/{over}?state=failed&code=131049")),
            ("sends", format!("/{over}?state=canceled")),
            ("sends", format!("/{over}?state=expired&from=500000")),
            ("sends", format!("/{over}/again")),
            ("sends", format!("/{over}/again?code=131049&state=failed")),
            ("sends", format!("/{over}/messages/0")),
            ("sends", format!("/{over}/messages/999999")),
            ("sends", format!("/{over}/messages.csv")),
            ("sends", format!("/{over}/messages.csv?state=failed")),
            ("contacts", format!("/{contact}")),
            ("contacts", format!("?tag={tag}")),
            ("contacts", format!("?send={send}&outcome=received")),
            ("contacts", format!("?send={over}&outcome=not_received")),
            ("contacts/tags", format!("/{tag}")),
        ] {
            pages.push(own(&format!("/{name}{path}")));
        }
        pages.extend(self.added(&tag).await.iter().map(|path| own(path)));
        pages.extend(self.steps(&tag).await.iter().map(|path| own(path)));
        pages.extend([(import.clone(), Asker::Owner), (format!("{import}/rejected"), Asker::Owner)]);
        pages.extend(OPERATORS.iter().map(|path| (format!("/console/operator{path}"), Asker::Operator)));
        for path in
            [format!("companies/{}", service.company), format!("users/{user}"), format!("channels/{channel}")]
        {
            pages.push((format!("/console/operator/{path}"), Asker::Operator));
        }
        pages
    }
}

/// Pages of an owner.
const OWN: &[&str] = &[
    "",
    "/help",
    "/channels",
    "/channels?page=2",
    "/channels?search=channel+11",
    "/channels/new",
    "/templates",
    "/templates?page=20",
    "/templates?search=sale_49&status=APPROVED",
    "/account",
    "/companies",
    "/companies?page=5",
    "/companies?search=company+17",
    "/keys",
    "/company",
    "/company/look",
    "/webhooks",
    "/webhooks/new",
    "/costs",
    "/media",
    "/quick-replies",
    "/automatic-answers",
    "/inbox",
    "/sends",
    "/sends/drafts",
    "/sends?page=200",
    "/sends?state=finished",
    "/sends?state=finished&page=150",
    "/sends?state=canceled",
    "/sends?state=active",
    "/sends?tag=group+0500",
    "/sends?from=2026-01-01",
    "/sends/new",
    "/contacts",
    "/contacts?page=10000",
    "/contacts?page=20000",
    "/contacts?search=.777777%40",
    "/contacts?search=xqxqxq",
    "/contacts?search=%2B55+(11)+90077",
    "/contacts?search=group+0500",
    "/contacts?search=wexford",
    "/contacts?search=wexford&page=1000",
    "/contacts?search=gr",
    "/contacts?search=a",
    "/contacts?search=7",
    "/contacts?field=member_since%3D2023-01-05",
    "/contacts?field=member_since%3E%3D2020-01-01",
    "/contacts?field=member_since%3E%3D2020-01-01&search=wexford",
    "/contacts/new",
    "/contacts/fields",
    "/contacts/tags",
    "/contacts/tags?page=20",
    "/contacts/tags?search=group+05",
    "/contacts/import",
    "/contacts/export",
    "/contacts/export?search=wexford",
    "/suppressions",
    "/suppressions?page=2000",
    "/suppressions?search=%2B5511900000077",
];

/// Pages of an operator.
const OPERATORS: &[&str] = &[
    "",
    "?search=company+17",
    "?companies=5",
    "/nodes",
    "/tiers",
    "/tiers/standard",
    "/users",
    "/prices",
    "/changes",
    "/changes?page=2000",
    "/changes?what=channel.tier",
    "/changes?what=sign_in&page=1000",
    "/changes?subject=person.77%40example.com",
];
