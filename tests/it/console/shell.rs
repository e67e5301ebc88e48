//! What surrounds every page: headers, files, languages, faults.

use pombo::accounts::Role;
use reqwest::Method;

use super::browser::Browser;
use super::world::World;

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_others_out() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let visitor = Browser::new(&world.service);
    for (browser, path, status) in [
        (&owner, "/console", 200),
        (&owner, "/console/nothing", 404),
        (&visitor, "/console/sign-in", 200),
        (&visitor, "/console", 303),
        (&visitor, "/console/assets/style-0.css", 404),
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let policy = answer.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), value, "{path}: {name}");
        }
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
    }
    let refused = owner.ask(owner.request(Method::DELETE, "/console")).await;
    assert_eq!((refused.status, refused.header("allow")), (403, ""), "a method that changes needs its proof");
    let refused = owner.request(Method::DELETE, "/console").header("origin", owner.origin());
    let refused = owner.ask(refused).await;
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD"));
}

#[tokio::test]
async fn a_page_and_its_files_are_small_compressed_and_kept_for_ever_by_their_address() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let page = owner.page("/console").await;
    let files: Vec<_> =
        page.split('"').filter(|word| word.starts_with("/console/assets/")).map(str::to_owned).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    let mut weight = 0;
    for path in files.iter().map(String::as_str).chain(["/console"]) {
        let asked = owner.request(Method::GET, path).header("accept-encoding", "br, gzip");
        let answer = asked.send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-encoding"]),
            (200, &"gzip".parse().unwrap()),
            "{path}"
        );
        if path != "/console" {
            assert_eq!(answer.headers()["cache-control"], "public, max-age=31536000, immutable", "{path}");
        }
        weight += answer.bytes().await.unwrap().len();
    }
    assert!(weight < 100_000, "{weight} bytes");
    let plain = owner.get(&files[0]).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, ""));
    let known = owner.request(Method::GET, &files[0]).header("if-none-match", plain.header("etag"));
    assert_eq!(owner.ask(known).await.status, 304);
    for inline in [" style=", "<style", " onclick=", "javascript:"] {
        assert!(!page.contains(inline), "the page has {inline}, which its policy forbids");
    }
    let script = owner.get(files.iter().find(|file| file.ends_with(".js")).unwrap()).await.body;
    assert!(script.lines().count() <= 300, "{} lines of script", script.lines().count());
}

#[tokio::test]
async fn a_fault_is_told_in_the_language_of_its_reader() {
    let world = World::new().await;
    for (language, words) in [
        ("en", "There is nothing here"),
        ("pt-BR", "Não há nada aqui"),
        ("es-AR,es;q=0.9", "Aquí no hay nada"),
    ] {
        let answer = Browser::new(&world.service).reading(language).get("/console/nothing").await;
        assert_eq!(answer.status, 404);
        assert!(answer.body.contains(words), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_language_that_is_chosen_stays_chosen() {
    let world = World::new().await;
    let visitor = Browser::new(&world.service);
    let shown =
        visitor.submit("/console/language", &[("language", "es"), ("next", "/console/sign-in")]).await;
    assert!(shown.contains("<h1>Iniciar sesión</h1>") && shown.contains("<html lang=\"es\">"), "{shown}");
    let owner = world.signed_in(Role::Owner).await;
    let shown = owner.submit("/console/language", &[("language", "pt-BR"), ("next", "/console")]).await;
    assert!(shown.contains("<h1>Visão geral</h1>"), "{shown}");
    let elsewhere = Browser::with_session(&world.service, &owner.cookie("pombo_session").unwrap());
    assert!(elsewhere.page("/console").await.contains("<h1>Visão geral</h1>"), "it is kept with the account");
    let wrong = owner.post("/console/language", &[("language", "fr")]).await;
    assert_eq!(wrong.status, 400);
    let away = owner.post("/console/language", &[("language", "en"), ("next", "//evil.example")]).await;
    assert_eq!(away.header("location"), "/console");
}
