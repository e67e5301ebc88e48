//! The ids of the door that speaks Graph, and the channels of API keys.

pub(crate) const UP: &[&str] = &[
    // The ids of what Meta has no id for. `kind`: 1 a web session, 2 the web sessions of a company, 3 a company. `owner_id`: the
    // channel, or the company.
    "CREATE TABLE graph_id (
        id {int} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        kind {small} NOT NULL,
        owner_id {uuid} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX graph_id_owner ON graph_id (owner_id, kind)",
    // Channel ids with spaces between them; null for all channels.
    "ALTER TABLE api_key ADD COLUMN channels TEXT",
    // Programs name a message by the provider's id alone.
    "CREATE INDEX conversation_message_named ON conversation_message (channel_id, provider_id)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP INDEX conversation_message_named",
    "ALTER TABLE api_key DROP COLUMN channels",
    "DROP TABLE graph_id",
];
