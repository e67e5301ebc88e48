//! Contacts and tags in the console: search, edit, merge, tag, delete, export.

use pombo::accounts::Role;
use pombo::domain::suppression::Suppression;
use serde_json::{Value, json};

use super::browser::value_of;
use super::world::World;

/// Names with markup, right-to-left letters and pictures.
const ODD: &str = "<script>alert(1)</script> عمر 🕊";

async fn seed(world: &World, contacts: Value) -> Vec<String> {
    let body = json!({ "contacts": contacts }).to_string();
    let written = world.service.post("/api/v1/contacts/batch", &world.acme.key, body).await.json();
    let results = written["results"].as_array().unwrap();
    results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

async fn total(world: &World, search: &str) -> u64 {
    let path = format!("/api/v1/contacts?search={search}");
    world.service.get(&path, &world.acme.key).await.json()["totalRecords"].as_u64().unwrap()
}

#[tokio::test]
async fn contacts_are_listed_searched_and_paged_whatever_they_are_called() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let empty = viewer.page("/console/contacts").await;
    assert!(empty.contains("There are no contacts yet"), "{empty}");
    let people: Value = (0..60)
        .map(|i| json!({"first_name": format!("P{i:02}"), "phone_number": format!("55119888800{i:02}"), "tags": ["vip"]}))
        .collect();
    seed(&world, people).await;
    seed(&world, json!([{"first_name": ODD, "email": "odd@a.example"}])).await;
    let first = viewer.page("/console/contacts").await;
    assert!(first.contains("61 contacts") && first.contains("Page 1 of 2 (61 entries)"), "{first}");
    assert!(
        first.contains("&lt;script&gt;alert(1)&lt;/script&gt; عمر 🕊") && !first.contains("<script>alert")
    );
    assert!(
        first.contains("<label for=\"search\">Search contacts</label>") && first.contains("type=\"search\"")
    );
    assert!(!first.contains("name=\"action\""), "a viewer changes nothing");
    let second = viewer.page("/console/contacts?page=2").await;
    assert!(second.contains("P00") && !second.contains("P60"), "{second}");
    let found = viewer.page("/console/contacts?search=odd%40").await;
    assert!(found.contains("1 contact<") && found.contains("عمر"), "{found}");
    let vip = viewer.page("/console/contacts?search=vip&page=2").await;
    assert!(vip.contains("search=vip&amp;page=1"), "pages keep the search: {vip}");
    let nothing = viewer.page("/console/contacts?search=%25zzz%00").await;
    assert!(nothing.contains("No contact matches"), "{nothing}");
    let outsider = world.outsider().await;
    assert!(outsider.page("/console/contacts").await.contains("There are no contacts yet"));
}

#[tokio::test]
async fn a_contact_is_added_changed_merged_and_deleted() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let page = member.page("/console/contacts/new").await;
    let once = value_of(&page, "once").unwrap();
    let wrong =
        [("once", once.as_str()), ("first_name", ODD), ("phone_number", "011 98888"), ("tags", "a; b")];
    let refused = member.post("/console/contacts/new", &wrong).await;
    assert_eq!(refused.status, 422);
    assert_eq!(value_of(&refused.body, "first_name").unwrap(), ODD, "the words are kept");
    assert!(refused.body.contains("This is not an international number"), "{}", refused.body);
    let right = [
        ("once", once.as_str()),
        ("first_name", ODD),
        ("phone_number", "+55 11 98888-0001"),
        ("tags", "a; b"),
    ];
    let added = member.post("/console/contacts/new", &right).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let again = member.post("/console/contacts/new", &right).await;
    assert_eq!(again.header("location"), added.header("location"), "sent twice, it acts once");
    assert_eq!(total(&world, "").await, 1);
    let place = added.header("location");
    let shown = member.page(place).await;
    assert!(shown.contains("The contact was added.") && shown.contains("value=\"a; b\""), "{shown}");

    let twin = [("once", "01890a5d-ac96-774b-bcce-b302099a8057"), ("phone_number", "+5511988880001")];
    let taken = member.post("/console/contacts/new", &twin).await;
    assert!(taken.status == 422 && taken.body.contains("Another contact has this number"), "{}", taken.body);
    let nobody = member.post(place, &[("first_name", "x"), ("phone_number", " "), ("email", "")]).await;
    assert!(nobody.status == 422 && nobody.body.contains("needs a phone number"), "{}", nobody.body);
    let hostile = [("email", "ana@a.example"), ("profile_picture", "javascript:alert(1)")];
    for place in [place, "/console/contacts/new"] {
        let refused = member.post(place, &hostile).await;
        assert!(
            refused.status == 422 && refused.body.contains("does not begin with https://"),
            "{}",
            refused.body
        );
    }
    let saved = member
        .submit(
            place,
            &[
                ("first_name", "Ana"),
                ("phone_number", "+5511988880001"),
                ("email", "ana@a.example"),
                ("tags", "b;c"),
            ],
        )
        .await;
    assert!(saved.contains("The contact was saved.") && saved.contains("<h1>Ana</h1>"), "{saved}");

    // A double, found by its address.
    let doubles = seed(&world, json!([{"phone_number": "5511988880002", "last_name": "Lima"}])).await;
    let change = json!({"email": "ANA@a.example"}).to_string();
    let path = format!("/api/v1/contacts/{}", doubles[0]);
    let request = world.service.request(reqwest::Method::PATCH, &path).bearer_auth(&world.acme.key);
    assert_eq!(crate::harness::Answer::to(request.body(change)).await.status, 200);
    let shown = member.page(place).await;
    assert!(shown.contains("Perhaps the same person") && shown.contains(&doubles[0]), "{shown}");
    let merged = member.submit(&format!("{place}/merge"), &[("contact", &doubles[0])]).await;
    assert!(merged.contains("The contacts were merged.") && !merged.contains("Perhaps the same"), "{merged}");
    assert_eq!(member.get(&format!("/console/contacts/{}", doubles[0])).await.status, 404);

    let outsider = world.outsider().await;
    for (path, fields) in
        [(place.to_owned(), vec![("email", "x@y.example")]), (format!("{place}/delete"), vec![])]
    {
        assert_eq!(outsider.post(&path, &fields).await.status, 404, "{path}");
    }
    let gone = member.submit(&format!("{place}/delete"), &[]).await;
    assert!(gone.contains("1 contact was deleted."), "{gone}");
    assert_eq!(member.get(place).await.status, 404);
}

#[tokio::test]
async fn those_that_are_picked_or_found_are_tagged_untagged_and_deleted() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let people: Value = (0..70)
        .map(|i| json!({"first_name": if i < 40 { "Ana" } else { "Bob" }, "phone_number": format!("55119888800{i:02}")}))
        .collect();
    let ids = seed(&world, people).await;
    let change = "/console/contacts/change";
    let none = member.post(change, &[("action", "tag"), ("tag", "vip"), ("scope", "picked")]).await;
    assert!(none.status == 422 && none.body.contains("Select at least one contact"), "{}", none.body);
    let nameless = member.post(change, &[("action", "tag"), ("scope", "all"), ("contact", &ids[0])]).await;
    assert!(nameless.status == 422 && nameless.body.contains("Fill this in"), "{}", nameless.body);
    let picked = [
        ("action", "tag"),
        ("tag", "vip"),
        ("scope", "picked"),
        ("contact", ids[0].as_str()),
        ("contact", ids[1].as_str()),
    ];
    assert!(member.submit(change, &picked).await.contains("2 contacts got the tag."));
    let found = [("action", "tag"), ("tag", "vip"), ("scope", "all"), ("search", "ana")];
    assert!(member.submit(change, &found).await.contains("38 contacts got the tag."));
    assert_eq!(total(&world, "vip").await, 40);
    let unknown = member.post(change, &[("action", "untag"), ("tag", "nope"), ("scope", "all")]).await;
    assert!(unknown.status == 422 && unknown.body.contains("There is no tag of this name"));
    let untag = [("action", "untag"), ("tag", "vip"), ("scope", "all"), ("search", "ana")];
    assert!(member.submit(change, &untag).await.contains("The tag was removed from 40 contacts."));
    // Deleting asks for a confirmation, and changes nothing before it.
    let delete = [("action", "delete"), ("scope", "all"), ("search", "bob")];
    let asked = member.post(change, &delete).await;
    assert!(asked.status == 200 && asked.body.contains("Yes: delete 30 contacts"), "{}", asked.body);
    assert_eq!(total(&world, "").await, 70);
    let once = value_of(&asked.body, "once").unwrap();
    let sure = [&delete[..], &[("sure", "yes"), ("once", &once)]].concat();
    assert!(member.submit(change, &sure).await.contains("30 contacts were deleted."));
    assert_eq!((total(&world, "").await, total(&world, "bob").await), (40, 0));
}

#[tokio::test]
async fn contacts_are_downloaded_as_a_file_that_imports_again() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let people: Value = (0..1_200)
        .map(|i| json!({"first_name": format!("=P{i}"), "phone_number": 5_511_900_000_000_u64 + i, "tags": ["a"]}))
        .collect();
    seed(&world, people).await;
    seed(&world, json!([{"email": "last@a.example", "first_name": "Zé"}])).await;
    let all = viewer.get("/console/contacts/export").await;
    assert_eq!(all.header("content-disposition"), "attachment; filename=\"contacts.csv\"");
    let lines: Vec<_> = all.body.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (1_202, "\u{feff}first_name,last_name,email,phone_number,phone_number_lid,profile_picture,tags")
    );
    assert_eq!((lines[1], lines[1_201]), ("'=P0,,,5511900000000,,,a", "Zé,,last@a.example,,,,"));
    let found = viewer.get("/console/contacts/export?search=last%40").await.body;
    assert_eq!(found.lines().count(), 2);
    assert_eq!(world.outsider().await.get("/console/contacts/export").await.body.lines().count(), 1);
    let changes = world.operator().await.page("/console/operator/changes?what=export").await;
    for shown in
        ["Download of contacts or results", "viewer@acme.example", ">1201<", "outsider@globex.example"]
    {
        assert!(changes.contains(shown), "{shown}: {changes}");
    }
}

#[tokio::test]
async fn tags_are_created_renamed_and_deleted() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let tags = "/console/contacts/tags";
    let page = member.submit(tags, &[("name", "Feira <b>"), ("color", "#22AA66")]).await;
    assert!(page.contains("The tag was created.") && page.contains("Feira &lt;b&gt;"), "{page}");
    let taken = member.post(tags, &[("name", "Feira <b>"), ("color", "#22aa66")]).await;
    assert!(taken.status == 422 && taken.body.contains("Another tag has this name"), "{}", taken.body);
    let wrong = member.post(tags, &[("name", "a;b"), ("color", "red")]).await;
    assert!(wrong.status == 422 && wrong.body.contains("no semicolon") && wrong.body.contains("#22aa66"));
    seed(&world, json!([{"phone_number": "5511988880001", "tags": ["Feira <b>"]}])).await;
    let listed = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let place = format!("{tags}/{}", listed["data"][0]["id"].as_str().unwrap());
    assert!(member.page(&place).await.contains("1 contact has this tag"));
    assert!(member.submit(&place, &[("name", "Expo"), ("color", "#112233")]).await.contains("<h1>Expo</h1>"));
    crate::running::until("found by the new name", async || total(&world, "expo").await == 1).await;
    assert_eq!(world.outsider().await.get(&place).await.status, 404);
    assert!(member.submit(&format!("{place}/delete"), &[]).await.contains("The tag was deleted."));
    assert_eq!(member.get(&place).await.status, 404);
    assert_eq!(total(&world, "").await, 1, "the tag's contacts stay");
}

#[tokio::test]
async fn suppressions_of_numbers_are_added_and_lifted() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let place = "/console/suppressions";
    assert!(member.page(place).await.contains("Nobody is skipped."));
    let wrong = member.post(place, &[("number", "12"), ("scope", "marketing")]).await;
    assert!(
        wrong.status == 422 && wrong.body.contains("This is not an international number"),
        "{}",
        wrong.body
    );
    assert_eq!(member.post(place, &[("number", "5511988880001"), ("scope", "x")]).await.status, 422);
    let added = [("number", "+55 (11) 98888-0001"), ("scope", "everything")];
    let page = member.submit(place, &added).await;
    assert!(
        page.contains("+55 11 98888 0001 is skipped from now on.") && page.contains("Every message"),
        "{page}"
    );
    assert!(member.submit(place, &added).await.contains("was skipped already"));
    for (search, found) in [("5511988880001", true), ("5511988880002", false), ("98888", false)] {
        let page = member.page(&format!("{place}?search={search}")).await;
        assert_eq!(page.contains("Lift +55 11 98888 0001"), found, "{search}");
    }
    let viewer = world.signed_in(Role::Viewer).await;
    let page = viewer.page(place).await;
    assert!(page.contains("+55 11 98888 0001") && !page.contains("Lift +"), "{page}");
    let outsider = world.outsider().await;
    assert_eq!(
        outsider.post("/console/suppressions/lift", &[("number", "+5511988880001")]).await.status,
        303
    );
    assert!(
        member.page(place).await.contains("Lift +55 11 98888 0001"),
        "another company lifts nothing of it"
    );
    let lifted = member.submit("/console/suppressions/lift", &[("number", "+5511988880001")]).await;
    assert!(
        lifted.contains("+55 11 98888 0001 gets messages again.") && lifted.contains("Nobody is skipped.")
    );
    assert_eq!(member.post("/console/suppressions/lift", &[("number", "x")]).await.status, 404);
}

#[tokio::test]
async fn owners_decide_what_opt_out_words_do() {
    let world = World::new().await;
    let (owner, member) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Member).await);
    let (place, set) = ("/console/suppressions", "/console/suppressions/words");
    let page = member.page(place).await;
    assert!(
        page.contains("Opt-out words") && page.contains("STOP") && !page.contains("Save words"),
        "{page}"
    );
    let words = |stops: &'static str, stop: &'static str| [("stops", stops), ("stop_words", stop)];
    assert_eq!(member.post(set, &words("nothing", "")).await.status, 403);
    let page = owner.submit(set, &words("marketing", "Chega\r\nJá deu")).await;
    assert!(page.contains("The words are saved.") && page.contains("Chega\nJá deu"), "{page}");
    let kept = world.service.store().of(world.acme.id).suppressions().words().await.unwrap();
    assert_eq!(
        (kept.scope, kept.stop_words),
        (Some(Suppression::Marketing), vec!["Chega".into(), "Já deu".into()])
    );
    for (wrong, sentence) in [
        (words("marketing", "start"), "This word would both stop messages and start them again: start"),
        (words("all", ""), "Save words"),
    ] {
        let page = owner.post(set, &wrong).await;
        assert!(page.status == 422 && page.body.contains(sentence), "{}", page.body);
    }
    assert!(owner.submit(set, &words("nothing", "")).await.contains("The words are saved."));
    assert_eq!(world.service.store().of(world.acme.id).suppressions().words().await.unwrap().scope, None);
}

#[tokio::test]
async fn a_number_without_a_plus_sign_is_shown_as_it_would_be_saved_and_saved_when_it_is_chosen() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let place = "/console/suppressions";
    // Nobody said where the company is: the digits may only be an international number.
    let typed = [("number", "21 97100-0058"), ("scope", "marketing")];
    let shown = member.post(place, &typed).await;
    assert!(
        shown.status == 422 && shown.body.contains("value=\"21971000058\">+219 7100 0058</button>"),
        "{}",
        shown.body
    );
    let none = member.post(place, &[("number", "11 97100-0058"), ("scope", "marketing")]).await;
    assert!(none.status == 422 && none.body.contains("This is not an international number"), "{}", none.body);
    member.submit("/console/company/country", &[("country", "BR")]).await;
    let shown = member.post(place, &typed).await;
    assert_eq!(shown.status, 422);
    for button in [
        "value=\"5521971000058\">+55 21 97100 0058 (Brazil)</button>",
        "value=\"21971000058\">+219 7100 0058</button>",
    ] {
        assert!(shown.body.contains(button), "{button}: {}", shown.body);
    }
    assert!(
        shown.body.contains("value=\"21 97100-0058\"") && shown.body.contains("Which number do you mean?")
    );
    assert!(member.page(place).await.contains("Nobody is skipped."), "nothing was saved");
    let chosen = [&typed[..], &[("number_as", "5521971000058")]].concat();
    assert!(member.submit(place, &chosen).await.contains("+55 21 97100 0058 is skipped from now on."));
    let foreign = [&typed[..], &[("number_as", "12125550101")]].concat();
    assert_eq!(member.post(place, &foreign).await.status, 422, "only what the text may mean can be chosen");
    let sao_paulo = [("number", "11 97100-0058"), ("scope", "marketing"), ("number_as", "5511971000058")];
    assert!(member.submit(place, &sao_paulo).await.contains("+55 11 97100 0058 is skipped from now on."));

    let contact = [("first_name", "Ana"), ("phone_number", "(21) 97100-0059")];
    let shown = member.post("/console/contacts/new", &contact).await;
    assert!(
        shown.status == 422 && shown.body.contains("+55 21 97100 0059 (Brazil)</button>"),
        "{}",
        shown.body
    );
    assert_eq!(total(&world, "").await, 0);
    let chosen = [&contact[..], &[("phone_number_as", "5521971000059")]].concat();
    let added = member.post("/console/contacts/new", &chosen).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let place = added.header("location").to_owned();
    assert!(member.page(&place).await.contains("value=\"+5521971000059\""));
    // A contact's own number is not asked about again, and another one is.
    let ids = seed(&world, json!([{"phone_number": "5511988880007"}])).await;
    let place = format!("/console/contacts/{}", ids[0]);
    let same = [("first_name", "Bea"), ("phone_number", "5511988880007")];
    assert!(member.submit(&place, &same).await.contains("The contact was saved."));
    assert_eq!(member.post(&place, &[("phone_number", "21 97100-0060")]).await.status, 422);
}

#[tokio::test]
async fn every_page_of_contacts_reads_in_three_languages() {
    let world = World::new().await;
    let ids = seed(&world, json!([{"phone_number": "5511988880001", "tags": ["a"]}])).await;
    for (language, contacts, import, suppressions) in [
        ("en", "Contacts", "Import contacts", "Suppressions"),
        ("pt-BR", "Contatos", "Importar contatos", "Bloqueios de envio"),
        ("es", "Contactos", "Importar contactos", "Exclusiones de envío"),
    ] {
        let email = format!("{language}@acme.example");
        let member = world.member_of(world.acme.id, Role::Member, &email).await.reading(language);
        for (path, title) in [
            ("/console/contacts", contacts),
            ("/console/contacts/import", import),
            ("/console/suppressions", suppressions),
        ] {
            let page = member.page(path).await;
            assert!(page.contains(&format!("<h1>{title}</h1>")), "{language} {path}: {page}");
        }
        for path in [
            format!("/console/contacts/{}", ids[0]),
            "/console/contacts/new".to_owned(),
            "/console/contacts/tags".to_owned(),
        ] {
            let page = member.page(&path).await;
            assert!(
                !page.contains(">contacts-") && !page.contains(">tags-"),
                "{language} {path}: a text is missing"
            );
        }
    }
}
