//! Signing in at one node and another: guesses are counted together, and a sign-in continues elsewhere.

use pombo::clock::Timestamp;
use totp_rs::{Builder, Secret};

use super::*;

const FORM: &str = "application/x-www-form-urlencoded";
const EMAIL: &str = "ana@pombo.example";
const PASSWORD: &str = "correct horse battery";

/// Sends a form of the console to a node.
async fn post(node: &Node, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Answer {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = client.build().unwrap().post(format!("{}{path}", node.url)).header("origin", &node.url);
    Answer::to(request.header("cookie", cookie).header("content-type", FORM).body(body)).await
}

async fn sign_in(node: &Node, cookie: &str, password: &str) -> Answer {
    post(node, "/console/sign-in", cookie, &[("email", EMAIL), ("password", password)]).await
}

/// The part of a page between two texts.
fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let rest = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}")).1;
    rest.split(after).next().unwrap()
}

/// The code that an authenticator shows soon.
fn code(secret: &str, steps: u64) -> String {
    let now = u64::try_from(Timestamp::now().millis() / 1_000).unwrap();
    let secret = Secret::try_from_base32(secret).unwrap();
    Builder::new().with_secret(secret).build().unwrap().generate(now + 30 * steps).to_string()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_sign_in_and_a_second_factor_continue_at_another_node_and_guesses_are_counted_together() {
    let stage = Stage::new(0, &["a", "b", "c"]).await;
    let [a, b, c] = &stage.nodes[..] else { panic!("three nodes") };
    let create = format!("user create {EMAIL} --operator --password-file -");
    stage.serving.place.json_with(PASSWORD, &create);
    let entered = sign_in(a, "", PASSWORD).await;
    assert_eq!(entered.status, 303, "{}", entered.body);
    let cookies: Vec<_> = entered.cookies.iter().map(|cookie| cookie.split(';').next().unwrap()).collect();
    let [session, device] = cookies[..] else { panic!("{cookies:?}") };

    let begun = post(b, "/console/account/totp", session, &[("current", PASSWORD)]).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let page =
        Answer::to(client.get(format!("{}/console/account", c.url)).header("cookie", session)).await.body;
    let secret = between(between(&page, "aria-label=\"Secret\"", "</code>"), "<code>", "<").to_owned();
    let confirmed = post(a, "/console/account/totp/confirm", session, &[("code", &code(&secret, 0))]).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);

    let asked = sign_in(b, "", PASSWORD).await;
    let ticket = between(between(&asked.body, "name=\"ticket\"", ">"), "value=\"", "\"").to_owned();
    let fields = [("ticket", ticket.as_str()), ("code", &code(&secret, 1))];
    assert_eq!(post(c, "/console/sign-in", "", &fields).await.status, 303);

    let mut refused = 0;
    for node in [a, b, c].into_iter().cycle().take(30) {
        match sign_in(node, "", "wrong password").await.status {
            422 => refused += 1,
            status => assert_eq!(status, 429),
        }
    }
    // The first wait is over after a second, so a slow machine hears another guess or two.
    assert!((5..10).contains(&refused), "{refused}");
    assert_eq!(sign_in(c, device, PASSWORD).await.status, 200, "the device asks for a code at every node");
    stage.end().await;
}
