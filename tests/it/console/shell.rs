//! The parts of every page: headers, files, languages, errors.

use pombo::accounts::Role;
use reqwest::Method;

use super::browser::Browser;
use super::weight::{MOST, assets};
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
async fn a_page_and_its_files_are_small_compressed_and_cached_by_their_address() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let page = owner.page("/console").await;
    let files: Vec<_> = assets(&page).into_iter().collect();
    assert_eq!(files.len(), 4, "{files:?}");
    let mut weight = 0;
    for path in files.iter().copied().chain(["/console"]) {
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
    assert!(weight < MOST, "{weight} bytes");
    let plain = owner.get(files[0]).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, ""));
    let known = owner.request(Method::GET, files[0]).header("if-none-match", plain.header("etag"));
    assert_eq!(owner.ask(known).await.status, 304);
    for inline in [" style=", "<style", " onclick=", "javascript:"] {
        assert!(!page.contains(inline), "the page has {inline}, which its policy forbids");
    }
    let script = owner.get(files.iter().find(|file| file.ends_with(".js")).unwrap()).await.body;
    assert!(script.lines().count() <= 300, "{} lines of script", script.lines().count());
}

#[tokio::test]
async fn an_error_is_shown_in_the_language_of_its_reader() {
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
    assert!(
        elsewhere.page("/console").await.contains("<h1>Visão geral</h1>"),
        "the language is kept with the account"
    );
    let wrong = owner.post("/console/language", &[("language", "fr")]).await;
    assert_eq!(wrong.status, 400);
    let away = owner.post("/console/language", &[("language", "en"), ("next", "//evil.example")]).await;
    assert_eq!(away.header("location"), "/console");
}

/// Texts between tags that are the key of a text, because the text itself is missing.
fn missing_texts(page: &str) -> Vec<&str> {
    let locales = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/console/locales/en");
    let files: Vec<_> = std::fs::read_dir(locales)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let is_key = |word: &str| {
        let begins = files
            .iter()
            .any(|file| word.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with('-')));
        begins && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let shown = page.split('>').filter_map(|part| part.split('<').next()).map(str::trim);
    shown.filter(|word| is_key(word) || word.contains("{ $") || word.contains("{$")).collect()
}

#[tokio::test]
async fn every_page_reads_in_every_language() {
    let world = World::new().await;
    let (owner, operator) = (world.signed_in(Role::Owner).await, world.operator().await);
    let chosen = operator.post("/console/companies", &[("company", &world.acme.id.to_string())]).await;
    assert_eq!(chosen.status, 303);
    let pages = pombo::console::ROUTES
        .iter()
        .filter(|route| route.method == "GET" && !route.path.contains('{') && !route.path.ends_with("/live"))
        // A file, not a page.
        .filter(|route| !route.path.ends_with("/export") && !route.path.ends_with("/file"));
    for route in pages {
        let browser = if route.access == pombo::console::Access::Operator { &operator } else { &owner };
        let mut titles = Vec::new();
        for language in ["en", "pt-BR", "es"] {
            let fields = [("language", language)];
            assert_eq!(browser.post("/console/language", &fields).await.status, 303);
            let answer = browser.get(route.path).await;
            if route.path == "/console/sign-in" {
                continue;
            }
            assert_eq!(answer.status, 200, "{language} {}: {}", route.path, answer.body);
            let missing = missing_texts(&answer.body);
            assert!(missing.is_empty(), "{language} {}: {missing:?}", route.path);
            assert!(answer.body.contains(&format!("<html lang=\"{language}\"")), "{}", route.path);
            titles.push(answer.body.split("<h1>").nth(1).unwrap().split('<').next().unwrap().to_owned());
        }
        titles.dedup();
        assert_ne!(titles.len(), 1, "{}: {titles:?}", route.path);
    }
}
