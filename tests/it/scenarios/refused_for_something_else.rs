//! The provider refuses messages with codes that do not fit them, or again and again: no message is retried
//! without end and without a pause.

use serde_json::{Value, json};

use super::stage::{FIRST, show};
use crate::database::{Universe, stores};
use crate::running::{Running, until};

stores!(a_text_that_is_refused_with_a_templates_code_fails_at_once);

/// Codes of templates, and of recipients who got too much marketing.
const CODES: [i64; 5] = [131_063, 132_001, 132_007, 132_015, 131_049];

async fn a_text_that_is_refused_with_a_templates_code_fails_at_once(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let refuse = |(place, code): (usize, &i64)| json!({ "match": { "to": (FIRST + place as u64).to_string() }, "outcome": { "error": { "code": code } } });
    let script: Vec<_> = CODES.iter().enumerate().map(refuse).collect();
    running.simulator.script(&json!(script)).unwrap();
    let mut sends = Vec::new();
    for place in 0..CODES.len() as u64 {
        let text = json!({ "type": "text", "message": "hi", "phone_number": FIRST + place });
        let (status, answer) = running.send(&text).await;
        assert_eq!(status, 202, "{answer}");
        sends.push(answer["send_id"].as_str().unwrap().to_owned());
    }
    for (send, code) in sends.iter().zip(CODES) {
        let mut shown = Value::Null;
        until(&format!("the text refused with {code} finished"), async || {
            shown = show(&running, send).await;
            shown["state"] == "finished"
        })
        .await;
        assert_eq!(shown["counts"]["failed"], 1, "{shown}");
    }
    let refused = running.simulator.number(crate::running::NUMBER).unwrap().refused;
    assert_eq!(refused, CODES.len() as u64, "each was tried once");
    running.end().await;
}
