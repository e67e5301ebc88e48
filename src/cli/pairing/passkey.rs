//! The passkey gate at a terminal: shows the challenge, takes the assertion, and has the code compared.

use std::io::stdin;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::bail;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Service, Showing};

/// The path of the gate, below the pairing's own path.
const BELOW: &str = "/passkey";

#[derive(Default)]
pub(super) struct GateFollower {
    /// The lines that the person types. It is opened when a line is first needed.
    typed: Option<Receiver<String>>,
    /// The challenge whose assertion the service has accepted. The next line that the person types is for the
    /// next step, even while the service still shows this challenge.
    signed: Option<Value>,
}

/// Whether the pairing waits at the gate.
pub(super) fn is_at_gate(pairing: &Value) -> bool {
    matches!(pairing["state"].as_str(), Some("passkey_required" | "passkey_confirm"))
}

impl GateFollower {
    /// Shows the present step, and submits the line that the person has typed for it.
    pub(super) async fn step(&mut self, showing: &mut Showing<'_>, service: &Service) -> anyhow::Result<()> {
        let gate = service.ask_at(BELOW, Method::GET, None).await?;
        showing.show(&gate, said(&gate))?;
        let is_signed =
            gate["state"] == "passkey_required" && self.signed.as_ref() == Some(&gate["challenge"]);
        if is_signed || gate["waits_for_phone"] == true {
            return Ok(());
        }
        let Some(line) = self.typed() else { return Ok(()) };
        match gate["state"].as_str() {
            Some("passkey_required") => {
                match hand_in(service, &line).await {
                    Ok(()) => self.signed = Some(gate["challenge"].clone()),
                    Err(fault) => {
                        let said = format!("The assertion was not accepted: {fault}");
                        showing.show(&json!({ "error": fault.to_string() }), said)?;
                    }
                }
                Ok(())
            }
            Some("passkey_confirm") => compare(service, &line).await,
            _ => Ok(()),
        }
    }

    /// The next line that the person has typed, if there is one.
    fn typed(&mut self) -> Option<String> {
        let typed = self.typed.get_or_insert_with(|| {
            let (tell, typed) = channel();
            // The thread ends with the program: a read of standard input cannot be canceled.
            thread::spawn(move || {
                for line in stdin().lines() {
                    let Ok(line) = line else { return };
                    if !line.trim().is_empty() && tell.send(line).is_err() {
                        return;
                    }
                }
            });
            typed
        });
        typed.try_recv().ok()
    }
}

/// The text that the person has to see.
fn said(gate: &Value) -> String {
    let instruction = gate["instruction"].as_str().unwrap_or_default();
    if gate["waits_for_phone"] == true {
        return instruction.to_owned();
    }
    let until = gate["expires_at"].as_str().unwrap_or("soon");
    match gate["code"].as_str() {
        Some(code) => format!(
            "{instruction}\n\n    {code}\n\nType yes if the phone shows the same code, or no to end the pairing, and \
             press Enter. WhatsApp waits until {until}.\n"
        ),
        None => format!(
            "{instruction}\n\nThe challenge:\n\n{}\n\nPaste the assertion as one line of JSON, and press Enter. \
             WhatsApp waits until {until}.\n",
            gate["challenge"]
        ),
    }
}

async fn hand_in(service: &Service, line: &str) -> anyhow::Result<()> {
    let Ok(assertion @ Value::Object(_)) = serde_json::from_str(line) else {
        bail!("the line is not a JSON object");
    };
    service.ask_at(BELOW, Method::POST, Some(json!({ "assertion": assertion }))).await.map(drop)
}

async fn compare(service: &Service, line: &str) -> anyhow::Result<()> {
    if matches!(line.trim().to_lowercase().as_str(), "y" | "yes") {
        return service.ask_at(BELOW, Method::POST, Some(json!({ "confirmed": true }))).await.map(drop);
    }
    service.ask(Method::DELETE, None).await?;
    bail!("the codes differ: the pairing was ended, and no phone is linked")
}
