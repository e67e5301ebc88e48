//! Conversations with people and groups, what they wrote, notes about them, and the keys that their contents are sealed with.

pub(crate) const UP: &[&str] = &[
    // The keys with which the contents of a company are sealed, each sealed itself. The newest one seals.
    "CREATE TABLE company_key (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        data_key {bytes} NOT NULL,
        created_at {int} NOT NULL
    ) {clustered}",
    "CREATE INDEX company_key_by_company ON company_key (company_id, id)",
    // One for a channel and a person or group. `peer`: the number under which the person is known as digits, else `u:` and
    // the person's id, or `g:` and the group. `kind`: 0 person, 1 group. `state`: 0 open, 1 closed. Times are 0 when there
    // is none. `referral_at`: when the person came from an advertisement that was not answered yet. `last_…`: the entry that
    // a list shows, with its words sealed to `last_id`; `last_direction`: 0 the person, 1 an echo, 2 a message of ours.
    "CREATE TABLE conversation (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        kind {small} NOT NULL,
        peer TEXT {bytewise} NOT NULL,
        user_id TEXT,
        name TEXT,
        name_folded TEXT,
        state {small} NOT NULL DEFAULT 0,
        assigned_to {uuid},
        unread {int} NOT NULL DEFAULT 0,
        last_at {int} NOT NULL DEFAULT 0,
        last_inbound_at {int} NOT NULL DEFAULT 0,
        last_outbound_at {int} NOT NULL DEFAULT 0,
        window_until {int} NOT NULL DEFAULT 0,
        referral_at {int} NOT NULL DEFAULT 0,
        entry_point_until {int} NOT NULL DEFAULT 0,
        last_id {uuid} NOT NULL,
        last_line_at {int} NOT NULL DEFAULT 0,
        last_kind TEXT NOT NULL DEFAULT '',
        last_direction {small} NOT NULL DEFAULT 0,
        last_line {bytes} NOT NULL,
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX conversation_peer ON conversation (channel_id, peer)",
    "CREATE INDEX conversation_person ON conversation (company_id, peer)",
    // Each list is walked in its own order, so that it reads no more than it shows. Of indexes with the same columns SQLite
    // takes the one that was created last: those with a condition come after the one without.
    "CREATE INDEX conversation_listed ON conversation (company_id, kind, state, last_at, id)",
    "CREATE INDEX conversation_of_channel ON conversation (company_id, channel_id, kind, state, last_at, id)",
    "CREATE INDEX conversation_unassigned ON conversation (company_id, kind, state, last_at, id) WHERE assigned_to IS NULL",
    "CREATE INDEX conversation_assigned ON conversation (company_id, assigned_to, kind, state, last_at, id)
        WHERE assigned_to IS NOT NULL",
    "CREATE INDEX conversation_unread ON conversation (company_id, kind, state, last_at, id) WHERE unread > 0",
    "CREATE INDEX conversation_age ON conversation (last_at)",
    // The words of a person's name, and the digits of the number forwards (`+…`) and backwards (`-…`), by which a search finds
    // the conversation.
    "CREATE TABLE conversation_word (
        company_id {uuid} NOT NULL,
        word TEXT {bytewise} NOT NULL,
        conversation_id {uuid} NOT NULL,
        PRIMARY KEY (company_id, word, conversation_id)
    ) {clustered}",
    "CREATE INDEX conversation_word_of ON conversation_word (conversation_id)",
    // What people wrote, and echoes of what the company wrote elsewhere. Messages of ours are in the ledger. `direction`: 0 the
    // person, 1 an echo. `target`: the provider's id of the message that this one changes. An empty `content` is not kept.
    "CREATE TABLE conversation_message (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        conversation_id {uuid} NOT NULL,
        provider_id TEXT {bytewise} NOT NULL,
        direction {small} NOT NULL,
        kind TEXT NOT NULL,
        target TEXT {bytewise},
        at {int} NOT NULL,
        content {bytes} NOT NULL
    ) {clustered}",
    // The provider repeats messages. Ids of web sessions are unique in a conversation alone.
    "CREATE UNIQUE INDEX conversation_message_once ON conversation_message (conversation_id, provider_id)",
    "CREATE INDEX conversation_message_place ON conversation_message (conversation_id, at, id) WHERE target IS NULL",
    "CREATE INDEX conversation_message_change ON conversation_message (conversation_id, target) WHERE target IS NOT NULL",
    // `author`: as the record of changes names its authors. `text` is sealed to `id`.
    "CREATE TABLE conversation_note (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        conversation_id {uuid} NOT NULL,
        author TEXT NOT NULL,
        text {bytes} NOT NULL,
        created_at {int} NOT NULL,
        edited_at {int}
    ) {clustered}",
    "CREATE INDEX conversation_note_of ON conversation_note (conversation_id, id)",
    // What is known of a channel's windows. `recorded_since`: when its first inbound message was recorded; 0 before. `rule`: 0
    // automatic, 1 enforced here, 2 left to the provider.
    "CREATE TABLE conversation_channel (
        channel_id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        rule {small} NOT NULL DEFAULT 0,
        recorded_since {int} NOT NULL DEFAULT 0
    ) {clustered}",
    // Nobody reads what these contain. Their ids still tell a message that the provider repeats.
    "UPDATE event SET payload = '{}' WHERE kind = 'inbound_message'",
    // The event has another name since it has the content.
    "UPDATE webhook_endpoint SET types = REPLACE(types, '\"inbound.received\"', '\"message.received\"')",
];

pub(crate) const DOWN: &[&str] = &[
    "UPDATE webhook_endpoint SET types = REPLACE(types, '\"message.received\"', '\"inbound.received\"')",
    "DROP TABLE conversation_channel",
    "DROP TABLE conversation_note",
    "DROP TABLE conversation_message",
    "DROP TABLE conversation_word",
    "DROP TABLE conversation",
    "DROP TABLE company_key",
];
