"""A whole cluster: nodes, PostgreSQL, NATS, the provider, and a company with channels."""

import json
import os
import secrets
import shutil
import signal
import time

from . import machine
from .client import Client, Ready
from .events import Events
from .nats import Nats
from .network import Loopback, Namespaces
from .postgres import Postgres
from .processes import Failed, Processes, wait_for
from .provider import APP_SECRET, Balancer, Provider

NODES = ("a", "b", "c")
# How long a message with an unknown outcome waits for its receipt.
GRACE = 15
# Seconds from the last join until the nodes have evened out their channels.
SETTLED = 5
OPTIONS = {
    "POMBO__CLUSTER__NAME": "trouble",
    "POMBO__RETRY__UNKNOWN_GRACE": f"{GRACE}s",
    "POMBO__RETRY__FIRST": "200ms",
    "POMBO__DATABASE__CONNECTIONS": "8",
    "POMBO__SERVER__SHUTDOWN_GRACE": "20s",
    "POMBO__LOG__LEVEL": "info",
    "POMBO__LOG__FORMAT": "text",
}


class Stage:
    """Ends its processes when the block is left, and keeps the logs after a failure."""

    def __init__(self, program, *, namespaces, nats=True, standby=True, waits_for_disk=False, options=None, latency="60ms", events=False):
        self.program, self.other_program = program, None
        self.directory = machine.new_directory()
        self.network = Namespaces() if namespaces else Loopback()
        self.processes = Processes(self.directory, self.network)
        self.settings = (nats, standby, waits_for_disk, latency)
        self.nodes, self.urls, self.channels = {}, {}, {}
        self.ready = self.balancer = self.events = None
        # Noting the states of messages costs the database a little, so figures are measured without it.
        self.compares_events = events
        self.keeps = False
        self.options = dict(OPTIONS, **(options or {}))

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.keeps = True
            self.__exit__()
            raise
        return self

    def __exit__(self, kind=None, *_):
        if self.ready:
            self.ready.is_over = True
        for process in list(self.nodes.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
        self.processes.end_all()
        if self.balancer:
            self.balancer.end()
        if self.events:
            self.events.end()
        self.network.end()
        if self.keeps or kind is not None:
            print(f"the logs are in {self.directory}", flush=True)
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def build(self):
        nats, standby, waits_for_disk, latency = self.settings
        self.network.start()
        self.postgres = Postgres(self.processes, self.network, standby, waits_for_disk)
        self.postgres.start()
        self.nats = Nats(self.processes, self.network) if nats else None
        if self.nats:
            self.nats.start()
            self.options["POMBO__NATS__URL"] = self.nats.url
            self.options["POMBO__EVENTS__ENABLED"] = "true"
        self.provider = Provider(self.processes, self.network, self.program, latency)
        self.options["POMBO__CLOUD_API__BASE_URL"] = self.provider.url_for_nodes
        self.options["POMBO__DATABASE__URL"] = self.postgres.url
        self.options["POMBO__SECRETS__KEY"] = secrets.token_hex(32)
        self.options["POMBO__DATA__DIR"] = str(self.directory / "data")
        (self.directory / "app-secret").write_text(APP_SECRET)
        (self.directory / "token").write_text("EAAG-good")
        self.ready = Ready(lambda: [self.urls[name] for name in self.nodes if name in self.urls])
        self.balancer = Balancer(self.ready)
        self.pombo("migrate", "up", as_json=False)
        self.events = Events(self) if self.nats and self.compares_events else None
        self.pombo("company", "create", "Acme")
        self.key = self.pombo("key", "create", "--company", "Acme")["key"]
        if self.events:
            self.events.add_endpoint("Acme")

    def pombo(self, *words, as_json=True):
        """Runs a command of the program from the driver's host."""
        env = dict(self.options, POMBO__LOG__LEVEL="error", POMBO__DATABASE__URL=self.postgres.url)
        if as_json:
            words = (*words, "--json")
        said = self.processes.run([self.program, *words], env=env)
        return json.loads(said) if as_json else said

    def client(self):
        return Client(self.ready, self.key)

    # Channels.

    def add_channels(self, group, count, tier):
        """Channels with a number and a business account each, so that every one may be on another node."""
        for _ in range(count):
            place = len(self.channels) + 1
            number, account = f"1065403522{place:05}", f"1022901293{place:05}"
            words = ["--company", "Acme", "--name", f"{group}-{place}", "--phone-number", f"+1555{place:07}"]
            words += ["--phone-number-id", number, "--waba-id", account, "--tier", tier]
            words += ["--token-file", self.directory / "token", "--app-secret-file", self.directory / "app-secret"]
            added = self.pombo("channel", "add-business", *words)
            self.channels[added["id"]] = {"group": group, "number": number}
            self.provider.send_receipts(number, f"{self.balancer.url}/hooks/meta/{added['id']}")

    def of_group(self, group):
        return [channel for channel, about in self.channels.items() if about["group"] == group]

    def number(self, channel):
        return self.channels[channel]["number"]

    def apply_tier(self, name, **values):
        lines = [f"[{name}]", 'kind = "business_account"', 'description = "Of a test."']
        lines += [f"{option} = {json.dumps(value)}" for option, value in values.items()]
        file = self.directory / "tiers.toml"
        file.write_text("\n".join(lines) + "\n")
        self.pombo("tier", "apply", file)

    # Nodes.

    def launch(self, name, program=None, env=None):
        """Starts a node without waiting for it."""
        port = self.urls[name].rsplit(":", 1)[1] if name in self.urls else self.network.port(8080)
        bind = f"{self.network.address(name)}:{port}"
        own = {"POMBO__SERVER__BIND": bind, "POMBO__CLUSTER__NODE": name, **(env or {})}
        command = [program or self.program, "serve", "--end-with-input"]
        process = self.processes.start(f"node-{name}", command, at=name, env=dict(self.options, **own))
        self.nodes[name], self.urls[name] = process, f"http://{bind}"
        return process

    def start_nodes(self, names=NODES, **how):
        for name in names:
            if name not in self.nodes or self.nodes[name].poll() is not None:
                self.launch(name, **how)
        try:
            wait_for("the nodes to be ready", lambda: all(self.is_ready(name) for name in names))
        except Failed as failed:
            said = {name: self.ready.ask(self.urls[name])[1] for name in names}
            raise Failed(f"{failed}: {said}") from failed

    def is_ready(self, name):
        if self.nodes[name].poll() is not None:
            raise Failed(f"the node {name} ended by itself: see its log, node-{name}.log")
        return self.ready.look(self.urls[name])

    def kill_node(self, name):
        self.processes.kill(self.nodes.pop(name))

    def stop_node(self, name):
        """Ends a node gracefully, and returns its exit code."""
        return self.processes.end(self.nodes.pop(name))

    def signal_node(self, name, number):
        self.nodes[name].send_signal(number)

    def reap_node(self, name, patience=30):
        """Waits for a node that was taken over to end by itself. Whether it did."""
        process = self.nodes[name]
        end = time.monotonic() + patience
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        is_over = process.poll() is not None
        if is_over:
            self.processes.forget(self.nodes.pop(name))
        return is_over

    def settle(self):
        """Waits until every node is ready, and the channels are evened out after the last join."""
        self.start_nodes()
        sql = (
            "SELECT COUNT(*) FILTER (WHERE state = 0), COUNT(*) FILTER (WHERE state IN (1, 2)), "
            "(MIN(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 - started_at) FILTER (WHERE state = 0))::BIGINT FROM node"
        )

        def is_settled():
            serving, leaving, youngest = self.postgres.ask(sql)[0]
            return int(serving) == len(NODES) and leaving == "0" and int(youngest) > SETTLED * 1000

        wait_for("the nodes to settle", is_settled, 90, 0.3)

    def owners(self):
        """The name of the node that runs each shard, by the shard's id."""
        sql = (
            "SELECT o.shard, n.name FROM channel_owner o JOIN node n ON n.id = o.node_id "
            "JOIN node_fence f ON f.node_id = n.id WHERE f.closed = 0"
        )
        return dict(self.postgres.ask(sql))

    def owner_of(self, channel, owners):
        shard = self.channels[channel].get("shard")
        if shard is None:
            shard = shard_of(self.account(channel))
            self.channels[channel]["shard"] = shard
        return owners.get(shard)

    def account(self, channel):
        return self.postgres.ask(f"SELECT waba_id FROM channel WHERE id = '{channel}'")[0][0]


MASK = (1 << 64) - 1


def mixed(value):
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def shard_of(account):
    """The id under which nodes own a business account, as crates/machines/src/placement.rs computes it."""
    parts = []
    for seed in (0, 1):
        part = mixed(seed)
        for byte in account.encode():
            part = mixed(part ^ byte)
        parts.append(part)
    text = f"{(parts[0] << 64) | parts[1]:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
