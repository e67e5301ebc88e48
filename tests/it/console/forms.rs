//! Forms that are broken, too large, or of another kind.

use reqwest::Method;

use super::browser::Browser;
use super::world::World;

#[tokio::test]
async fn a_form_that_is_none_is_refused_with_a_page() {
    let world = World::new().await;
    let browser = Browser::new(&world.service);
    let send = async |kind: &str, body: Vec<u8>| {
        let request = browser.request(Method::POST, "/console/sign-in").header("origin", browser.origin());
        browser.ask(request.header("content-type", kind).body(body)).await
    };
    let form = "application/x-www-form-urlencoded";
    assert_eq!(send("application/json", b"{}".to_vec()).await.status, 400);
    assert_eq!(send("", Vec::new()).await.status, 400);
    let large = send(form, vec![b'a'; 17 * 1024]).await;
    assert_eq!(large.status, 413);
    assert!(large.body.contains("<h1>That is too much at once</h1>"), "{}", large.body);
    for bytes in [b"email=%ff%00&password=%zz".to_vec(), vec![0xff; 100], b"&&==&=&email=\xc3\xa9".to_vec()] {
        assert_eq!(send(form, bytes.clone()).await.status, 422, "{bytes:?}");
    }
}
