//! Files that clients upload, describe, fetch and delete.

use reqwest::Method;

use super::*;

const BOUNDARY: &str = "xYzZY";

/// A form with these fields and a file of this type.
fn form(fields: &[(&str, &str)], kind: &str, file: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend([head.as_bytes(), value.as_bytes(), b"\r\n"].concat());
    }
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    body.extend([head.as_bytes(), file, b"\r\n"].concat());
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    body
}

impl Universe {
    async fn upload(&self, body: Vec<u8>) -> (u16, Value) {
        let request = self.client.post(self.url(&format!("/v26.0/{NUMBER}/media"))).bearer_auth(TOKEN);
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let answer = request.header("content-type", kind).body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// The status and the bytes of an address.
    async fn fetch(&self, url: &str, token: &str) -> (u16, Vec<u8>) {
        let answer = self.client.get(url).bearer_auth(token).send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
    }
}

#[actix_web::test]
async fn a_file_is_uploaded_described_fetched_and_deleted() {
    let universe = universe().await;
    let fields = [("messaging_product", "whatsapp"), ("type", "image/png")];
    let (status, uploaded) = universe.upload(form(&fields, "image/png", b"\x89PNG\r\n--x\r\n")).await;
    assert_eq!(status, 200, "{uploaded}");
    let id = uploaded["id"].as_str().unwrap();
    let (_, shown) = universe.get(&format!("/v26.0/{id}?phone_number_id={NUMBER}")).await;
    let url = shown["url"].as_str().unwrap();
    assert_eq!(
        shown,
        json!({
            "messaging_product": "whatsapp", "id": id, "mime_type": "image/png", "file_size": 11, "url": url,
            "sha256": "e20543de36ff9ab1b341d51c417179a742d01430864f4b3e0b1b063692d5d5f1",
        })
    );
    assert_eq!(universe.fetch(url, TOKEN).await, (200, b"\x89PNG\r\n--x\r\n".to_vec()));
    assert_eq!(universe.fetch(url, "nobody").await.0, 401);
    assert_eq!(universe.fetch(url, "T-2").await.0, 404, "the file is of another account");
    let too_old = url.split("ext=").next().unwrap().to_owned() + "ext=1700000000";
    assert_eq!(universe.fetch(&too_old, TOKEN).await.0, 404);

    let path = format!("/v26.0/{id}");
    assert_eq!(universe.get(&format!("{path}?phone_number_id=2002")).await.0, 400);
    let image = json!({
        "messaging_product": "whatsapp", "to": "+5511999990001", "type": "image", "image": { "id": id },
    });
    assert_eq!(universe.code(&image).await, (200, 0));
    let delete = universe.client.request(Method::DELETE, universe.url(&path)).bearer_auth(TOKEN);
    let deleted: Value = delete.send().await.unwrap().json().await.unwrap();
    assert_eq!(deleted, json!({ "success": true }));
    let (status, gone) = universe.get(&path).await;
    assert_eq!((status, &gone["error"]["error_subcode"]), (400, &json!(33)));
}

#[actix_web::test]
async fn a_file_that_the_provider_does_not_take_is_refused() {
    let universe = universe().await;
    let fields = [("messaging_product", "whatsapp")];
    for body in [
        form(&[], "image/png", b"x"),
        form(&fields, "image/gif", b"x"),
        form(&fields, "image/png", b""),
        form(&fields, "image/webp", &[0; 600 * 1024]),
        b"{}".to_vec(),
    ] {
        let (status, refused) = universe.upload(body).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!(100)), "{refused}");
    }
}
