"""Measures of a cluster, each a command: scripts/cluster-trouble --figures NAME."""

import json
import re
import shutil
import statistics
import time

from . import machine, meter
from .activities import NUMBERS, longest_pause, seconds_of
from .processes import wait_for
from .stage import NODES, Stage

# A node's part of one core while accepts are measured, so that the machine has room for three nodes and their database.
SHARE = 0.2
BASE = {"namespaces": False, "standby": False}


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def spread(values):
    return {
        "p50": round(statistics.median(values), 3), "p99": round(quantile(values, 0.99), 3), "max": round(max(values), 3),
        "of": len(values),
    }


def bulk(stage, seconds, rate):
    """A bulk send on every channel that lasts for this time."""
    client = stage.client()
    for channel in stage.channels:
        numbers = [next(NUMBERS) for _ in range(int(rate * seconds))]
        body = {"type": "text", "message": "hi", "phone_number": numbers}
        client.ask("POST", f"/api/v1/chat/{channel}/messages", body, f"bulk-{numbers[0]}")


def times_after(stage, channel, sequence):
    messages = stage.provider.messages(stage.number(channel), sequence)
    return [seconds_of(message["at"]) for message in messages]


def of_node(stage, name):
    owners = stage.owners()
    return [channel for channel in stage.channels if stage.owner_of(channel, owners) == name]


def busiest(stage):
    return max(NODES, key=lambda name: len(of_node(stage, name)))


def take_over(options):
    """From `kill -9` of a node until each of its channels sends again."""
    runs, rate, pauses, slowest = options.runs or 50, 10, [], []
    with Stage(options.program, **BASE) as stage:
        stage.apply_tier("bulk", messages_per_second=f"{rate}/s", burst=1)
        stage.add_channels("bulk", 9, "bulk")
        stage.start_nodes()
        bulk(stage, 30 + 22 * runs, rate)
        for _ in range(runs):
            stage.settle()
            wait_for("the channels to have owners", lambda: all(stage.owner_of(channel, stage.owners()) for channel in stage.channels))
            victim = busiest(stage)
            channels = of_node(stage, victim)
            after = stage.provider.sequence()
            began = time.time()
            stage.kill_node(victim)

            def is_back():
                return all(max(times_after(stage, channel, after), default=0) > began + 1 for channel in channels)

            wait_for("the channels to send again", is_back, 60, 0.5)
            time.sleep(1)
            found = [longest_pause(times_after(stage, channel, after), began, began + 30) for channel in channels]
            pauses += found
            slowest.append(max(found))
            if not options.json:
                print(f"run {len(slowest)}: {len(channels)} channels, the slowest after {slowest[-1]:.2f} s", flush=True)
    return {"take_over_seconds": spread(pauses), "slowest_of_each_run": spread(slowest), "runs": slowest}


def drain(options):
    """From `pombo cluster drain` until the node owns nothing, by channel; and the pause of each channel."""
    runs, rate, results, pauses = options.runs or 6, 5, [], []
    with Stage(options.program, **BASE) as stage:
        stage.apply_tier("bulk", messages_per_second=f"{rate}/s", burst=1)
        stage.add_channels("bulk", 30, "bulk")
        stage.start_nodes()
        bulk(stage, 40 + 20 * runs, rate)
        for _ in range(runs):
            stage.settle()
            wait_for("the channels to have owners", lambda: all(stage.owner_of(channel, stage.owners()) for channel in stage.channels))
            victim = busiest(stage)
            channels = of_node(stage, victim)
            after = stage.provider.sequence()
            began = time.time()
            stage.pombo("cluster", "drain", victim)
            wait_for("the node to own nothing", lambda: victim not in stage.owners().values(), 60, 0.02)
            took = time.time() - began
            time.sleep(3)
            pauses += [longest_pause(times_after(stage, channel, after), began, began + took + 2) for channel in channels]
            results.append({"channels": len(channels), "seconds": round(took, 2), "each": round(took / len(channels), 3)})
            stage.stop_node(victim)
    return {"drains": results, "seconds_a_channel": spread([one["each"] for one in results]), "pause_of_a_channel": spread(pauses)}


def accepts(options):
    """Accepts in a second with one, two and three nodes, each with a part of a core, and the cost of one."""
    if shutil.which("ab") is None:
        machine.install(["apache2-utils"])
    seconds, results = 8, []
    settings = dict(BASE, waits_for_disk=True, options={"POMBO__DATABASE__CONNECTIONS": "12"})
    with Stage(options.program, **settings) as stage:
        # The nodes send nothing meanwhile, so that the figures show only the cost of accepting.
        stage.apply_tier("slow", messages_per_second="1/min", burst=1)
        stage.add_channels("slow", 6, "slow")
        bounds = {name: meter.Bound(name, SHARE) for name in NODES}
        body = stage.directory / "body"
        body.write_text(json.dumps({"type": "text", "message": "hi", "phone_number": next(NUMBERS)}))
        for name in NODES:
            stage.launch(name)
        stage.start_nodes()
        time.sleep(3)
        for name in NODES:
            bounds[name].take(stage.nodes[name])
        for _ in range(options.runs or 3):
            for count in (1, 2, 3):
                results.append(accepts_of(stage, NODES[:count], body, seconds))
        for name in NODES:
            stage.kill_node(name)
        for bound in bounds.values():
            bound.end()
    best = {count: statistics.median([one["accepts_per_second"] for one in results if one["nodes"] == count]) for count in (1, 2, 3)}
    scale = {f"{count} nodes, each as one": round(best[count] / count / best[1], 2) for count in (2, 3)}
    bound = SHARE if any(bound.is_there for bound in bounds.values()) else None
    return {"part_of_a_core_for_each_node": bound, "accepts_per_second": best, **scale, "runs": results}


def accepts_of(stage, names, body, seconds):
    channels = list(stage.channels)
    server = stage.postgres.servers["pg-1"]
    before = [meter.seconds(stage.nodes[name]) for name in names], meter.seconds(server), time.time()
    commits = int(stage.postgres.ask("SELECT xact_commit FROM pg_stat_database WHERE datname = 'pombo'")[0][0])
    running = []
    for place, name in enumerate(names):
        url = f"{stage.urls[name]}/api/v1/chat/{channels[place]}/messages"
        words = ["ab", "-q", "-k", "-l", "-c", "32", "-t", str(seconds), "-n", "10000000", "-p", body, "-T", "application/json"]
        running.append(stage.processes.start(f"ab-{name}", [*words, "-H", f"Authorization: Bearer {stage.key}", url], reads=True))
    said = [process.communicate()[0].decode() for process in running]
    took = time.time() - before[2]
    for process in running:
        stage.processes.forget(process)
    accepted = sum(int(re.search(r"Complete requests:\s+(\d+)", text)[1]) for text in said)
    refused = sum(int(found[1]) for text in said if (found := re.search(r"Non-2xx responses:\s+(\d+)", text)))
    accepted -= refused
    nodes = sum(meter.seconds(stage.nodes[name]) for name in names) - sum(before[0])
    database = meter.seconds(server) - before[1]
    commits = int(stage.postgres.ask("SELECT xact_commit FROM pg_stat_database WHERE datname = 'pombo'")[0][0]) - commits
    return {
        "nodes": len(names), "accepts_per_second": round(accepted / took), "refused": refused,
        "commits_per_second": round(commits / took), "cores_of_nodes": round(nodes / took, 2),
        "cores_of_postgresql": round(database / took, 2),
        "microseconds_of_a_node": round(1e6 * nodes / accepted, 1),
        "microseconds_of_postgresql": round(1e6 * database / accepted, 1),
    }


def heartbeats(options):
    """Statements of an idle cluster, for each second and node."""
    seconds = options.runs or 30
    with Stage(options.program, **BASE) as stage:
        stage.apply_tier("bulk", messages_per_second="15/s", burst=1)
        stage.add_channels("bulk", 6, "bulk")
        stage.start_nodes()
        stage.settle()
        time.sleep(5)
        server = stage.postgres.servers["pg-1"]
        stage.postgres.ask("SELECT pg_stat_statements_reset()")
        before = meter.seconds(server), {name: meter.seconds(stage.nodes[name]) for name in NODES}
        time.sleep(seconds)
        sql = (
            "SELECT calls, regexp_replace(query, '\\s+', ' ', 'g') FROM pg_stat_statements s "
            "JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'pombo' ORDER BY calls DESC"
        )
        rows = stage.postgres.ask(sql)
        database = meter.seconds(server) - before[0]
        nodes = sum(meter.seconds(stage.nodes[name]) - before[1][name] for name in NODES)
    each = [{"a_second_and_node": round(int(calls) / seconds / len(NODES), 2), "statement": text[:100]} for calls, text in rows]
    beats = sum(one["a_second_and_node"] for one in each if re.match(r"(WITH .*)?UPDATE node SET", one["statement"]))
    work = [one for one in each if not re.match(r"BEGIN|COMMIT|ROLLBACK|SET|SELECT set_config", one["statement"])]
    return {
        "heartbeats_a_second_and_node": round(beats, 2),
        "statements_a_second_and_node": round(sum(one["a_second_and_node"] for one in each), 2),
        "without_begin_and_commit": round(sum(one["a_second_and_node"] for one in work), 2),
        "cores_of_postgresql": round(database / seconds, 4), "cores_of_a_node": round(nodes / seconds / len(NODES), 4),
        "statements": each[:14],
    }


def fence(options):
    """Dispatch of one node in a cluster and of one that serves alone, in turns on the same database; and the cost of a message."""
    turns, runs = options.runs or 5, {"alone": [], "cluster": []}
    settings = dict(BASE, waits_for_disk=True, nats=False, latency="0ms", options={"POMBO__DATABASE__CONNECTIONS": "12"})
    with Stage(options.program, **settings) as stage:
        stage.apply_tier("fast", messages_per_second="unlimited", pair_interval="0s")
        stage.add_channels("fast", 1, "fast")
        for turn in range(2 * turns):
            kind = ("alone", "cluster", "cluster", "alone")[turn % 4]
            stage.launch("a", env={"POMBO__CLUSTER__NAME": "" if kind == "alone" else "trouble"})
            wait_for("the node", lambda: stage.is_ready("a") and stage.ready.found)
            time.sleep(1)
            runs[kind].append(dispatch(stage, 30_000))
            stage.stop_node("a")
    pace = {kind: statistics.median(run["messages_per_second"] for run in found) for kind, found in runs.items()}
    costs = {
        kind: {name: statistics.median(run[name] for run in found) for name in COSTS} for kind, found in runs.items()
    }
    ratio = round(pace["cluster"] / pace["alone"], 3)
    each = [{"of": kind, **costs[kind]} for kind in costs]
    return {"messages_per_second": pace, "cluster_to_alone": ratio, "a_message_of_each": each, "runs": runs}


COSTS = ("microseconds_of_the_node", "microseconds_of_postgresql", "bytes_of_wal")


def dispatch(stage, messages):
    """Sends as fast as one node can."""
    (channel,), server = stage.channels, stage.postgres.servers["pg-1"]

    def state():
        wal = stage.postgres.ask("SELECT pg_current_wal_lsn() - '0/0'")[0][0]
        return meter.seconds(stage.nodes["a"]), meter.seconds(server), int(wal)

    after, before = stage.provider.sequence(), state()
    bulk(stage, messages, 1)
    wait_for("the messages", lambda: stage.provider.sequence() >= after + messages, 120, 0.3)
    # Time for the nodes to write the last outcomes.
    time.sleep(0.5)
    node, database, wal = (later - earlier for later, earlier in zip(state(), before))
    times = sorted(times_after(stage, channel, after))
    # A send is slower at its beginning and its end, so only its middle is measured.
    first, last = times[messages // 10], times[messages * 9 // 10]
    costs = (round(1e6 * node / messages, 1), round(1e6 * database / messages, 1), round(wal / messages))
    return {"messages_per_second": round(messages * 0.8 / (last - first)), **dict(zip(COSTS, costs))}


ALL = {"takeover": take_over, "drain": drain, "accepts": accepts, "heartbeats": heartbeats, "fence": fence}


def words(result):
    """A result for people: one line a figure."""
    lines = []
    for name, value in result.items():
        rows = value if isinstance(value, list) and value and isinstance(value[0], dict) else None
        if rows:
            lines.append(f"{name.replace('_', ' ')}:")
            lines += ["  " + ", ".join(f"{key.replace('_', ' ')} {cell}" for key, cell in row.items()) for row in rows]
        elif isinstance(value, dict):
            lines.append(f"{name.replace('_', ' ')}: " + ", ".join(f"{key} {cell}" for key, cell in value.items()))
        else:
            lines.append(f"{name.replace('_', ' ')}: {value}")
    return "\n".join(lines)
