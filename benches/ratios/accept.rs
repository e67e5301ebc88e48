//! Durable single accepts beside a constant answer to the same POST.

use std::sync::mpsc as threads;
use std::time::Duration;

use actix_web::{App, HttpResponse, HttpServer, web};
use tokio::sync::{mpsc, oneshot};

use crate::service::Service;
use crate::statements::{self, Accepted};
use crate::{Row, load, median};

pub(crate) const CONNECTIONS: usize = 64;
pub(crate) const LASTING: Duration = Duration::from_secs(4);
pub(crate) const ROUNDS: usize = 3;
pub(crate) const BODY: &str =
    r#"{"type":"text","message":"Your order has left.","phone_number":"+55 11 98888-7777"}"#;

pub(crate) fn measure() -> Vec<Row> {
    let (addresses, address) = threads::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(|| App::new().route("/{path:.*}", web::post().to(constant)))
                .workers(2)
                .disable_signals()
                .bind(("127.0.0.1", 0))
                .unwrap();
            addresses.send((Some(server.addrs()[0].to_string()), None)).unwrap();
            actix_web::rt::spawn(server.run());
            addresses.send((durable().await, None)).unwrap();
            // At one message a second the queue only grows, so the measure covers accepting alone.
            let service = Service::start("http://127.0.0.1:9", "1/s", 64).await;
            addresses.send((Some(service.address.clone()), Some(service.request(BODY)))).unwrap();
            std::future::pending::<()>().await;
        });
    });
    let next = || address.recv().unwrap();
    let ((constant, _), (durable, _), (ours, request)) = (next(), next(), next());
    let (constant, ours, request) = (constant.unwrap(), ours.unwrap(), request.unwrap());
    let (mut accepted, mut answered, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        answered.push(load::drive(&constant, &request, CONNECTIONS, LASTING, "202"));
        if let Some(durable) = &durable {
            written.push(load::drive(durable, &request, CONNECTIONS, LASTING, "202"));
        }
        accepted.push(load::drive(&ours, &request, CONNECTIONS, LASTING, "202"));
    }
    let (accepted, answered) = (median(accepted), median(answered));
    let mut rows = vec![Row {
        what: "durable single accepts, 64 connections",
        ours: format!("{accepted:.0}/s"),
        yardstick: format!("constant answer {answered:.0}/s"),
        ratio: format!("{:.2}", accepted / answered),
        bound: "≥ 0.5",
    }];
    if !written.is_empty() {
        let written = median(written);
        rows.push(Row {
            what: "the same beside a server that only writes them",
            ours: format!("{accepted:.0}/s"),
            yardstick: format!("constant answer after a bare statement {written:.0}/s"),
            ratio: format!("{:.2}", accepted / written),
            bound: "≥ 0.85",
        });
    }
    rows
}

/// Starts a server that only writes each request to PostgreSQL and answers, and returns its address. `None`
/// on SQLite.
async fn durable() -> Option<String> {
    let database = statements::database().await?;
    let (tell, told) = statements::channel::<Accepted>();
    actix_web::rt::spawn(statements::accept(database, told));
    let server = HttpServer::new(move || {
        App::new().app_data(web::Data::new(tell.clone())).route("/{path:.*}", web::post().to(write))
    });
    let server = server.workers(2).disable_signals().bind(("127.0.0.1", 0)).unwrap();
    let address = server.addrs()[0].to_string();
    actix_web::rt::spawn(server.run());
    Some(address)
}

async fn write(tell: web::Data<mpsc::Sender<Accepted>>, body: web::Json<serde_json::Value>) -> HttpResponse {
    let (done, waits) = oneshot::channel();
    tell.send(Accepted { body: body.to_string(), done }).await.unwrap();
    waits.await.unwrap();
    constant(body).await
}

async fn constant(body: web::Json<serde_json::Value>) -> HttpResponse {
    std::hint::black_box(&body);
    HttpResponse::Accepted()
        .json(serde_json::json!({ "message": "queued for sending", "recipients_count": 1 }))
}
