use actix_web::body::to_bytes;
use actix_web::test::{TestRequest, init_service, try_call_service};
use actix_web::{App, web};

use super::*;

async fn answer_of_a_panic(method: Method, path: &str) -> (StatusCode, String, String) {
    async fn panics() -> &'static str {
        panic!("the pigeon fell off its perch")
    }
    let app = init_service(App::new().default_service(web::to(panics)).wrap_fn(observe)).await;
    let request = TestRequest::with_uri(path).method(method).insert_header(("x-request-id", "a-1"));
    let response = match try_call_service(&app, request.to_request()).await {
        Ok(response) => response.into_parts().1.map_into_boxed_body(),
        Err(error) => error.error_response(),
    };
    let header = |name| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/json");
    let (status, id) = (response.status(), header("x-request-id"));
    let body = to_bytes(response.into_body()).await.unwrap();
    (status, id, String::from_utf8(body.to_vec()).unwrap())
}

#[actix_web::test]
async fn a_panic_is_answered_with_an_apology_that_tells_nothing() {
    let failed = StatusCode::INTERNAL_SERVER_ERROR;
    let answer = answer_of_a_panic(Method::GET, "/api/v1/chat").await;
    let body = r#"{"error":"internal server error","request_id":"a-1"}"#;
    assert_eq!(answer, (failed, "a-1".to_owned(), body.to_owned()));
    let answer = answer_of_a_panic(Method::POST, "/api/v1/web-chat/7/messages").await;
    let body = r#"{"message":"Something went wrong and the team has been notified"}"#;
    assert_eq!(answer, (failed, "a-1".to_owned(), body.to_owned()));
}
