"""The troubles: each begins, lasts, and ends with the cluster as it was before."""

import signal
import time

from . import machine
from .processes import Failed, wait_for
from .stage import NODES


class Trouble:
    """A fault of the victim, or of all nodes."""

    name = ""
    says = ""
    # Seconds that it lasts, and seconds after its begin for which channels may pause.
    seconds = 9
    needs_namespaces = False
    needs_faketime = False

    def __init__(self, stage, victim):
        self.stage, self.victim = stage, victim

    def begin(self):
        pass

    def end(self):
        pass

    def cannot(self, stage_is_real):
        if self.needs_namespaces and not stage_is_real:
            return "needs root and network namespaces"
        if self.needs_faketime and machine.faketime() is None:
            return "needs the package libfaketime"
        return None

    def ends_by_itself(self):
        """Checks that a node that was taken over ends, and starts it again."""
        if not self.stage.reap_node(self.victim):
            raise Failed(f"the node {self.victim} was taken over and still runs")


class Kill(Trouble):
    name, says = "kill", "kill -9 of a node, which is started again 9 s later"

    def begin(self):
        self.stage.kill_node(self.victim)


class Sleep(Trouble):
    name, says = "sleep", "SIGSTOP of a node past its lease, which then wakes"

    def begin(self):
        self.stage.signal_node(self.victim, signal.SIGSTOP)

    def end(self):
        self.stage.signal_node(self.victim, signal.SIGCONT)
        self.ends_by_itself()


class SleepInAttempts(Sleep):
    name, says = "sleep-in-attempts", "the same while each attempt takes 1.5 s, so that many attempts are under way"

    def begin(self):
        self.stage.provider.latency("1500ms")
        time.sleep(1)
        super().begin()

    def end(self):
        self.stage.provider.latency("60ms")
        super().end()


class Nap(Trouble):
    name, says = "nap", "SIGSTOP of a node for 4 s, within its lease"
    seconds = 4

    def begin(self):
        self.stage.signal_node(self.victim, signal.SIGSTOP)

    def end(self):
        self.stage.signal_node(self.victim, signal.SIGCONT)


class Clock(Trouble):
    needs_faketime = True
    hours = 0

    def begin(self):
        self.write(f"{self.hours * 3600:+d}")

    def end(self):
        self.write("+0")

    def write(self, offset):
        (self.stage.directory / f"clock-{self.victim}").write_text(offset)


class Ahead(Clock):
    name, says, hours = "clock-ahead", "the wall clock of a node jumps an hour ahead, and back", 1


class Behind(Clock):
    name, says, hours = "clock-behind", "the wall clock of a node jumps an hour back, and forward", -1


class Cut(Trouble):
    needs_namespaces = True
    others = ()
    loses_lease = False

    def begin(self):
        for other in self.from_whom():
            self.stage.network.cut(self.victim, other)

    def end(self):
        for other in self.from_whom():
            self.stage.network.mend(self.victim, other)
        if self.loses_lease:
            self.ends_by_itself()

    def from_whom(self):
        return self.others


DATABASES, CARRIERS = ("pg-1", "pg-2"), ("nats-1", "nats-2", "nats-3")


class CutFromDatabase(Cut):
    name, says = "cut-database", "a node is cut off from PostgreSQL past its lease"
    others, loses_lease = DATABASES, True


class CutFromNats(Cut):
    name, says = "cut-nats", "a node is cut off from all of NATS"
    others = CARRIERS


class CutFromBoth(Cut):
    name, says = "cut-both", "a node is cut off from PostgreSQL and NATS past its lease"
    others, loses_lease = DATABASES + CARRIERS, True


class CutFromNodes(Cut):
    name, says = "cut-nodes", "a node is cut off from the other nodes"

    def from_whom(self):
        return [name for name in NODES if name != self.victim]


class NatsLeader(Trouble):
    name, says = "nats-leader", "kill -9 of the NATS server that leads JetStream"

    def begin(self):
        self.stage.nats.kill_leader()

    def end(self):
        self.stage.nats.restore()


class NatsDown(Trouble):
    name, says = "nats-down", "all of NATS is down for a minute"
    seconds = 60

    def begin(self):
        self.stage.nats.kill_all()

    def end(self):
        self.stage.nats.restore()


class DatabaseRestart(Trouble):
    name, says = "database-restart", "PostgreSQL ends without a checkpoint and starts again"

    def begin(self):
        self.stage.postgres.crash_and_restart()


class FailOver(Trouble):
    name, says = "database-failover", "the machine of PostgreSQL goes silent and dies; its synchronous standby takes over its address"
    needs_namespaces = True
    seconds = 20

    def begin(self):
        self.stage.postgres.fail_over()

    def end(self):
        self.stage.postgres.repair()
        # A node that lost its lease meanwhile, and was taken over, ends.
        for name in NODES:
            if name in self.stage.nodes and self.stage.nodes[name].poll() is not None:
                self.stage.reap_node(name)


class Comings(Trouble):
    name, says = "join-and-leave", "a fourth node joins and leaves, by turns gracefully and by kill -9"
    # Seconds; `--minutes` sets another length.
    seconds = 45

    def begin(self):
        self.until = time.monotonic() + self.seconds
        turn = 0
        while time.monotonic() < self.until:
            self.stage.launch("d")
            wait_for("the fourth node", lambda: self.stage.is_ready("d"))
            time.sleep(5)
            if turn % 2:
                self.stage.kill_node("d")
            elif self.stage.stop_node("d"):
                raise Failed("the fourth node did not end gracefully")
            turn += 1


class Rolling(Trouble):
    name, says = "rolling", "every node is drained, stopped and started again (as --other-program, where given, and back)"
    seconds = 30

    def begin(self):
        for program in dict.fromkeys((self.stage.other_program, self.stage.program)):
            for name in NODES if program else ():
                self.stage.pombo("cluster", "drain", name)
                wait_for(f"{name} to own nothing", lambda name=name: name not in self.stage.owners().values())
                # Time for the balancer and the clients to see that the node is not ready.
                time.sleep(1.5)
                if self.stage.stop_node(name):
                    raise Failed(f"the node {name} did not end gracefully")
                self.stage.launch(name, program)
                wait_for(f"the node {name}", lambda name=name: self.stage.is_ready(name))
                time.sleep(1)


ALL = (
    Kill, Sleep, SleepInAttempts, Nap, CutFromDatabase, CutFromNats, CutFromBoth, CutFromNodes, NatsLeader, NatsDown,
    DatabaseRestart, FailOver, Comings, Rolling, Ahead, Behind,
)
# The troubles of `--short`, with the activities that go on during each.
SHORT = {Kill: ("accepting", "bulk", "import"), Rolling: ("accepting", "bulk")}
