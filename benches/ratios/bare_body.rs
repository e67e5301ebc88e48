//! The floor under the answer to a large body: a handler that only receives it, and reads its numbers and values into plain lists.

use actix_web::web::{self, Bytes, PayloadConfig};
use actix_web::{App, HttpResponse, HttpServer};
use serde::Deserialize;

/// The largest body, in bytes.
const MOST: usize = 64 * 1024 * 1024;

/// The recipients of a send. Its other fields are passed over.
#[derive(Deserialize)]
struct BareSend<'a> {
    #[serde(borrow, default)]
    phone_number: Vec<&'a str>,
    #[serde(borrow, default)]
    recipients: Vec<BareRecipient<'a>>,
}

#[derive(Deserialize)]
struct BareRecipient<'a> {
    phone_number: &'a str,
    #[serde(borrow)]
    values: BareValues<'a>,
}

/// The values that the measured send has. Their names are known here, and compared with nothing else.
#[derive(Deserialize)]
struct BareValues<'a> {
    name: &'a str,
    order: &'a str,
    amount: &'a str,
    day: &'a str,
    shop: &'a str,
}

/// Starts the server, and returns its address.
pub(crate) fn serve() -> String {
    let server = HttpServer::new(|| {
        App::new().app_data(PayloadConfig::new(MOST)).route("/{path:.*}", web::post().to(read))
    });
    let server = server.workers(2).disable_signals().bind(("127.0.0.1", 0)).unwrap();
    let address = server.addrs()[0].to_string();
    actix_web::rt::spawn(server.run());
    address
}

async fn read(body: Bytes) -> HttpResponse {
    let BareSend { phone_number, recipients } = serde_json::from_slice(&body).unwrap();
    let (mut numbers, mut values) = (Vec::new(), Vec::new());
    numbers.extend(phone_number.into_iter().map(number));
    for BareRecipient { phone_number, values: BareValues { name, order, amount, day, shop } } in recipients {
        numbers.push(number(phone_number));
        values.extend([name, order, amount, day, shop]);
    }
    std::hint::black_box((&numbers, &values));
    HttpResponse::Accepted().json(serde_json::json!({ "recipients_count": numbers.len() }))
}

/// The number behind a plus sign.
fn number(written: &str) -> u64 {
    written[1..].parse().unwrap()
}
