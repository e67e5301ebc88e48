//! The nodes of a cluster, their fences, the channels that each node owns, and the keys that seal the secrets.

pub(crate) const UP: &[&str] = &[
    // `lapses_at` is by the database's clock. `state`: 0 serves, 1 drains, 2 is fenced, 3 is fenced and
    // cleaned up. `protocol`, `protocol_from`: the versions of the rules between nodes that this node follows, the newest
    // and the oldest. `provider`: its address; empty when it is not known. `sealing_keys`: the ids of the sealing keys that
    // the node has, separated by spaces. `lacks_key`: 1 while the node lacks a key of the table `sealing_key`.
    // `clock_ahead`: how far its clock is ahead of the database's, in milliseconds; null when it is not known.
    "CREATE TABLE node (
        id {uuid} NOT NULL PRIMARY KEY,
        cluster TEXT NOT NULL,
        name TEXT NOT NULL,
        address TEXT NOT NULL,
        version TEXT NOT NULL,
        cores {int} NOT NULL,
        started_at {int} NOT NULL,
        lapses_at {int} NOT NULL,
        state {small} NOT NULL,
        protocol {int} NOT NULL DEFAULT 0,
        protocol_from {int} NOT NULL DEFAULT 0,
        provider TEXT NOT NULL DEFAULT '',
        sealing_keys TEXT NOT NULL DEFAULT '',
        lacks_key {small} NOT NULL DEFAULT 0,
        clock_ahead {int}
    ) {strict}",
    // A table of its own: the heartbeat would otherwise wait for each transaction that checks the fence.
    "CREATE TABLE node_fence (
        node_id {uuid} NOT NULL PRIMARY KEY,
        closed {small} NOT NULL
    ) {strict}",
    // `shard` is the id of a web session's channel, or an id that all channels of one business account share.
    "CREATE TABLE channel_owner (
        shard {uuid} NOT NULL PRIMARY KEY,
        node_id {uuid},
        epoch {int} NOT NULL,
        moved_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX channel_owner_node ON channel_owner (node_id)",
    // Notes of a node to the owner of a channel; a note without a channel is for all nodes.
    "CREATE TABLE node_note (
        id {serial} NOT NULL PRIMARY KEY,
        channel_id {uuid},
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        written_at {int} NOT NULL
    ) {strict}",
    // The keys that seal the secrets of this database, each with a value by which a process proves that it has the key.
    "CREATE TABLE sealing_key (
        key_id {bytes} NOT NULL PRIMARY KEY,
        proof {bytes} NOT NULL,
        added_at {int} NOT NULL
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE sealing_key",
    "DROP TABLE node_note",
    "DROP TABLE channel_owner",
    "DROP TABLE node_fence",
    "DROP TABLE node",
];
