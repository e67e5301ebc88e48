"""Three NATS servers in one cluster, with JetStream."""

import json
import urllib.request

from . import machine
from .processes import Failed, wait_for

NAMES = ("nats-1", "nats-2", "nats-3")


class Nats:
    def __init__(self, processes, network):
        self.processes, self.network = processes, network
        self.program = machine.nats_server()
        self.ports = {name: [network.port(usual) for usual in (4222, 6222, 8222)] for name in NAMES}
        self.servers = {}

    @property
    def url(self):
        return ",".join(f"nats://{self.network.address(name)}:{self.ports[name][0]}" for name in NAMES)

    def begin(self, name):
        address, (clients, routes, monitor) = self.network.address(name), self.ports[name]
        others = ",".join(f"nats://{self.network.address(other)}:{self.ports[other][1]}" for other in NAMES)
        words = [self.program, "--name", name, "--addr", address, "--port", clients, "--http_port", monitor]
        words += ["--jetstream", "--store_dir", self.processes.directory / name, "--cluster_name", "trouble"]
        words += ["--cluster", f"nats://{address}:{routes}", "--routes", others]
        self.servers[name] = self.processes.start(name, words, at=name)

    def start(self):
        for name in NAMES:
            self.begin(name)
        wait_for("a leader of NATS", self.leader)

    def leader(self):
        """The server that leads JetStream, by the answer of any server."""
        for name in self.servers:
            url = f"http://{self.network.address(name)}:{self.ports[name][2]}/jsz"
            try:
                with urllib.request.urlopen(url, timeout=1) as answer:
                    leader = json.load(answer).get("meta_cluster", {}).get("leader")
            except (OSError, ValueError):
                continue
            if leader in self.servers:
                return leader
        return None

    def kill(self, name):
        self.processes.kill(self.servers.pop(name))

    def kill_leader(self):
        leader = self.leader()
        if leader is None:
            raise Failed("NATS has no leader")
        self.kill(leader)

    def kill_all(self):
        for name in list(self.servers):
            self.kill(name)

    def restore(self):
        for name in NAMES:
            if name not in self.servers:
                self.begin(name)
        wait_for("a leader of NATS", self.leader)
