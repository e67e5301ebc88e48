//! The panels of the board. In a query, `$on` stands for the instances that are chosen, and `$each` for the time between two
//! points.

mod nodes;

use self::nodes::{NATS_AND_EVENTS, NODES};
use super::board::{Panel, PanelRow};

/// All rows, from top to bottom.
pub(super) const ROWS: &[PanelRow] = &[
    PanelRow { title: "Now", panels: NOW },
    PanelRow { title: "Messages", panels: MESSAGES },
    PanelRow { title: "Rates", panels: RATES },
    PanelRow { title: "Receipts", panels: RECEIPTS },
    PanelRow { title: "Requests", panels: REQUESTS },
    PanelRow { title: "Ledger", panels: LEDGER },
    PanelRow { title: "Upkeep", panels: UPKEEP },
    PanelRow { title: "In memory", panels: IN_MEMORY },
    PanelRow { title: "Process", panels: PROCESS },
    PanelRow { title: "NATS and events", panels: NATS_AND_EVENTS },
    PanelRow { title: "Nodes", panels: NODES },
];

const NOW: &[Panel] = &[
    Panel::stat(
        "Messages a second",
        "ops",
        4,
        &[(r#"sum(rate(pombo_messages_total{$on,outcome="sent"}[$each]))"#, "")],
    )
    .says("Messages that the provider accepted"),
    Panel::stat(
        "Recipients accepted, last hour",
        "short",
        4,
        &[(r#"sum(increase(pombo_recipients_accepted_total{$on}[1h]))"#, "")],
    )
    .says("Of sends that were answered 202"),
    Panel::stat(
        "Failed, last hour",
        "short",
        4,
        &[(r#"sum(increase(pombo_messages_total{$on,outcome="failed"}[1h]))"#, "")],
    )
    .says("Messages that will not arrive")
    .warns("orange"),
    Panel::stat(
        "Unknown, last hour",
        "short",
        4,
        &[(r#"sum(increase(pombo_messages_total{$on,outcome="unknown"}[1h]))"#, "")],
    )
    .says("Messages that the provider may or may not have, and that the tier holds")
    .warns("red"),
    Panel::stat(
        "Channels lost, last hour",
        "short",
        4,
        &[(r#"sum(increase(pombo_channel_changes_total{$on,to=~"disconnected|blocked"}[1h]))"#, "")],
    )
    .says("Changes to disconnected or blocked")
    .warns("red"),
    Panel::stat(
        "Up since",
        "dateTimeFromNow",
        4,
        &[(r#"process_start_time_seconds{$on} * 1000"#, "{{instance}}")],
    )
    .says("Start of the process"),
];

const MESSAGES: &[Panel] = &[
    Panel::series("Attempts by outcome", "ops", 12, &[
        (r#"sum by (outcome) (rate(pombo_messages_total{$on}[$each]))"#, "{{outcome}}"),
    ]).says("sent, failed, retried, unknown, suppressed").stacked(),
    Panel::series("Messages held, by reason", "ops", 12, &[
        (r#"sum by (reason) (rate(pombo_messages_held_total{$on}[$each]))"#, "{{reason}}"),
    ]).says("Single messages that were put back, by the words of a send's `waiting`").stacked(),
    Panel::series("Accepted", "ops", 8, &[
        (r#"sum(rate(pombo_sends_accepted_total{$on}[$each]))"#, "sends"),
        (r#"sum(rate(pombo_recipients_accepted_total{$on}[$each]))"#, "recipients"),
    ]).says("Sends and recipients answered with 202"),
    Panel::series("Time to the provider's answer", "s", 8, &[
        (r#"histogram_quantile(0.5, sum by (le) (rate(pombo_provider_answer_seconds_bucket{$on}[$each])))"#, "median"),
        (r#"histogram_quantile(0.95, sum by (le) (rate(pombo_provider_answer_seconds_bucket{$on}[$each])))"#, "95 %"),
        (r#"histogram_quantile(0.99, sum by (le) (rate(pombo_provider_answer_seconds_bucket{$on}[$each])))"#, "99 %"),
    ]).says("From a message's start"),
    Panel::series("Channels by status", "short", 8, &[
        (r#"max by (status) (pombo_channels{$on})"#, "{{status}}"),
    ]).says("All channels of the database").stacked(),
    Panel::series("Messages that wait, by reason", "short", 8, &[
        (r#"sum by (reason) (pombo_messages_waiting{$on})"#, "{{reason}}"),
    ]).says("Messages of unfinished sends that have no outcome yet").stacked(),
    Panel::series("Messages that wait, by tier", "short", 8, &[
        (r#"sum by (tier) (pombo_messages_waiting{$on})"#, "{{tier}}"),
    ]).says("The same by the tier of the channel").stacked(),
    Panel::series("Channels that changed their status", "short", 8, &[
        (r#"sum by (to) (increase(pombo_channel_changes_total{$on}[$each]))"#, "{{to}}"),
    ]).says("By the new status"),
];

const RATES: &[Panel] = &[
    Panel::series("Rate by tier", "ops", 8, &[
        (r#"sum by (tier) (pombo_channel_rate{$on})"#, "{{tier}}"),
    ]).says("Messages a second that channels hand to the provider").stacked(),
    Panel::series("Rate by channel", "ops", 8, &[
        (r#"pombo_channel_rate{$on}"#, "{{name}} ({{tier}})"),
    ]).says("The channels that use most of their limit; the others together"),
    Panel::series("Part of the limit that a channel uses", "percentunit", 8, &[
        (r#"pombo_channel_rate{$on} / pombo_channel_rate_limit{$on}"#, "{{name}} ({{tier}})"),
    ]).says("Near 100 % for long while messages wait: a higher tier, or a higher level at the provider, is faster"),
];

const RECEIPTS: &[Panel] = &[
    Panel::series(
        "Receipts by state",
        "ops",
        8,
        &[(r#"sum by (state) (rate(pombo_receipts_total{$on}[$each]))"#, "{{state}}")],
    )
    .says("As the provider reported them")
    .stacked(),
    Panel::series(
        "Webhooks by result",
        "ops",
        8,
        &[(r#"sum by (result) (rate(pombo_webhooks_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("taken, refused, unreadable, unavailable, failed")
    .stacked(),
    Panel::series(
        "Parts of webhooks that were ignored",
        "ops",
        8,
        &[(r#"sum by (reason) (rate(pombo_receipts_ignored_total{$on}[$each]))"#, "{{reason}}")],
    )
    .says("By reason")
    .stacked(),
];

const REQUESTS: &[Panel] = &[
    Panel::series(
        "Answers by class of status",
        "reqps",
        8,
        &[(r#"sum by (class) (rate(http_responses_total{$on}[$each]))"#, "{{class}}")],
    )
    .says("5xx: errors of the service")
    .stacked(),
    Panel::series(
        "Requests by status",
        "reqps",
        8,
        &[(r#"sum by (status) (rate(http_requests_total{$on}[$each]))"#, "{{status}}")],
    )
    .stacked(),
    Panel::series(
        "Time to answer, 99 %, by route",
        "s",
        8,
        &[(
            r#"histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket{$on}[$each])))"#,
            "{{route}}",
        )],
    ),
    Panel::series(
        "Time from a webhook to its answer",
        "s",
        8,
        &[
            (
                r#"histogram_quantile(0.5, sum by (le) (rate(pombo_webhook_seconds_bucket{$on}[$each])))"#,
                "median",
            ),
            (
                r#"histogram_quantile(0.99, sum by (le) (rate(pombo_webhook_seconds_bucket{$on}[$each])))"#,
                "99 %",
            ),
        ],
    ),
    Panel::series(
        "Connections of clients",
        "short",
        8,
        &[
            (r#"sum by (listener) (pombo_connections{$on})"#, "{{listener}}"),
            (r#"sum by (listener) (pombo_connections_max{$on})"#, "{{listener}}, most"),
        ],
    )
    .says("By listener, with the maximum"),
    Panel::series(
        "Connections that were ended",
        "ops",
        8,
        &[(r#"sum by (reason) (rate(pombo_connections_ended_total{$on}[$each]))"#, "{{reason}}")],
    )
    .says("By reason")
    .stacked(),
    Panel::series(
        "Request bodies in memory",
        "bytes",
        8,
        &[(r#"sum(pombo_body_bytes{$on})"#, "taken"), (r#"sum(pombo_body_bytes_max{$on})"#, "most")],
    ),
    Panel::series(
        "Requests by part of the service",
        "reqps",
        8,
        &[(r#"sum by (surface) (rate(http_surface_requests_total{$on}[$each]))"#, "{{surface}}")],
    )
    .says("The API, the console, the paths that speak Graph"),
    Panel::series(
        "Requests that went on to Meta",
        "reqps",
        8,
        &[(r#"sum by (result) (rate(pombo_graph_passed_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("Of programs written for Meta, with `graph.pass_through`"),
];

const LEDGER: &[Panel] = &[
    Panel::series(
        "Time of a commit",
        "s",
        8,
        &[
            (
                r#"histogram_quantile(0.5, sum by (le) (rate(pombo_ledger_commit_seconds_bucket{$on}[$each])))"#,
                "median",
            ),
            (
                r#"histogram_quantile(0.99, sum by (le) (rate(pombo_ledger_commit_seconds_bucket{$on}[$each])))"#,
                "99 %",
            ),
        ],
    ),
    Panel::series("Rows written", "ops", 8, &[(r#"sum(rate(pombo_ledger_rows_total{$on}[$each]))"#, "rows")])
        .says("Sends and outcomes"),
    Panel::series(
        "Trouble",
        "short",
        8,
        &[
            (r#"sum(increase(pombo_ledger_failures_total{$on}[$each]))"#, "failed commits"),
            (r#"sum(increase(pombo_ledger_refused_rows_total{$on}[$each]))"#, "refused rows"),
            (r#"sum(pombo_ledger_in_doubt{$on})"#, "in doubt"),
        ],
    )
    .says("Failed commits, refused rows, sends in doubt"),
];

const UPKEEP: &[Panel] = &[
    Panel::series(
        "Imported rows by result",
        "ops",
        8,
        &[(r#"sum by (result) (rate(pombo_imported_rows_total{$on}[$each]))"#, "{{result}}")],
    )
    .stacked(),
    Panel::series(
        "Imports",
        "short",
        8,
        &[
            (r#"sum(pombo_imports_running{$on})"#, "running"),
            (r#"sum by (result) (increase(pombo_imports_total{$on}[$each]))"#, "{{result}}"),
        ],
    )
    .says("Running or waiting, and those that ended"),
    Panel::series(
        "Rows removed by retention",
        "short",
        8,
        &[
            (r#"sum by (what) (rate(pombo_forgotten_total{$on}[$each]))"#, "{{what}}"),
            (
                r#"histogram_quantile(0.99, sum by (le) (rate(pombo_retention_step_seconds_bucket{$on}[$each])))"#,
                "a step's time, 99 %",
            ),
        ],
    ),
];

const IN_MEMORY: &[Panel] = &[
    Panel::series(
        "Messages in the lanes and under way",
        "short",
        8,
        &[
            (r#"sum by (lane) (pombo_lane_messages{$on})"#, "{{lane}}"),
            (r#"sum(pombo_messages_in_flight{$on})"#, "in flight"),
        ],
    )
    .says("Messages that wait in memory; the rest of a queue is in the database"),
    Panel::series(
        "Mailboxes and the open batch",
        "short",
        8,
        &[
            (r#"sum by (actor) (pombo_mailbox_messages{$on})"#, "mailbox: {{actor}}"),
            (r#"sum(pombo_ledger_queue{$on})"#, "requests to the ledger"),
            (r#"sum(pombo_ledger_open_rows{$on})"#, "rows of the next commit"),
        ],
    )
    .says("Messages that actors have not processed, and rows that wait for a commit"),
    Panel::series(
        "Mails by result",
        "ops",
        8,
        &[(r#"sum by (result) (rate(pombo_mails_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("sent, failed, given_up")
    .stacked(),
    Panel::series(
        "Mails that wait",
        "short",
        8,
        &[
            ("sum(pombo_mails_waiting{$on})", "mails"),
            ("max(pombo_mails_waiting_age_seconds{$on})", "age of the oldest in seconds"),
        ],
    ),
    Panel::series(
        "Spans of traces by result",
        "ops",
        8,
        &[(r#"sum by (result) (rate(pombo_spans_total{$on}[$each]))"#, "{{result}}")],
    )
    .says("exported, no_room, lost")
    .stacked(),
    Panel::series(
        "Files that people send",
        "short",
        24,
        &[
            (r#"sum by (result) (increase(pombo_incoming_files_total{$on}[$each]))"#, "{{result}}"),
            ("sum(pombo_incoming_files_waiting{$on})", "to be fetched"),
        ],
    )
    .says("Attempts to fetch them, by result, and those that wait"),
];

const PROCESS: &[Panel] = &[
    Panel::series(
        "Processor",
        "short",
        6,
        &[(r#"rate(process_cpu_seconds_total{$on}[$each])"#, "{{instance}}")],
    )
    .says("Cores in use"),
    Panel::series("Memory", "bytes", 6, &[(r#"process_resident_memory_bytes{$on}"#, "{{instance}}")]),
    Panel::series(
        "Open files",
        "short",
        6,
        &[(r#"process_open_fds{$on}"#, "open"), (r#"process_max_fds{$on}"#, "most")],
    ),
    Panel::series(
        "Console pages and panics",
        "short",
        6,
        &[
            (r#"sum(pombo_console_streams{$on})"#, "pages"),
            (r#"sum by (work) (increase(pombo_panics_total{$on}[$each]))"#, "panic: {{work}}"),
        ],
    )
    .says("Pages that are kept up to date; background work that panicked"),
];
