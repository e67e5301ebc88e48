//! Durable single accepts beside a constant answer to the same POST.

use std::sync::mpsc;
use std::time::Duration;

use actix_web::{App, HttpResponse, HttpServer, web};

use crate::service::Service;
use crate::{Row, load, median};

const CONNECTIONS: usize = 64;
const LASTING: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;
const BODY: &str = r#"{"type":"text","message":"Your order has left.","phone_number":"+55 11 98888-7777"}"#;

pub(crate) fn measure() -> Vec<Row> {
    let (addresses, address) = mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(|| App::new().route("/{path:.*}", web::post().to(constant)))
                .workers(2)
                .disable_signals()
                .bind(("127.0.0.1", 0))
                .unwrap();
            addresses.send((server.addrs()[0].to_string(), None)).unwrap();
            actix_web::rt::spawn(server.run());
            // One message a second: the queue only grows, so that accepting alone is measured.
            let service = Service::start("http://127.0.0.1:9", "1/s", 64).await;
            addresses.send((service.address.clone(), Some(service.request(BODY)))).unwrap();
            std::future::pending::<()>().await;
        });
    });
    let (yardstick, _) = address.recv().unwrap();
    let (ours, request) = address.recv().unwrap();
    let request = request.unwrap();
    let (mut accepted, mut constant) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        constant.push(load::drive(&yardstick, &request, CONNECTIONS, LASTING, "202"));
        accepted.push(load::drive(&ours, &request, CONNECTIONS, LASTING, "202"));
    }
    let (accepted, constant) = (median(accepted), median(constant));
    vec![Row {
        what: "durable single accepts, 64 connections",
        ours: format!("{accepted:.0}/s"),
        yardstick: format!("constant answer {constant:.0}/s"),
        ratio: format!("{:.2}", accepted / constant),
        bound: "≥ 0.5",
    }]
}

async fn constant(body: web::Json<serde_json::Value>) -> HttpResponse {
    std::hint::black_box(&body);
    HttpResponse::Accepted()
        .json(serde_json::json!({ "message": "queued for sending", "recipients_count": 1 }))
}
