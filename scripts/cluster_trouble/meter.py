"""Processor time of processes, and bounds for it."""

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
CONTROL = Path("/sys/fs/cgroup/cpu")
PERIOD = 20_000


def times(pid):
    """The parent, the process's own seconds, and the seconds of its children that ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    own, waited = (int(fields[11]) + int(fields[12])) / TICK, (int(fields[13]) + int(fields[14])) / TICK
    return int(fields[1]), own, waited


def seconds(process):
    """Processor time of a process and its children, those that ended included."""
    _, own, waited = times(process.pid)
    total = own + waited
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent, own, waited = times(entry.name)
            except OSError:
                continue
            if parent == process.pid:
                total += own + waited
    return total


class Bound:
    """A control group that gives its processes a part of one core. Without the rights for it there is no bound."""

    def __init__(self, name, share):
        self.path = CONTROL / f"pombo-trouble-{os.getpid()}-{name}"
        self.is_there = False
        try:
            self.path.mkdir()
            (self.path / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.path / "cpu.cfs_quota_us").write_text(str(int(PERIOD * share)))
            self.is_there = True
        except OSError:
            pass

    def take(self, process):
        if self.is_there:
            (self.path / "cgroup.procs").write_text(str(process.pid))

    def end(self):
        if self.is_there:
            self.path.rmdir()
