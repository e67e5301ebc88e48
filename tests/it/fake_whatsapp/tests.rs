//! Checks that this WhatsApp behaves as the library expects, beyond the driver's own interface.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use tokio::sync::mpsc;
use whatsapp_rust::bot::{Bot, BotHandle, EventDelivery};
use whatsapp_rust::http::{HttpClient, HttpRequest, HttpResponse};
use whatsapp_rust::proto_helpers::MessageExt as _;
use whatsapp_rust::transport::TokioWebSocketTransportFactory;
use whatsapp_rust::wacore::store::InMemoryBackend;
use whatsapp_rust::wacore::types::events::Event;
use whatsapp_rust::{Client, Jid, TokioRuntime, async_trait};

use super::{FakeWhatsApp, Phone};

/// Requests by HTTP, without the TLS that the library asks for.
struct Plain(reqwest::Client);

#[async_trait]
impl HttpClient for Plain {
    async fn execute(&self, request: HttpRequest) -> anyhow::Result<HttpResponse> {
        let url = request.url.replacen("https://", "http://", 1);
        let mut asked = self.0.request(request.method.parse()?, url);
        for (name, value) in request.headers {
            asked = asked.header(name, value);
        }
        let asked = asked.body(request.body.unwrap_or_default());
        let answer = asked.send().await.map_err(|error| anyhow!(error))?;
        Ok(HttpResponse { status_code: answer.status().as_u16(), body: answer.bytes().await?.to_vec() })
    }
}

/// A client of the library's own.
struct Library {
    client: Arc<Client>,
    handle: BotHandle,
    events: mpsc::UnboundedReceiver<Arc<Event>>,
}

impl Library {
    async fn start(whatsapp: &FakeWhatsApp, backend: Arc<InMemoryBackend>) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (tell, events) = mpsc::unbounded_channel();
        let bot = Bot::builder()
            .with_backend_arc(backend)
            .with_transport_factory(TokioWebSocketTransportFactory::new().with_url(whatsapp.url()))
            .with_http_client(Plain(reqwest::Client::new()))
            .with_runtime(TokioRuntime)
            .with_version((2, 3000, 1_029_000_000))
            .with_wanted_pre_key_count(8)
            .skip_history_sync()
            .on_event(move |event, _| {
                let _ = tell.send(event);
                async {}
            })
            .with_event_delivery(EventDelivery::Ordered { capacity: 64 })
            .build()
            .await
            .unwrap();
        Self { client: bot.client(), handle: bot.spawn(), events }
    }

    async fn linked(whatsapp: &FakeWhatsApp, phone: &Phone, backend: Arc<InMemoryBackend>) -> Self {
        let mut library = Self::start(whatsapp, backend).await;
        let code = library.expect(|event| match event {
            Event::PairingQrCode(shown) => Some(shown.code.clone()),
            _ => None,
        });
        phone.scan(&code.await);
        library.expect_connected().await;
        library
    }

    async fn expect<T>(&mut self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let event = self.events.recv().await.expect("the library tells nothing more");
                if let Some(picked) = pick(&event) {
                    return picked;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(15), waiting).await.expect("the event comes in time")
    }

    async fn expect_connected(&mut self) {
        self.expect(|event| matches!(event, Event::Connected(_)).then_some(())).await;
    }

    /// The next incoming message: its id and its text.
    async fn expect_text(&mut self) -> (String, Option<String>) {
        self.expect(|event| {
            let message = event.messages().next()?;
            Some((message.info.id.to_string(), message.message.text_content().map(ToOwned::to_owned)))
        })
        .await
    }
}

#[tokio::test]
async fn a_message_reaches_the_device_and_is_acknowledged_by_it() {
    let whatsapp = FakeWhatsApp::start();
    let (phone, maria) = (whatsapp.phone("5511900000001"), whatsapp.contact("5511988887777"));
    let mut library = Library::linked(&whatsapp, &phone, Arc::default()).await;
    for text in ["oi", "tudo bem?"] {
        let id = maria.writes(&phone, text).await;
        assert_eq!(library.expect_text().await, (id.clone(), Some(text.to_owned())));
        phone.expect_receipt(&id).await;
    }
    library.handle.shutdown().await;
}

#[tokio::test]
async fn an_image_that_somebody_sends_can_be_loaded() {
    let whatsapp = FakeWhatsApp::start();
    let (phone, maria) = (whatsapp.phone("5511900000001"), whatsapp.contact("5511988887777"));
    let mut library = Library::linked(&whatsapp, &phone, Arc::default()).await;
    let file = whatsapp.keeps_image(b"\xff\xd8\xff a picture");
    maria.sends_image(&phone, &file).await;
    let message = library.expect(|event| Some(Arc::clone(&event.messages().next()?.message))).await;
    let image = message.image_message.as_option().unwrap();
    assert_eq!(library.client.download(image).await.unwrap(), b"\xff\xd8\xff a picture");
    library.handle.shutdown().await;
}

#[tokio::test]
async fn a_server_that_fell_silent_answers_again() {
    let whatsapp = FakeWhatsApp::start();
    let (phone, _) = (whatsapp.phone("5511900000001"), whatsapp.contact("5511988887777"));
    let mut library = Library::linked(&whatsapp, &phone, Arc::default()).await;
    let (client, maria) = (Arc::clone(&library.client), [Jid::pn("5511988887777")]);
    whatsapp.falls_silent();
    let contacts = client.contacts();
    let unanswered = tokio::time::timeout(Duration::from_millis(200), contacts.is_on_whatsapp(&maria)).await;
    assert!(unanswered.is_err(), "{unanswered:?}");
    whatsapp.speaks_again();
    phone.drop_connection();
    library.expect(|event| matches!(event, Event::Disconnected(_)).then_some(())).await;
    library.expect_connected().await;
    assert!(contacts.is_on_whatsapp(&maria).await.unwrap()[0].is_registered);
    library.handle.shutdown().await;
}
