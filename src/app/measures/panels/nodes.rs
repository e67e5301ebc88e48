//! The panels about NATS, events and nodes.

use crate::app::measures::board::Panel;

pub(super) const NATS_AND_EVENTS: &[Panel] = &[
    Panel::series(
        "Events",
        "ops",
        5,
        &[(r#"sum by (result) (rate(pombo_events_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("Events that were published, dropped because the log was full or they were too old, or refused"),
    Panel::series("Events that wait", "short", 5, &[(r#"sum(pombo_events_waiting{$on})"#, "events")])
        .says("Events in the log that NATS does not have yet"),
    Panel::series(
        "Age of the oldest event",
        "s",
        5,
        &[(r#"max(pombo_events_waiting_age_seconds{$on})"#, "oldest")],
    )
    .says("How far the stream is behind"),
    Panel::series("Log of events", "bytes", 4, &[(r#"sum(pombo_event_log_bytes{$on})"#, "log")]),
    Panel::series(
        "NATS",
        "short",
        5,
        &[
            (r#"sum(pombo_nats_connected{$on})"#, "connected"),
            (r#"sum(pombo_events_connected{$on})"#, "connected for events"),
            (r#"sum(rate(pombo_nats_failures_total{$on}[$each]))"#, "failures"),
            (r#"sum(rate(pombo_nats_refused_total{$on}[$each]))"#, "refused"),
            (r#"sum by (result) (rate(pombo_nats_requests_total{$on}[$each]))"#, "request: {{result}}"),
        ],
    )
    .says("Connections, failed attempts to connect, and requests to other nodes"),
    Panel::series(
        "Deliveries to webhooks",
        "ops",
        12,
        &[(r#"sum by (result) (rate(pombo_webhook_deliveries_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("Requests to the receivers of companies")
    .stacked(),
    Panel::series(
        "Webhook endpoints",
        "short",
        12,
        &[
            (r#"sum by (state) (pombo_webhook_endpoints{$on})"#, "{{state}}"),
            (
                r#"sum by (reason) (increase(pombo_webhook_given_up_total{$on}[$each]))"#,
                "given up: {{reason}}",
            ),
        ],
    )
    .says("By state, and the events that they do not get"),
];

pub(super) const NODES: &[Panel] = &[
    Panel::series(
        "What runs on each node",
        "short",
        8,
        &[
            ("pombo_cluster_shards{$on}", "shards of {{instance}}"),
            ("pombo_cluster_nodes{$on}", "nodes as {{instance}} sees them"),
        ],
    )
    .says("Business accounts and web sessions, and the nodes that take them"),
    Panel::series(
        "Shards that changed hands",
        "ops",
        8,
        &[
            ("rate(pombo_cluster_shards_gained_total{$on}[$each])", "taken by {{instance}}"),
            ("rate(pombo_cluster_shards_released_total{$on}[$each])", "given away by {{instance}}"),
        ],
    )
    .says("For long: nodes come and go"),
    Panel::series(
        "Leases, clocks and keys",
        "short",
        8,
        &[
            ("pombo_cluster_lease_seconds{$on}", "seconds of lease of {{instance}}"),
            ("pombo_cluster_trusted{$on}", "{{instance}} may send"),
            ("pombo_clock_offset_seconds{$on}", "seconds that {{instance}} is ahead"),
            ("pombo_sealing_keys_missing{$on}", "keys that {{instance}} lacks"),
        ],
    )
    .says("About four seconds of lease, and nothing else, is well"),
];
