//! Durable single accepts through the door that speaks Graph, beside the same through the API.

use std::sync::mpsc as threads;

use crate::accept::{BODY, CONNECTIONS, LASTING, ROUNDS};
use crate::service::Ground;
use crate::{Row, load, median};

/// The same message as a program that is written for Meta sends it.
const SAME: &str = r#"{"messaging_product":"whatsapp","recipient_type":"individual","to":"5511988887777","type":"text","text":{"body":"Your order has left."}}"#;

pub(crate) fn measure() -> Vec<Row> {
    let (addresses, address) = threads::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            // At one message a second the queue only grows, so the measure covers accepting alone.
            let mut ground = Ground::new("http://127.0.0.1:9", "1/s", 64).await;
            ground.config.graph.enabled = true;
            let service = ground.serve().await;
            let requests = (service.request(BODY), service.request_to("/v23.0/1/messages", SAME));
            addresses.send((service.address.clone(), requests)).unwrap();
            std::future::pending::<()>().await;
        });
    });
    let (address, (own, same)) = address.recv().unwrap();
    let (mut api, mut door) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        api.push(load::drive(&address, &own, CONNECTIONS, LASTING, "202"));
        door.push(load::drive(&address, &same, CONNECTIONS, LASTING, "200"));
    }
    let (api, door) = (median(api), median(door));
    vec![Row {
        what: "single accepts through the door that speaks Graph, 64 connections",
        ours: format!("{door:.0}/s"),
        yardstick: format!("the API {api:.0}/s"),
        ratio: format!("{:.2}", door / api),
        bound: "≥ 0.9",
    }]
}
