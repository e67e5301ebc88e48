"""PostgreSQL: a primary server, and a standby that can take its place."""

import shutil
import signal

from . import machine
from .processes import wait_for

SETTINGS = {
    "max_connections": 100,
    "shared_preload_libraries": "pg_stat_statements",
    "unix_socket_directories": "''",
    "wal_level": "replica",
    "hot_standby": "on",
    "log_min_messages": "warning",
    "wal_receiver_timeout": "5s",
    "wal_sender_timeout": "5s",
}


class Postgres:
    """The server at the address that nodes know, and its standby where there is one."""

    def __init__(self, processes, network, has_standby, waits_for_disk):
        self.processes, self.network = processes, network
        self.tools = machine.postgres_tools()
        self.home = processes.directory / "postgres"
        self.home.mkdir(mode=0o777)
        self.home.chmod(0o777)
        self.has_standby, self.waits_for_disk = has_standby, waits_for_disk
        self.ports = {name: network.port(5432) for name in ("pg-1", "pg-2")}
        self.servers = {}
        self.primary = "pg-1"

    @property
    def port(self):
        return self.ports[self.primary]

    @property
    def url(self):
        return f"postgres://pombo@{self.network.database}:{self.port}/pombo?sslmode=disable"

    @property
    def standby(self):
        return "pg-2" if self.primary == "pg-1" else "pg-1"

    def tool(self, name, *words):
        return self.processes.run([self.tools / name, *words], at=None, as_postgres=True)

    def ask(self, sql, database="pombo", check=True):
        """The rows of a query on the server that writes, as lines of cells."""
        address = ["-h", self.network.database, "-p", str(self.port), "-U", "postgres", "-d", database]
        env = {"PGCONNECT_TIMEOUT": "3"}
        text = self.processes.run(["psql", *address, "-AtXq", "-F", "\t", "-c", sql], env=env, check=check)
        return [line.split("\t") for line in text.splitlines()]

    def begin(self, name):
        directory = self.home / name
        words = [self.tools / "postgres", "-D", directory, "-p", self.ports[name], "-h", "*"]
        self.servers[name] = self.processes.start(name, words, at=name, as_postgres=True)

    def is_ready(self, name):
        words = [self.tools / "pg_isready", "-q", "-h", self.network.address(name), "-p", self.ports[name]]
        try:
            self.processes.run(words)
        except Exception:
            return False
        return True

    def start(self):
        directory = self.home / "pg-1"
        self.tool("initdb", "-D", directory, "-U", "postgres", "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
        settings = dict(SETTINGS, fsync="on" if self.waits_for_disk else "off")
        with open(directory / "postgresql.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        with open(directory / "pg_hba.conf", "a", encoding="utf-8") as file:
            for kind in ("all", "replication"):
                file.write(f"host {kind} all samenet trust\n")
        self.begin("pg-1")
        if self.network.is_real:
            self.network.give_database_to("pg-1")
        wait_for("PostgreSQL", lambda: self.is_ready("pg-1"))
        self.ask("CREATE ROLE pombo LOGIN", "postgres")
        self.ask("CREATE DATABASE pombo OWNER pombo", "postgres")
        self.ask("CREATE EXTENSION pg_stat_statements")
        if self.has_standby:
            self.follow()

    def follow(self):
        """Makes the other server a standby of the one that writes; from then on a commit waits for it."""
        name = self.standby
        shutil.rmtree(self.home / name, ignore_errors=True)
        self.ask("ALTER SYSTEM RESET synchronous_standby_names")
        self.ask("SELECT pg_reload_conf()")
        source = ["-h", self.network.address(self.primary), "-p", self.port, "-U", "postgres"]
        copy = [self.tools / "pg_basebackup", *source, "-D", self.home / name, "-R", "-c", "fast", "--no-sync"]
        self.processes.run(copy, at=name, as_postgres=True)
        self.begin(name)
        streams = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"
        wait_for("the standby", lambda: self.ask(streams))
        self.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.ask("SELECT pg_reload_conf()")

    def crash_and_restart(self):
        """Ends the server as a power cut would, and starts it again."""
        self.processes.end(self.servers[self.primary], signal.SIGQUIT)
        self.begin(self.primary)
        wait_for("PostgreSQL to answer again", lambda: self.is_ready(self.primary))

    def fail_over(self):
        """The machine of the server that writes goes silent and dies; the standby takes its place and its address."""
        old, new = self.primary, self.standby
        self.network.unplug(old)
        self.processes.kill(self.servers[old])
        self.tool("pg_ctl", "promote", "-D", self.home / new)
        self.primary = new
        self.network.give_database_to(new)
        wait_for("the standby to answer", lambda: self.is_ready(new))

    def repair(self):
        """Makes the machine that died the standby."""
        self.network.plug(self.standby)
        self.follow()
