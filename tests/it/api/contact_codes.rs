//! The refusals of the paths that change contacts, quick replies and templates, for the test of all codes.

use pombo::clock::Timestamp;
use pombo::domain::own_field::{FieldKind, MOST_FIELDS};
use pombo::domain::quick_reply::{MOST_QUICK_REPLIES, ReplyDraft};
use pombo::domain::template::{DraftFields, MOST_LOCAL};
use pombo::engine::TemplateDesk;
use pombo::error::Code;
use pombo::store::changes::Who;
use pombo::store::imports::MOST_OPEN;
use pombo::store::quick_replies::SavedReply;
use pombo::store::segments::MOST_SEGMENTS;
use pombo::store::{MOST_NOTES, NewField};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use crate::running::until;

/// Seeds the company, and returns the cases of its refusals.
pub(super) async fn cases(world: &World) -> Vec<(Code, Method, String, Value)> {
    let key = &world.acme.key;
    let post = async |path: &str, body: String| {
        let answer = world.service.post(path, key, body).await;
        assert!((200..300).contains(&answer.status), "{path}: {}", answer.body);
        answer.json()
    };
    let contacts =
        json!({"contacts": [{"phone_number": "5511988880001"}, {"phone_number": "5511988880002"}]});
    let written = post("/api/v1/contacts/batch", contacts.to_string()).await;
    let first = format!("/api/v1/contacts/{}", written["results"][0]["id"].as_str().unwrap());
    let tags =
        post("/api/v1/contacts/tags/batch", json!({"tags": [{"name": "a"}, {"name": "b"}]}).to_string());
    let tag = format!("/api/v1/contacts/tags/{}", tags.await["results"][0]["id"].as_str().unwrap());
    let fields = "/api/v1/contacts/fields";
    let mut field = String::new();
    let store = world.service.store();
    for nth in 1..=MOST_FIELDS {
        let (name, now) = (format!("Field {nth}"), Timestamp::now());
        let made =
            store.of(world.acme.id).fields().add(&Who::Pombo, &name, FieldKind::Text, now).await.unwrap();
        let NewField::Added(made) = made else { panic!("{made:?}") };
        field = format!("{fields}/{}", made.id);
    }
    let imports = "/api/v1/contacts/imports";
    let begun = post(&format!("{imports}?start=true"), "phone\n5511988880001\n".to_owned()).await;
    let begun = format!("{imports}/{}", begun["id"].as_str().unwrap());
    until("the import over", async || world.service.get(&begun, key).await.json()["state"] == "finished")
        .await;
    // In this encoding it has one column, and in another one a thousand.
    let wide = post(&format!("{imports}?encoding=utf-16le"), ",".repeat(2_000)).await;
    let wide = format!("{imports}/{}", wide["id"].as_str().unwrap());
    let mut ready = String::new();
    for _ in 1..MOST_OPEN {
        let import = post(imports, "a,b\n1,2\n".to_owned()).await;
        ready = format!("{imports}/{}", import["id"].as_str().unwrap());
    }
    let segments = "/api/v1/contacts/segments";
    let segment = |name: String| json!({"name": name, "filter": {"search": "ana"}});
    let mut saved = String::new();
    for place in 0..MOST_SEGMENTS {
        let segment = post(segments, segment(place.to_string()).to_string()).await;
        saved = format!("{segments}/{}", segment["id"].as_str().unwrap());
    }
    let notes = format!("{first}/notes");
    for _ in 0..MOST_NOTES {
        post(&notes, json!({"text": "x"}).to_string()).await;
    }
    let replies = "/api/v1/quick-replies";
    let reply = |word: String| json!({"word": word, "text": "x"});
    let mut replied = String::new();
    for nth in 0..MOST_QUICK_REPLIES {
        let draft = ReplyDraft::new(&nth.to_string(), "x", None, &[]).unwrap();
        let of_company = store.of(world.acme.id).quick_replies();
        let saved = of_company.save(&Who::Pombo, None, draft, Timestamp::now()).await.unwrap();
        let SavedReply::Saved(saved) = saved else { panic!("{saved:?}") };
        replied = format!("{replies}/{}", saved.id);
    }
    let templates = format!("/api/v1/web-chat/{}/templates", world.web);
    let template = |name: &str| {
        json!({
            "name": name, "language": "en", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "Hi"}],
        })
    };
    let web = world.service.engine().channel(world.web).await.unwrap().unwrap();
    let parts = json!([{"type": "BODY", "text": "Hi"}]);
    for nth in 0..MOST_LOCAL {
        let name = format!("text_{nth}");
        let draft = DraftFields {
            name: &name,
            language: "en",
            category: "UTILITY",
            parameter_format: None,
            components: &parts,
            options: None,
        };
        TemplateDesk::of(world.service.engine(), &web).create(&Who::Pombo, draft).await.unwrap();
    }
    let nobody = Uuid::nil();
    let start = json!({"action": "start"});
    vec![
        (Code::ContactNotFound, Method::GET, format!("/api/v1/contacts/{nobody}"), json!("")),
        (Code::ContactNotFound, Method::DELETE, "/api/v1/contacts/7".to_owned(), json!("")),
        (Code::NumberTaken, Method::PATCH, first.clone(), json!({"phone_number": "5511988880002"})),
        (Code::InvalidField, Method::PATCH, first.clone(), json!({"phone_number": "", "email": ""})),
        (Code::InvalidField, Method::PATCH, first, json!({"first_name": 7})),
        (Code::InvalidBody, Method::POST, "/api/v1/contacts/batch".to_owned(), json!([])),
        (Code::TagNotFound, Method::PATCH, format!("/api/v1/contacts/tags/{nobody}"), json!({"name": "c"})),
        (Code::TagNotFound, Method::DELETE, format!("/api/v1/contacts/tags/{nobody}"), json!("")),
        (
            Code::TagNotFound,
            Method::POST,
            format!("/api/v1/contacts/tags/{nobody}/members"),
            json!({"add": {"all": true}}),
        ),
        (Code::SegmentNotFound, Method::GET, format!("{segments}/{nobody}"), json!("")),
        (Code::SegmentNameTaken, Method::PATCH, saved, json!({"name": "0"})),
        (Code::TooManySegments, Method::POST, segments.to_owned(), segment("one more".to_owned())),
        (Code::InvalidField, Method::POST, segments.to_owned(), json!({"name": "all", "filter": {}})),
        (Code::NoteNotFound, Method::DELETE, format!("{notes}/{nobody}"), json!("")),
        (Code::TooManyNotes, Method::POST, notes, json!({"text": "x"})),
        (Code::TagNameTaken, Method::PATCH, tag, json!({"name": "b"})),
        (Code::FieldNotFound, Method::PATCH, format!("{fields}/{nobody}"), json!({"name": "City"})),
        (Code::FieldNameTaken, Method::PATCH, field, json!({"name": "FIELD 1"})),
        (Code::TooManyFields, Method::POST, fields.to_owned(), json!({"name": "City", "type": "text"})),
        (Code::QuickReplyNotFound, Method::GET, format!("{replies}/{nobody}"), json!("")),
        (Code::QuickReplyWordTaken, Method::PATCH, replied, json!({"word": "/0"})),
        (Code::TooManyQuickReplies, Method::POST, replies.to_owned(), reply("more".to_owned())),
        (Code::InvalidTemplate, Method::POST, templates.clone(), template("Order")),
        (Code::TemplateNameTaken, Method::POST, templates.clone(), template("text_0")),
        (Code::TooManyTemplates, Method::POST, templates, template("one_more")),
        (Code::ImportNotFound, Method::GET, format!("{imports}/{nobody}"), json!("")),
        (Code::ImportHasBegun, Method::POST, begun, start.clone()),
        (Code::InvalidMapping, Method::POST, ready.clone(), start),
        (Code::TooManyColumns, Method::POST, wide, json!({"encoding": "utf-8"})),
        (
            Code::TooManyMappings,
            Method::POST,
            ready.clone(),
            json!({"columns": vec![json!({"column": "", "field": ""}); 501]}),
        ),
        (
            Code::InvalidMapping,
            Method::POST,
            ready,
            json!({"columns": [{"column": "c", "field": "phone_number"}]}),
        ),
        (Code::TooManyImports, Method::POST, imports.to_owned(), json!("a\n1\n")),
        (Code::InvalidFile, Method::POST, format!("{imports}?encoding=klingon"), json!("a\n1\n")),
    ]
}
