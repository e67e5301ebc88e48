//! A small receiver of webhooks.

use std::time::Duration;

use actix_web::rt::System;
use actix_web::web::{self, Bytes, Query};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::webhook::signature;
use super::*;

pub(super) const SECRET: &str = "app-secret";

pub(super) struct Receiver {
    pub(super) url: String,
    pub(super) heard: UnboundedReceiver<(String, Bytes)>,
    handle: actix_web::dev::ServerHandle,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
    }
}

async fn shake(query: Query<std::collections::HashMap<String, String>>) -> HttpResponse {
    if query["hub.verify_token"] == "open sesame" && query["hub.mode"] == "subscribe" {
        return HttpResponse::Ok().body(query["hub.challenge"].clone());
    }
    HttpResponse::Forbidden().finish()
}

/// A receiver that refuses the first `refusals` webhooks.
pub(super) async fn receiver(refusals: usize) -> Receiver {
    let (heard, hearing) = unbounded_channel();
    let (ready, started) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        System::new().block_on(async move {
            let left = web::Data::new(std::sync::atomic::AtomicUsize::new(refusals));
            let app = move || {
                let heard: UnboundedSender<(String, Bytes)> = heard.clone();
                let left = left.clone();
                let hear = move |request: HttpRequest, body: Bytes| {
                    let signature =
                        request.headers().get("x-hub-signature-256").unwrap().to_str().unwrap().to_owned();
                    heard.send((signature, body)).unwrap();
                    let order = std::sync::atomic::Ordering::SeqCst;
                    let is_refused = left.fetch_update(order, order, |left| left.checked_sub(1)).is_ok();
                    let status =
                        if is_refused { HttpResponse::InternalServerError() } else { HttpResponse::Ok() };
                    let mut status = status;
                    async move { status.finish() }
                };
                App::new().route("/hook", web::get().to(shake)).route("/hook", web::post().to(hear))
            };
            let server = HttpServer::new(app).workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
            let address = server.addrs()[0];
            let server = server.run();
            ready.send((address, server.handle())).unwrap();
            server.await.unwrap();
        });
    });
    let (address, handle) = started.await.unwrap();
    Receiver { url: format!("http://{address}/hook"), heard: hearing, handle }
}

impl Receiver {
    pub(super) fn options(&self) -> ReceiptOptions {
        ReceiptOptions {
            delivered_after: Duration::ZERO,
            read_after: Duration::ZERO,
            read_probability: 1.0,
            retry_after: Duration::from_millis(1),
            ..ReceiptOptions::to(&self.url, SECRET)
        }
    }

    pub(super) async fn next(&mut self) -> Value {
        let heard = tokio::time::timeout(Duration::from_secs(5), self.heard.recv()).await;
        let (signed, body) = heard.unwrap().unwrap();
        assert_eq!(signed, signature(SECRET, &body));
        assert!(body.is_ascii());
        serde_json::from_slice(&body).unwrap()
    }

    /// Statuses as (key, status), webhook by webhook, until there are this many.
    pub(super) async fn statuses(&mut self, count: usize) -> (Vec<(String, String)>, usize) {
        let mut all = Vec::new();
        let mut webhooks = 0;
        while all.len() < count {
            let webhook = self.next().await;
            webhooks += 1;
            for status in webhook["entry"][0]["changes"][0]["value"]["statuses"].as_array().unwrap() {
                let key = status["biz_opaque_callback_data"].as_str().unwrap_or_default();
                all.push((key.to_owned(), status["status"].as_str().unwrap().to_owned()));
            }
        }
        (all, webhooks)
    }
}
