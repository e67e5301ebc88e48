//! Pombo, a self-hosted messaging service for companies that talk to their customers on WhatsApp.
//!
//! # Glossary
//!
//! One word per concept, in code, logs, API, command line and documents:
//!
//! - *company*: the tenant. No company sees the data of another.
//! - *channel*: one sending identity at one provider; a *business account* or a *web session* (a phone's linked
//!   device; a *web chat* in the paths of the API).
//! - *contact*, *tag*: the people a company writes to, and the groups it sorts them into.
//! - *import*: an uploaded file of contacts, and its way into the company's contacts. *contact totals*: how many
//!   contacts a company has, and how many of them are indexed.
//! - *segment*: some thousand neighbouring contacts that are indexed for search together. *gram*: one to three
//!   neighbouring characters of a text.
//! - *template*: a message text that the provider approved.
//! - *send*: one accepted request. *snapshot*: a send as it is at one moment, for reading its messages.
//! - *dry run*: a request that is checked and estimated, and not sent. `pombo plan` does the same at the command line.
//! - *retry* of a send: a new send of the same content to the recipients of messages of that send that did not arrive.
//!   *source*: where the audience of a send came from beside numbers, a tag or the send that is retried.
//! - *recipient block*: a packed slice of a send's recipients.
//! - *message*: one send × one recipient; a row of the *ledger* once it is attempted.
//! - *unknown outcome*: the provider may or may not have a message. *in doubt*: a commit that may or may not have
//!   happened.
//! - *tally*: the messages of a send in figures: by state, by what went wrong, over time. *journey*: what happened to
//!   one message, step by step.
//! - *resolver*: turns an audience (numbers and tags) into unique recipients.
//! - *lane*: the order in which a channel takes work from its sends. *parked*: waiting in the store while the send is
//!   in memory.
//! - *limiter*: decides when a channel's next message may go. *recipient pacing*: the least distance between messages
//!   to one recipient. *web pacing*: the pace of a person, for web sessions. *pacer*: spaces out requests that are not
//!   messages.
//! - *permit*: the right to have one more message in flight, or to do one more piece of costly work.
//! - *probe*: a question to the provider about a channel's number. *canary*: the one message that decides whether a
//!   refused channel may send again.
//! - *tier*: a named set of rates and quotas.
//! - *grant*: the people whom a business account lets one of its channels write to with templates.
//! - *supervisor*: the task that opens and ends one web session. *pending reply*: the answer that the caller of a
//!   message through a web session waits for. *stranger*: a person who never wrote to the session and was never written
//!   to.
//! - *provider*: the external messaging service. *connector*: our code for one provider. *simulator*: a provider that
//!   we run ourselves.
//! - *load test*: loading a service as its clients do, and counting at the *receiver*, the simulator that its messages
//!   go to.
//! - *event*: something that happened, told to other programs. *event log*: the events of a company, for its readers.
//! - *webhook endpoint*: an address to which events of a company are sent. *delivery*: one request to it, with one event
//!   or a batch.
//! - *door* that speaks Graph: the paths of Meta's Cloud API over a company's channels, for programs written for Meta.
//! - *carrier*: the transport of notifications between nodes.
//! - *receipt*: a message status that the provider reports.
//! - *suppression*: a recipient that opted out: messages to it are *skipped*. *hold*: messages wait, to one recipient
//!   or of one template, and go later.
//! - *user*: a person who signs in to the console. *member*: a user of a company, in a *role* (owner, member, viewer, agent).
//! - *operator*: a person who tunes tiers and channels of every company, by a key or as a user. *change*: the record of
//!   a change that an operator, or somebody at the command line, made.
//! - *key guard*: holds an idempotency key while its request runs.
//! - *retention*: how long finished records are kept; older ones are *removed*.
//! - *node*: one process of several that serve on one database. *shard*: the channels that have to be on one node:
//!   those of a business account, or one web session. *owner*: the node that runs a shard. *fence*: the permission that
//!   each write of a node checks; nodes that take over its shards close it. *note*: a notice from a node to the owner
//!   of a channel, through the database.
//! - *disposition*: what a provider's error means for message, recipient, template and channel.

pub use ::accounts;
pub use ::clock;
pub use ::cluster;
pub use ::config;
pub use ::connectors as connector;
pub use ::domain;
pub use ::domain::error;
pub use ::engine;
pub use ::files;
pub use ::import;
pub use ::store;
pub use ::telemetry;
pub use ::vault;

pub mod api;
pub mod app;
pub mod cli;
pub mod console;
pub mod graph;
pub mod logging;
pub mod surface;
