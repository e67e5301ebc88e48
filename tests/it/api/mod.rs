//! The HTTP surface, through a socket.

mod bodies;
mod codes;
mod contacts;
mod hostile;
mod lists;
mod methods;
mod operator;
mod order;
mod reference;
mod requests;
mod routes;
mod surroundings;
mod world;
