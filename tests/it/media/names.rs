//! Names with the addresses that a test sets, which may change from one lookup to the next.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pombo::connector::media::Lookup;

/// Each name with its answers in turn, the last of which repeats; and the lookups so far.
pub(super) struct Names {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
    /// The addresses of the machine's interfaces.
    own: Mutex<Vec<IpAddr>>,
}

impl Names {
    pub(super) fn none() -> Arc<Self> {
        Self::new(&[])
    }

    pub(super) fn new(answers: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let answers = answers
            .iter()
            .map(|(name, turns)| ((*name).to_owned(), turns.iter().map(addresses).collect()))
            .collect();
        Arc::new(Self { answers, asked: Mutex::new(Vec::new()), own: Mutex::default() })
    }

    /// From now on the machine has these addresses.
    pub(super) fn own(&self, addresses: &[&str]) {
        *self.own.lock().unwrap() = addresses.iter().map(|text| text.parse().unwrap()).collect();
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let turn = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(host.to_owned());
            asked.iter().filter(|name| *name == host).count() - 1
        };
        let turns = self.answers.get(host).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(turns[turn.min(turns.len() - 1)].clone())
    }

    fn own_addresses(&self) -> io::Result<Vec<IpAddr>> {
        Ok(self.own.lock().unwrap().clone())
    }
}
