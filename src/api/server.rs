//! The HTTP server. It is actix-web's own, with two differences. Bytes that are not HTTP, and heads that are
//! too large or too slow, get a refusal in the usual form. And connections that clients keep open without using
//! them are closed.

mod connection;
mod refusal;

use std::future::ready;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{Extensions, HttpService, Protocol};
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::App;
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::web::Data;

use self::connection::{Connection, Patience};
use super::route::Listener;
use super::{Beside, State, service};
use crate::surface::clients::Clients;

/// How long a client may take to close a connection after the service announced its end.
const DISCONNECT: Duration = Duration::from_secs(1);
/// The connections beyond the bound that may be open while older ones end: this fraction of the bound, and at
/// least this number.
const SPARE: usize = 16;

/// The settings of a server.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The number of worker threads.
    pub workers: usize,
    /// The maximum of connections. Beyond it, connections that wait for their client are closed. See
    /// [`with_spare`].
    pub connections: usize,
    /// How long an idle connection stays open.
    pub keep_alive: Duration,
    /// How long the head of a request may take to arrive; zero means no limit.
    pub client_timeout: Duration,
    /// How long a client may take before it begins to read an answer.
    pub write_timeout: Duration,
    /// The lowest rate at which a client then has to read the answer, in bytes per second.
    pub client_rate: usize,
    /// How long a graceful stop waits for answers in progress.
    pub shutdown_grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: 1,
            connections: 1000,
            keep_alive: Duration::from_secs(75),
            client_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            client_rate: 8 * 1024,
            shutdown_grace: Duration::from_secs(30),
        }
    }
}

/// The files that this maximum of connections may use for moments: the maximum and the spare connections.
pub const fn with_spare(connections: usize) -> usize {
    let spare = connections / SPARE;
    connections + if spare > SPARE { spare } else { SPARE }
}

/// Serves the routes of this listener and the resources beside the API on this socket. The caller handles
/// signals.
///
/// # Errors
///
/// When the socket is not usable.
pub fn listen(
    socket: TcpListener,
    listener: Listener,
    state: Data<State>,
    beside: Option<Beside>,
    settings: Settings,
) -> io::Result<Server> {
    let Settings {
        workers,
        connections,
        keep_alive,
        client_timeout,
        write_timeout,
        client_rate,
        shutdown_grace,
    } = settings;
    let grace = shutdown_grace.as_secs().max(1);
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections(with_spare(connections).div_ceil(workers.max(1)))
        .shutdown_timeout(grace)
        .disable_signals();
    let patience = Patience {
        head: Some(client_timeout).filter(|timeout| !timeout.is_zero()),
        keep_alive,
        write: write_timeout,
        rate: client_rate,
    };
    let clients = Clients::new(listener.as_str(), connections);
    let stopping = builder.graceful_shutdown_signal();
    let address = socket.local_addr()?;
    let builder = builder.listen("http", socket, move || {
        let stopping = stopping.clone();
        let application = App::new().service(service(state.clone(), listener, beside.as_ref()));
        let application = application.into_factory().map_err(|error| error.error_response());
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(keep_alive)
            .client_request_timeout(client_timeout)
            .client_disconnect_timeout(DISCONNECT)
            .local_addr(address)
            .on_connect_ext(|connection: &Connection, data: &mut Extensions| {
                data.insert(Arc::clone(connection.client()));
            })
            .finish(map_config(application, |()| AppConfig::default()));
        let clients = Arc::clone(&clients);
        let connected = move |stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            // The end of a stream is a packet of its own, which would otherwise wait 40 ms for the client's delayed ACK.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY on a connection; small packets are delayed");
            }
            let connection = Connection::new(stream, clients.open(), patience);
            ready(Ok::<_, DispatchError>((connection, Protocol::Http1, peer)))
        };
        fn_service(connected).and_then(http)
    })?;
    Ok(builder.run())
}
