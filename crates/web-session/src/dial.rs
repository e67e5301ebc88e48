//! Opens connections, a limited number at a time, and reports connections that fail to open, which the library
//! does not report.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;
use whatsapp_rust::anyhow::Result;
use whatsapp_rust::async_channel::Receiver;
use whatsapp_rust::transport::{TokioWebSocketTransportFactory, Transport, TransportEvent, TransportFactory};

use super::telling::Telling;

/// Opens the connections of one session.
pub(super) struct Dialler {
    socket: TokioWebSocketTransportFactory,
    /// Shared by all sessions.
    turns: Arc<Semaphore>,
    telling: Arc<Telling>,
}

impl Dialler {
    pub(super) fn new(address: &str, turns: Arc<Semaphore>, telling: Arc<Telling>) -> Self {
        Self { socket: TokioWebSocketTransportFactory::new().with_url(address), turns, telling }
    }
}

#[async_trait]
impl TransportFactory for Dialler {
    async fn create_transport(&self) -> Result<(Arc<dyn Transport>, Receiver<TransportEvent>)> {
        self.telling.dialling();
        // The library drops this future after 20 s.
        let mut attempt = Attempt { telling: &self.telling, is_over: false };
        let _turn = self.turns.acquire().await?;
        let opened = self.socket.create_transport().await;
        attempt.is_over = true;
        match &opened {
            Ok(_) => self.telling.dialled(),
            Err(error) => self.telling.failed(&error.to_string()),
        }
        opened
    }
}

struct Attempt<'a> {
    telling: &'a Telling,
    is_over: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.telling.failed("there was no answer in time");
        }
    }
}
