//! The table of all metrics, in the order of the documentation. Alerts and the board refer to it, and a test compares it
//! with what the program counts.

mod words;

use self::words::{FORGOTTEN, WORKS};
use super::metric::{Label, Metric};

/// Metrics about one subject.
#[derive(Debug)]
pub(super) struct MetricGroup {
    pub(super) title: &'static str,
    pub(super) metrics: &'static [Metric],
}

/// All metrics, by subject.
pub(super) const SUBJECTS: &[MetricGroup] = &[
    MetricGroup { title: "Messages and channels", metrics: MESSAGES },
    MetricGroup { title: "Receipts and webhooks", metrics: RECEIPTS },
    MetricGroup { title: "Files that people send", metrics: INBOX },
    MetricGroup { title: "The ledger", metrics: LEDGER },
    MetricGroup { title: "Nodes, clocks and keys", metrics: NODES },
    MetricGroup { title: "NATS and events", metrics: EVENTS },
    MetricGroup { title: "Requests and clients", metrics: REQUESTS },
    MetricGroup { title: "Background work", metrics: WORK },
    MetricGroup { title: "The process", metrics: PROCESS },
];

/// All metrics.
pub(super) fn all() -> impl Iterator<Item = &'static Metric> {
    SUBJECTS.iter().flat_map(|subject| subject.metrics)
}

const MESSAGES: &[Metric] = &[
    Metric::gauge("pombo_channels", "Channels of the database, as this process sees them")
        .by(&[Label::statuses("status")])
        .watch(
            "A person has to act on `disconnected` and `blocked`, or remove the channel. Every node counts all channels: do not \
             add nodes up",
        ),
    Metric::counter("pombo_channel_changes_total", "Channels that changed their status, by the new one")
        .by(&[Label::statuses("to")]),
    Metric::counter(
        "pombo_messages_total",
        "Attempts by outcome: sent, failed, retried (waiting for a retry), unknown (and held by the tier's policy); and \
         suppressed (not attempted, because the recipient opted out meanwhile)",
    )
    .by(&[Label::of("outcome", &["sent", "failed", "retried", "unknown", "suppressed"])])
    .watch("`sent` at zero with work to do, or a rising share of `retried`: trouble at the provider"),
    Metric::counter(
        "pombo_messages_held_total",
        "Times that a single message was put back to go later, by reason: the words of a send's `waiting`",
    )
    .by(&[Label::reasons("reason")])
    .watch(
        "Frequent `back_off` or `account_throttled`: lower the tier. A wait of a whole channel or send puts no message back: \
         `pombo_messages_waiting` has those",
    ),
    Metric::sampled(
        "pombo_messages_waiting",
        "Messages of unfinished sends that have no outcome yet, by what their send waits for and by the tier of its channel; \
         counted in the database every few seconds",
    )
    .by(&[Label::reasons("reason"), Label::open("tier")])
    .watch(
        "The words of [Codes and words](codes.md#why-a-send-waits); `turn`: nothing but the messages before them. Each node \
         counts the channels that it runs",
    ),
    Metric::sampled(
        "pombo_channel_rate",
        "Messages a second that a running channel hands to the provider: the mean of the last ten seconds",
    )
    .by(&[Label::open("tier"), Label::open("channel"), Label::open("name")])
    .watch(
        "The channels that use most of their limit, by id and name; the others are added up for each tier as channel \
         `others`",
    ),
    Metric::sampled(
        "pombo_channel_rate_limit",
        "Messages a second that this channel may hand to the provider now: the least of its tier, of the provider's level \
         and of a back-off; +Inf without a limit",
    )
    .by(&[Label::open("tier"), Label::open("channel"), Label::open("name")])
    .watch("Near `pombo_channel_rate` for long while messages wait: a higher tier or level is faster"),
    Metric::gauge(
        "pombo_lane_messages",
        "Messages that wait in the memory of channels, by lane: direct (sends to one recipient), bulk, retry (to be tried \
         again)",
    )
    .by(&[Label::of("lane", &["direct", "bulk", "retry"])])
    .watch("Messages that wait longer are in the database and are not counted here"),
    Metric::gauge("pombo_messages_in_flight", "Messages between their start and their durable outcome")
        .watch("At `engine.total_in_flight`, channels take turns"),
    Metric::seconds("pombo_provider_answer_seconds", "Time from a message's start to the provider's answer")
        .watch("Rate × answer time must stay below `engine.concurrency`"),
    Metric::counter("pombo_sends_accepted_total", "Sends that were answered with 202"),
    Metric::counter(
        "pombo_recipients_accepted_total",
        "Recipients of the sends that were answered with 202",
    )
    .watch("Far ahead of `sent` for long: a queue"),
    Metric::gauge(
        "pombo_mailbox_messages",
        "Messages that wait in the mailboxes of actors: channel (all of them together), ledger",
    )
    .by(&[Label::of("actor", &["channel", "ledger"])])
    .watch("Above zero for long: a thread is overloaded"),
];

const RECEIPTS: &[Metric] = &[
    Metric::counter("pombo_receipts_total", "Receipts that were stored, by the state that they report")
        .by(&[Label::states("state")])
        .watch("A rising share of `failed`"),
    Metric::counter(
        "pombo_receipts_ignored_total",
        "Parts of webhooks that were ignored: no_key (a message of another sender, or one whose key the provider left out), \
         unknown_send, never_attempted, foreign_number (of no channel of the company), unreadable",
    )
    .by(&[Label::of("reason", &["no_key", "unknown_send", "never_attempted", "foreign_number", "unreadable"])])
    .watch(
        "`no_key`: another program sends through the same number; `foreign_number`: the app reports numbers that are no \
         channels of this company",
    ),
    Metric::counter(
        "pombo_webhooks_total",
        "Webhooks by result: taken, refused (no such channel, or wrongly signed), unreadable, unavailable, failed",
    )
    .by(&[Label::of("result", &["taken", "refused", "unreadable", "unavailable", "failed"])])
    .watch("`taken` at zero while messages go out: no receipts arrive; `unavailable` comes with database failures"),
    Metric::seconds("pombo_webhook_seconds", "Time from a webhook's head to its answer")
        .watch("Meta repeats webhooks that are answered too late"),
];

const INBOX: &[Metric] = &[
    Metric::counter(
        "pombo_incoming_files_total",
        "Attempts to fetch a file that a person sent, by result: kept, retried, or why the file is missing",
    )
    .by(&[Label::of(
        "result",
        &[
            "kept",
            "retried",
            "too_large",
            "gone",
            "damaged",
            "infected",
            "not_scanned",
            "refused_type",
            "disk_full",
            "no_room",
        ],
    )])
    .watch("A rising share of `retried`, `disk_full`, `no_room` or `not_scanned`: the log says why"),
    Metric::gauge(
        "pombo_incoming_files_waiting",
        "Files that people sent and that are to be fetched, on the node that does the housekeeping",
    )
    .watch("Usually near zero: files are fetched when their message arrives"),
];

const LEDGER: &[Metric] = &[
    Metric::counter("pombo_ledger_rows_total", "Sends and outcomes that the ledger wrote"),
    Metric::counter("pombo_ledger_failures_total", "Commits of the ledger that failed and were retried")
        .watch("The database cannot be written, and requests are answered 503"),
    Metric::counter(
        "pombo_ledger_refused_rows_total",
        "Rows that the database refuses permanently, by what they are and what was done: set aside, or written without the \
         provider's words",
    )
    .by(&[
        Label::of(
            "row",
            &["send", "audience", "outcome", "receipt", "mark", "inbound", "suppression", "other"],
        ),
        Label::of("then", &["set aside", "written without its texts"]),
    ])
    .watch("The log names the send"),
    Metric::seconds("pombo_ledger_commit_seconds", "Time of one commit of the ledger"),
    Metric::gauge("pombo_ledger_in_doubt", "Sends whose commit is unknown while their callers wait"),
    Metric::gauge("pombo_ledger_queue", "Requests to the ledger that wait until their rows are durable")
        .watch("Near `engine.accept_queue`, requests are answered 503"),
    Metric::gauge("pombo_ledger_open_rows", "Rows that the ledger's next commit will write")
        .watch("Growing for long: the database does not keep up"),
];

const NODES: &[Metric] = &[
    Metric::gauge(
        "pombo_cluster_trusted",
        "1 while the lease of this node is renewed; otherwise it sends nothing",
    )
    .watch("Only in a [cluster](postgresql.md)"),
    Metric::gauge(
        "pombo_cluster_lease_seconds",
        "How long this node still trusts its lease; 3.5 to 4.5 while it is renewed each second",
    )
    .watch("Lower now and then: PostgreSQL answers slowly"),
    Metric::gauge("pombo_cluster_nodes", "Nodes that take channels, as this node sees them")
        .watch("Fewer than you run: a node is gone or draining"),
    Metric::gauge(
        "pombo_cluster_shards",
        "Business accounts and web sessions whose channels run on this node; in a cluster",
    ),
    Metric::counter(
        "pombo_cluster_shards_gained_total",
        "Business accounts and web sessions that this node took",
    )
    .watch("Rising for long: nodes come and go"),
    Metric::counter(
        "pombo_cluster_shards_released_total",
        "Business accounts and web sessions that this node gave away",
    ),
    Metric::gauge(
        "pombo_clock_offset_seconds",
        "How far the clock of this machine is ahead of the database's; with PostgreSQL",
    )
    .watch("A node of a cluster sends by the database's clock, a service that runs alone by its own"),
    Metric::gauge(
        "pombo_sealing_keys_missing",
        "Sealing keys of the database that this process does not have",
    )
    .watch("A node gives its channels to the others"),
];

const EVENTS: &[Metric] = &[
    Metric::counter(
        "pombo_events_total",
        "Events by result: published, dropped (too old, or without room in the log), refused (larger than NATS takes, or \
         unreadable)",
    )
    .by(&[Label::of("result", &["published", "dropped", "refused"])])
    .watch("See [Events](events.md). `dropped`: NATS was away for too long, and programs that read the events missed some; `refused` is a defect"),
    Metric::gauge("pombo_event_log_bytes", "What the log of events takes, about, on the node that does the housekeeping")
        .watch("`events.max_bytes` bounds the part of each company"),
    Metric::gauge("pombo_events_waiting", "Events in the log that NATS does not have yet")
        .watch("It grows while NATS is unreachable. After `events.keep`, or beyond `events.max_bytes`, they are dropped"),
    Metric::gauge("pombo_events_waiting_age_seconds", "How long the oldest of them has waited")
        .watch("Usually below a second"),
    Metric::counter(
        "pombo_webhook_deliveries_total",
        "Requests to the webhooks of companies by result: delivered, failed (they are repeated), gone (the receiver answered \
         410, and its endpoint was disabled), aborted (the receiver asked for no further attempts), missing (nothing was sent: \
         the events are no longer there)",
    )
    .by(&[Label::of("result", &["delivered", "failed", "gone", "aborted", "missing"])])
    .watch("The log of an endpoint's deliveries says why they fail"),
    Metric::counter(
        "pombo_webhook_given_up_total",
        "Events that an endpoint does not get, by reason: aborted (its receiver does not want them), exhausted (all attempts \
         failed), crowded (too many others wait, too), missing (they are no longer there)",
    )
    .by(&[Label::of("reason", &["aborted", "exhausted", "crowded", "missing"])])
    .watch("`exhausted`: a receiver accepted nothing for three days"),
    Metric::gauge(
        "pombo_webhook_endpoints",
        "Webhook endpoints of companies by state: working, failing (the last attempts failed), disabled (by a person), stopped \
         (the receiver answered 410, or all attempts of five days failed), unsealable (enabled, but this service lacks the key that \
         sealed the secret or the headers, and the events wait); on the node that does the housekeeping",
    )
    .by(&[Label::of("state", &["working", "failing", "disabled", "stopped", "unsealable"])])
    .watch("After five days of nothing but failures, a failing endpoint is stopped"),
    Metric::gauge("pombo_nats_connected", "1 while NATS is connected, otherwise 0")
        .watch("No NATS server answers, or the credentials are wrong; the log has the reason"),
    Metric::gauge(
        "pombo_events_connected",
        "1 while events' own connection to NATS is there, otherwise 0; with `events.url`",
    ),
    Metric::counter("pombo_nats_failures_total", "Attempts to connect to NATS that failed"),
    Metric::counter(
        "pombo_nats_requests_total",
        "Requests to other nodes by result: answered, no_responder, no_answer, not_connected",
    )
    .by(&[Label::of("result", &["answered", "no_responder", "no_answer", "not_connected"])]),
    Metric::counter(
        "pombo_nats_refused_total",
        "Messages on NATS that this node did not believe, by reason: not_sealed, unknown_key, forged, too_long, repeated, old",
    )
    .by(&[Label::of("reason", &["not_sealed", "unknown_key", "forged", "too_long", "repeated", "old"])])
    .watch(
        "`not_sealed`, `forged`, `too_long`, `repeated`: somebody else publishes there, so \
         [separate the accounts](events.md#accounts-and-permissions); `unknown_key`: nodes with different sealing keys; \
         `old`: a repeated wake-up, or a clock that is wrong by minutes",
    ),
];

const REQUESTS: &[Metric] = &[
    Metric::counter("http_requests_total", "Requests").by(&[
        Label::open("route"),
        Label::open("method"),
        Label::open("status"),
    ]),
    Metric::counter("http_responses_total", "Answers by the class of their status")
        .by(&[Label::of("class", &["1xx", "2xx", "3xx", "4xx", "5xx"])])
        .watch("Unlike `http_requests_total`, every class is there from the start, at 0"),
    Metric::counter("http_surface_requests_total", "Requests by the part of the service that answers: the API, the console, the paths that speak Graph")
        .by(&[Label::of("surface", &["api", "console", "graph"])]),
    Metric::counter(
        "pombo_graph_passed_total",
        "Requests of programs written for Meta that went on to Meta (`graph.pass_through`), by the token that they had: caller, \
         channel; and by result: answered, refused, busy (too many, so that they did not go on), failed (no answer)",
    )
    .by(&[
        Label::of("token", &["caller", "channel"]),
        Label::of("result", &["answered", "refused", "busy", "failed"]),
    ]),
    Metric::seconds("http_request_duration_seconds", "Time to answer").by(&[
        Label::open("route"),
        Label::open("method"),
        Label::open("status"),
    ]),
    Metric::gauge("pombo_connections", "Open connections of clients")
        .by(&[Label::open("listener")])
        .watch("Near `pombo_connections_max`, idle ones are closed early"),
    Metric::gauge(
        "pombo_connections_max",
        "Connections of clients that may be open before waiting ones are closed: `server.connections`, or what the limit of \
         open files leaves",
    )
    .by(&[Label::open("listener")]),
    Metric::counter(
        "pombo_connections_ended_total",
        "Connections of clients that the service ended: room (there were too many, and it waited for its client), head (a \
         request's head took too long), unread (an answer was not read)",
    )
    .by(&[Label::of("reason", &["room", "head", "unread"])])
    .watch("`room`: raise the limit of open files or `server.connections`"),
    Metric::gauge(
        "pombo_body_bytes",
        "Bytes of request bodies, and of what is made of them, that are being read or processed",
    )
    .watch("Near `pombo_body_bytes_max`, bodies are answered 503"),
    Metric::gauge(
        "pombo_body_bytes_max",
        "The most that request bodies may take together: `server.body_memory`, and 4 MiB for forms of visitors who are not \
         signed in",
    ),
    Metric::gauge("pombo_console_streams", "Live pages of the console"),
];

const WORK: &[Metric] = &[
    Metric::counter("pombo_panics_total", "Panics of background work, each a defect; the work continues")
        .by(&[Label::of("work", WORKS)])
        .watch("The log says where"),
    Metric::counter(
        "pombo_mails_total",
        "Alerts by e-mail by result: sent, failed (they are tried again), given_up (they could not be sent for a day)",
    )
    .by(&[Label::of("result", &["sent", "failed", "given_up"])])
    .watch("The log says what the mail server answers; `pombo doctor` tries it"),
    Metric::gauge("pombo_mails_waiting", "Alerts by e-mail that were not sent yet, on the node that does the housekeeping"),
    Metric::gauge("pombo_mails_waiting_age_seconds", "How long the oldest of them has waited")
        .watch("Usually some seconds; more than an hour: the mail server is away or refuses the service"),
    Metric::counter(
        "pombo_imported_rows_total",
        "Rows of uploaded files by result: created, updated, unchanged, rejected",
    )
    .by(&[Label::of("result", &["created", "updated", "unchanged", "rejected"])]),
    Metric::counter("pombo_imports_total", "Imports of contacts that ended by themselves: finished, failed")
        .by(&[Label::of("result", &["finished", "failed"])]),
    Metric::gauge("pombo_imports_running", "Imports of contacts that run or wait for their turn"),
    Metric::counter("pombo_forgotten_total", "Rows that were older than `[retention]` keeps, and were deleted")
        .by(&[Label::of("what", FORGOTTEN)]),
    Metric::seconds("pombo_retention_step_seconds", "Time of one step of the deletion").watch("Usually milliseconds"),
    Metric::counter(
        "pombo_spans_total",
        "Spans of traces by result: exported, no_room (the collector is too slow, and the queue was full), lost \
         (the collector was away, or refused them)",
    )
    .by(&[Label::of("result", &["exported", "no_room", "lost"])])
    .watch("See [Traces](traces.md)"),
];

const PROCESS: &[Metric] = &[
    Metric::process("process_cpu_seconds_total", "Processor time of all threads"),
    Metric::process("process_resident_memory_bytes", "Memory in use")
        .watch("It does not grow with the queue"),
    Metric::process("process_virtual_memory_bytes", "Address space in use, which is no memory"),
    Metric::process("process_virtual_memory_max_bytes", "The system's limit of address space"),
    Metric::process("process_open_fds", "Open files and connections"),
    Metric::process("process_max_fds", "The most files and connections that may be open"),
    Metric::process("process_threads", "Threads"),
    Metric::process(
        "process_start_time_seconds",
        "When the process started, in seconds since the Unix epoch",
    )
    .watch("Restarts"),
];
