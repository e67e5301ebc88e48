"""The network of a run: namespaces on a bridge where partitions can be made, or the loopback."""

import os
import socket
import subprocess

from . import machine
from .processes import Failed

# The bridge drops frames to this address, because it knows no port for it.
NOWHERE = "02:00:00:00:00:99"
# Last parts of addresses. The driver, the provider and the balancer are at 1, in the host's own namespace.
HOSTS = {
    "a": 11, "b": 12, "c": 13, "d": 14, "pg-1": 21, "pg-2": 22, "nats-1": 31, "nats-2": 32, "nats-3": 33,
}
# The address of PostgreSQL, which belongs to the server that writes.
DATABASE = 20


class Loopback:
    """Everything on 127.0.0.1, each at a port of its own."""

    is_real = False
    host = "127.0.0.1"
    database = "127.0.0.1"

    def start(self):
        pass

    def end(self):
        pass

    def address(self, _name):
        return "127.0.0.1"

    def port(self, _usual):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def inside(self, _name):
        return []


class Namespaces:
    """A namespace for each host, with a link to a bridge."""

    is_real = True

    def __init__(self):
        self.part = None
        self.made = []

    def ip(self, *words, inside=None, check=True):
        command = (self.inside(inside) if inside else []) + ["ip", *map(str, words)]
        env = dict(os.environ, PATH=machine.search_path())
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise Failed(f"`{' '.join(command)}`: {done.stderr.strip()}")
        return done.stdout

    def start(self):
        used = self.ip("-o", "addr")
        self.part = next(part for part in range(17, 250) if f"10.213.{part}." not in used)
        self.bridge = f"ptr{self.part}"
        self.ip("link", "add", self.bridge, "type", "bridge")
        self.ip("addr", "add", f"{self.host}/24", "dev", self.bridge)
        self.ip("link", "set", self.bridge, "up")
        for name, last in HOSTS.items():
            space, link = self.space(name), f"ptr{self.part}v{last}"
            self.ip("netns", "add", space)
            self.made.append(space)
            self.ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            self.ip("link", "set", link, "master", self.bridge, "up")
            self.ip("addr", "add", f"{self.address(name)}/24", "dev", "eth0", inside=name)
            self.ip("link", "set", "lo", "up", inside=name)
            self.ip("link", "set", "eth0", "up", inside=name)

    def end(self):
        for space in self.made:
            self.ip("netns", "del", space, check=False)
        if self.part is not None:
            self.ip("link", "del", self.bridge, check=False)

    def space(self, name):
        return f"pombo-trouble-{self.part}-{name}"

    def inside(self, name):
        return ["nsenter", f"--net=/run/netns/{self.space(name)}"] if name else []

    @property
    def host(self):
        return f"10.213.{self.part}.1"

    @property
    def database(self):
        return f"10.213.{self.part}.{DATABASE}"

    def address(self, name):
        return f"10.213.{self.part}.{HOSTS[name]}"

    def port(self, usual):
        return usual

    def addresses(self, name):
        """All addresses by which a host is called."""
        both = [self.address(name)]
        return both + [self.database] if name.startswith("pg-") else both

    def cut(self, one, other):
        """Drops all frames between the two hosts from now on; neither gets an error."""
        for here, there in ((one, other), (other, one)):
            for address in self.addresses(there):
                self.ip("neigh", "replace", address, "lladdr", NOWHERE, "dev", "eth0", "nud", "permanent", inside=here)

    def mend(self, one, other):
        for here, there in ((one, other), (other, one)):
            for address in self.addresses(there):
                self.ip("neigh", "del", address, "dev", "eth0", inside=here, check=False)

    def unplug(self, name):
        self.ip("link", "set", "eth0", "down", inside=name)

    def plug(self, name):
        self.ip("link", "set", "eth0", "up", inside=name)

    def give_database_to(self, name):
        """Moves PostgreSQL's address to this host, and has all hosts look it up again."""
        for other in ("pg-1", "pg-2"):
            self.ip("addr", "del", f"{self.database}/24", "dev", "eth0", inside=other, check=False)
        self.ip("addr", "add", f"{self.database}/24", "dev", "eth0", inside=name)
        for other in HOSTS:
            self.ip("neigh", "flush", "to", self.database, "dev", "eth0", inside=other, check=False)
        self.ip("neigh", "flush", "to", self.database, "dev", self.bridge, check=False)
