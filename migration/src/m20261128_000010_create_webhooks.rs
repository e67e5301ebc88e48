//! Webhook endpoints of companies, their retries, and the log of their deliveries.

pub(crate) const UP: &[&str] = &[
    // `types` and `channels`: lists in JSON. `headers`, `secret` and `former_secret` are sealed; `former_secret` signs,
    // too, until `former_until`. `cause`: why the endpoint is disabled; null while it is enabled. `sequence`: all events
    // up to this place in the log are delivered, given up, or have a retry. `failures`: failed attempts in a row. `failing_since`: the
    // first of them, or the first one after two days without any. `failed_at`: the last one. `lost`: events
    // that were removed from the log before the endpoint got them, whatever their types. `resumed`: how often a person enabled
    // the endpoint or gave it another address. `begun`: how often a process began to deliver. Who began to deliver before
    // the last of these writes nothing any more. `mended`: how often there was a sign that the receiver works again.
    "CREATE TABLE webhook_endpoint (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        url TEXT NOT NULL,
        shape TEXT NOT NULL,
        types TEXT NOT NULL,
        channels TEXT NOT NULL,
        headers {bytes},
        secret {bytes} NOT NULL,
        former_secret {bytes},
        former_until {int},
        max_in_flight {small} NOT NULL,
        batch {small} NOT NULL,
        masks {small} NOT NULL,
        cause TEXT,
        cause_since {int},
        sequence {int} NOT NULL,
        failures {int} NOT NULL,
        failing_since {int},
        failed_at {int},
        lost {int} NOT NULL DEFAULT 0,
        resumed {int} NOT NULL DEFAULT 0,
        begun {int} NOT NULL DEFAULT 0,
        mended {int} NOT NULL DEFAULT 0,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX webhook_endpoint_by_company ON webhook_endpoint (company_id, id)",
    // Failed events that wait for their next attempt. The events are in the log.
    "CREATE TABLE webhook_retry (
        endpoint_id {uuid} NOT NULL,
        sequence {int} NOT NULL,
        attempts {small} NOT NULL,
        next_at {int} NOT NULL,
        PRIMARY KEY (endpoint_id, sequence)
    ) {clustered}",
    // Events that were given up although the log has them: no attempt is made, unless a person wants one.
    "CREATE TABLE webhook_given_up (
        endpoint_id {uuid} NOT NULL,
        sequence {int} NOT NULL,
        PRIMARY KEY (endpoint_id, sequence)
    ) {clustered}",
    // What a person wants to be sent once more: of an endpoint, the last one. `since` and `until`: when events were written to
    // the log. Those after `after_place` up to `last_place` are still to become retries. `finished_at` is null until then.
    "CREATE TABLE webhook_replay (
        endpoint_id {uuid} NOT NULL PRIMARY KEY,
        id {uuid} NOT NULL,
        state TEXT NOT NULL,
        types TEXT NOT NULL,
        since {int} NOT NULL,
        until {int} NOT NULL,
        after_place {int} NOT NULL,
        last_place {int} NOT NULL,
        started_at {int} NOT NULL,
        finished_at {int}
    ) {strict}",
    // Attempts to deliver. A request may have several events: `event_id`, `type` and `sequence` are those of the first. `sequence`
    // is null for an example. `status` is null when the receiver did not answer; `fault` says why the attempt failed. `request_id`:
    // the id of a request whose id is not `event_id`. `header_names`: the endpoint's own headers, with commas between them.
    "CREATE TABLE webhook_delivery (
        id {uuid} NOT NULL PRIMARY KEY,
        endpoint_id {uuid} NOT NULL,
        at {int} NOT NULL,
        event_id TEXT NOT NULL,
        type TEXT NOT NULL,
        sequence {int},
        events {int} NOT NULL,
        attempt {small} NOT NULL,
        status {small},
        took_ms {int} NOT NULL,
        answer TEXT,
        fault TEXT,
        fault_kind TEXT,
        request_id TEXT,
        signature TEXT NOT NULL,
        header_names TEXT
    ) {strict}",
    "CREATE INDEX webhook_delivery_by_endpoint ON webhook_delivery (endpoint_id, id)",
    "INSERT INTO revision (topic, value) VALUES ('webhook', 0)",
];

pub(crate) const DOWN: &[&str] = &[
    "DELETE FROM revision WHERE topic = 'webhook'",
    "DROP TABLE webhook_delivery",
    "DROP TABLE webhook_replay",
    "DROP TABLE webhook_given_up",
    "DROP TABLE webhook_retry",
    "DROP TABLE webhook_endpoint",
];
