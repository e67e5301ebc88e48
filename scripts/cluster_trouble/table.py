"""Walks the table: each trouble during each activity, one line for each cell."""

import random
import sys
import time
from dataclasses import asdict

from . import activities, machine, troubles
from .processes import Failed, wait_for
from .stage import NODES, Stage

# Seconds that sends run before the trouble begins, and seconds that they go on after its pause must be over.
BEFORE, AFTER = 2, 6
# Seconds after which the pause of a node's trouble is over: the lease, the claim, and the next round of work.
PAUSE = 12
HEAD = f"{'trouble':<19} {'while':<10} {'accepted':>8} {'arrived':>8} {'lost':>5} {'repeated':>8} {'again':>8}"


def cells(chosen, is_short):
    """The cells as pairs of names: the ones chosen by `TROUBLE` or `TROUBLE/ACTIVITY`, or all."""
    all_cells = [(trouble.name, activity.name) for trouble in troubles.ALL for activity in activities.ALL]
    if not chosen:
        return [(trouble.name, name) for trouble, names in troubles.SHORT.items() for name in names] if is_short else all_cells
    found = [cell for cell in all_cells if any(name in (cell[0], "/".join(cell)) for name in chosen)]
    unknown = [name for name in chosen if not any(name in (cell[0], "/".join(cell)) for cell in all_cells)]
    if unknown:
        raise machine.Missing(f"there is no cell {', '.join(unknown)}: --list shows them")
    return found


class Table:
    def __init__(self, options):
        self.options = options
        self.lines = []

    def say(self, line):
        if not self.options.json:
            print(line, flush=True)

    def walk(self):
        """Whether every cell was good."""
        chosen = cells(self.options.cell, self.options.short)
        names = list(dict.fromkeys(trouble for trouble, _ in chosen))
        kinds = {kind.name: kind for kind in troubles.ALL}
        clocked = [name for name in names if kinds[name].needs_faketime]
        self.say(HEAD)
        for group in ([name for name in names if name not in clocked], clocked):
            wanted = {name: [activity for trouble, activity in chosen if trouble == name] for name in group}
            if group:
                self.walk_on_one_stage(wanted, kinds)
        good = [line for line in self.lines if line["good"]]
        skipped = [line for line in self.lines if line["cannot"]]
        bad = len(self.lines) - len(good) - len(skipped)
        lost = sum(line["lost"] for line in self.lines)
        repeated = sum(line["repeated"] for line in self.lines)
        self.say(f"\n{len(good)} cells good, {bad} not, {len(skipped)} not possible here; lost {lost}, repeated {repeated}")
        return not bad and bool(good)

    def walk_on_one_stage(self, wanted, kinds):
        is_real = not self.options.short and machine.has_namespaces()
        possible = {}
        for name, names in wanted.items():
            reason = kinds[name](None, None).cannot(is_real)
            for activity in names if reason else ():
                self.note(name, activity, activities.Count(), cannot=reason)
            if not reason:
                possible[name] = names
        if not possible:
            return
        with Stage(self.options.program, namespaces=is_real, standby=is_real, events=True) as stage:
            stage.other_program = self.options.other_program
            stage.keeps = self.options.keep
            needs_clock = any(kinds[name].needs_faketime for name in possible)
            self.set_up(stage, {activity for names in possible.values() for activity in names}, needs_clock)
            for name, names in possible.items():
                together = [kind for kind in activities.TOGETHER if kind.name in names]
                alone = [kind for kind in activities.ALL if kind not in activities.TOGETHER and kind.name in names]
                for kinds_of_it in [together, *([kind] for kind in alone)]:
                    if kinds_of_it:
                        self.meet(stage, kinds[name], kinds_of_it)
            stage.keeps = stage.keeps or any(not line["good"] and not line["cannot"] for line in self.lines)

    @staticmethod
    def set_up(stage, names, needs_clock):
        stage.apply_tier("bulk", messages_per_second=f"{activities.RATE}/s", burst=1)
        stage.apply_tier("single", messages_per_second="unlimited")
        for kind in activities.TOGETHER:
            uses = kind.name in names or (kind.name == "bulk" and "move" in names)
            if uses and kind.channel_count:
                stage.add_channels(kind.group, kind.channel_count, "bulk" if kind.group == "bulk" else "single")
        for name in NODES:
            env = {}
            if needs_clock:
                (stage.directory / f"clock-{name}").write_text("+0")
                env = {
                    "LD_PRELOAD": machine.faketime(), "FAKETIME_TIMESTAMP_FILE": str(stage.directory / f"clock-{name}"),
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_CACHE_DURATION": "1",
                }
            stage.launch(name, env=env)
        stage.start_nodes()
        for channel in stage.of_group("quota"):
            stage.pombo("template", "sync", "--channel", channel, as_json=False)

    def meet(self, stage, trouble_kind, kinds):
        """One trouble, during which these activities go on together."""
        seconds = BEFORE + max(trouble_kind.seconds, PAUSE) + AFTER
        try:
            stage.settle()
            running = [kind(stage, seconds) for kind in kinds]
            for activity in running:
                activity.begin()
            for activity in running:
                wait_for(f"{activity.name} to be under way", activity.is_under_way, 60, 0.2)
            time.sleep(BEFORE)
            victim, victims = self.choose(stage, running)
            trouble = trouble_kind(stage, victim)
            if kinds == [activities.Move]:
                stage.pombo("cluster", "drain", victim)
                # The node learns of the drain with its next heartbeat, so the trouble comes before, during or after the
                # move of channels.
                time.sleep(random.uniform(0, 1))
            began = time.time()
            trouble.begin()
            time.sleep(max(0, began + trouble.seconds - time.time()))
            trouble.end()
            ended = max(time.time(), began + PAUSE)
            time.sleep(max(0, ended - time.time()))
            if kinds == [activities.Move] and victim in stage.nodes:
                stage.stop_node(victim)
            stage.start_nodes()
        except Failed as failed:
            for kind in kinds:
                self.note(trouble_kind.name, kind.name, activities.Count(notes=[str(failed)]))
            self.restore(stage)
            return
        for activity in running:
            note = []
            try:
                activity.finish()
            except Failed as failed:
                note = [str(failed)]
            count = activity.count(began, ended, victims)
            count.notes += note
            activities.compare_events(activity, count)
            self.note(trouble_kind.name, activity.name, count, stalled=bool(note))

    @staticmethod
    def choose(stage, running):
        """The node that runs channels of the most activities, and its channels."""
        owners = stage.owners()
        of_node = {name: {} for name in NODES}
        for activity in running:
            for channel in activity.channels:
                owner = stage.owner_of(channel, owners)
                if owner in of_node:
                    of_node[owner].setdefault(activity.name, []).append(channel)
        if any(activity.channels for activity in running) and not any(of_node.values()):
            raise Failed("no node owns the channels by the ids of shard_of in stage.py: compare it with crates/machines/src/placement.rs")
        house = owners.get("00000000-0000-0000-0000-000000000001")
        has_import = any(activity.name == "import" for activity in running)

        def worth(name):
            channels = of_node[name]
            return (len(channels) + (has_import and name == house), sum(map(len, channels.values())))

        victim = max(NODES, key=worth)
        return victim, {channel for channels in of_node[victim].values() for channel in channels}

    @staticmethod
    def restore(stage):
        """Restores the cluster after a trouble that failed."""
        stage.provider.latency("60ms")
        if stage.network.is_real:
            for node in NODES:
                for other in (*NODES, *troubles.DATABASES, *troubles.CARRIERS):
                    if other != node:
                        stage.network.mend(node, other)
        for name in list(stage.nodes):
            stage.kill_node(name)
        if stage.nats:
            stage.nats.restore()
        stage.start_nodes()

    def note(self, trouble, activity, count, cannot=None, stalled=False):
        good = count.is_good() and not stalled and not cannot
        line = {"trouble": trouble, "while": activity, **asdict(count), "good": good, "cannot": cannot, "stalled": stalled}
        self.lines.append(line)
        if cannot:
            self.say(f"{trouble:<19} {activity:<10} not possible here: {cannot}")
            return
        again = "" if count.again is None else f"{count.again:.1f} s"
        mark = "" if good else "  <-- not good"
        notes = f"  ({'; '.join(count.notes)})" if count.notes else ""
        self.say(
            f"{trouble:<19} {activity:<10} {count.accepted:>8} {count.arrived:>8} {count.lost:>5} {count.repeated:>8} "
            f"{again:>8}{mark}{notes}"
        )
        sys.stdout.flush()
