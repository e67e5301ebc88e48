//! The HTTP surface, through a socket.

mod bodies;
mod codes;
mod contacts;
mod fair;
mod hostile;
mod idempotency;
mod lists;
mod methods;
mod operator;
mod operator_records;
mod order;
mod reference;
mod requests;
mod routes;
mod send_messages;
mod sends;
mod session_token;
mod surroundings;
mod terms;
mod unknown;
mod world;
