"""The activities of a cluster during a trouble, and their count at the receiver."""

import itertools
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime

from .client import Refused
from .processes import Failed, wait_for
from .stage import GRACE

# Messages that a channel sends in a second: so few that a send lasts for as long as the trouble.
RATE = 15
# People that the quota of an account has left when its send begins.
QUOTA_LEFT = 40
# Seconds after its trouble by which a send has to be over; a send that takes longer stands still.
STALLED = 150
# The recipients' numbers: no two recipients of all cells have the same one.
NUMBERS = itertools.count(5_511_900_000_000)


@dataclass
class Count:
    """The result of an activity, as its receiver saw it."""

    accepted: int = 0
    arrived: int = 0
    lost: int = 0
    repeated: int = 0
    exceeded: int = 0
    # Messages whose events are not their states, in their order.
    mistold: int = 0
    # Requests that a node refused, or whose connection broke, and that were repeated.
    refused: int = 0
    broken: int = 0
    # Seconds from the trouble until the slowest channel sent again.
    again: float | None = None
    notes: list = field(default_factory=list)

    def is_good(self):
        return self.accepted > 0 and not (self.lost or self.repeated or self.exceeded or self.mistold)


def compare_events(activity, count):
    """Compares the events of an activity's messages with their states."""
    events, sends = activity.stage.events, getattr(activity, "sends", [])
    if not events or not sends:
        return
    try:
        wrong = events.differing(sends)
    except (Failed, OSError) as failed:
        wrong = [f"the events cannot be compared: {failed}"]
    count.mistold = len(wrong)
    count.notes += wrong[:2]


def longest_pause(times, begin, end):
    """The longest pause without a message after `begin`; pauses that begin after `end` do not count."""
    marks = [begin] + [at for at in times if at > begin]
    pauses = [later - earlier for earlier, later in zip(marks, marks[1:]) if earlier < end]
    return max(pauses, default=None)


def seconds_of(text):
    """Unix seconds of a time in RFC 3339."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Sending:
    """Sends through channels of a group; each recipient must get one message."""

    group = ""

    def __init__(self, stage, seconds):
        self.stage, self.seconds = stage, seconds
        self.client = stage.client()
        self.channels = stage.of_group(self.group)
        self.expected = {channel: set() for channel in self.channels}
        self.sends = []
        self.after = stage.provider.sequence()

    def post(self, channel, client, body, key, numbers):
        path = f"/api/v1/chat/{channel}/messages"
        answer = client.ask("POST", path, body, key)
        self.sends.append(answer["send_id"])
        self.expected[channel].update(map(str, numbers))

    def messages(self, channel):
        return self.stage.provider.messages(self.stage.number(channel), self.after)

    def is_under_way(self):
        return all(self.messages(channel) for channel in self.channels)

    def states(self):
        return [self.client.ask("GET", f"/api/v1/sends/{send}")["state"] for send in self.sends]

    def finish(self):
        """Waits until every send is over."""
        left = list(self.sends)

        def is_over():
            while left:
                if self.client.ask("GET", f"/api/v1/sends/{left[-1]}")["state"] in ("active", "resolving", "scheduled"):
                    return False
                left.pop()
            return True

        wait_for("the sends to be over", is_over, self.patience(), 0.5)

    def patience(self):
        return STALLED + self.seconds

    def count(self, began, ended, victims):
        count = Count()
        pauses = []
        for channel in self.channels:
            expected = self.expected[channel]
            messages = self.messages(channel)
            heard = [message["to"] for message in messages if message["to"] in expected]
            count.accepted += self.due(channel)
            count.arrived += len(set(heard))
            count.repeated += len(heard) - len(set(heard))
            if channel in victims:
                pauses.append(longest_pause([seconds_of(message["at"]) for message in messages], began, ended))
        count.lost = max(0, count.accepted - count.arrived)
        if pauses:
            count.again = max((pause for pause in pauses if pause is not None), default=None)
        return count

    def due(self, channel):
        return len(self.expected[channel])


class Bulk(Sending):
    """Bulk sends that last for as long as the trouble."""

    name = "bulk"
    group = "bulk"
    channel_count = 6

    def begin(self):
        for channel in self.channels:
            numbers = [next(NUMBERS) for _ in range(int(RATE * self.seconds))]
            body = {"type": "text", "message": "hi", "phone_number": numbers}
            self.post(channel, self.client, body, f"bulk-{channel}-{numbers[0]}", numbers)


class Move(Bulk):
    """Bulk sends on channels that move: the node that the trouble hits is draining."""

    name = "move"


class Accepting(Sending):
    """Single messages, accepted by all nodes in turns while the trouble lasts."""

    name = "accepting"
    group = "single"
    channel_count = 4
    threads = 4
    # Requests of a thread in a second.
    rate = 6

    def begin(self):
        self.is_over = threading.Event()
        self.failures = []
        self.clients = [self.stage.client() for _ in range(self.threads)]
        self.running = [threading.Thread(target=self.send, args=(client,), daemon=True) for client in self.clients]
        for thread in self.running:
            thread.start()

    def send(self, client):
        channels = itertools.cycle(self.channels)
        due = time.monotonic()
        while not self.is_over.is_set():
            number, channel = next(NUMBERS), next(channels)
            body = {"type": "text", "message": "hi", "phone_number": number}
            try:
                self.post(channel, client, body, f"single-{number}", [number])
            except Refused as refused:
                self.failures.append(str(refused))
                return
            due = max(due + 1 / self.rate, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))

    def finish(self):
        self.is_over.set()
        for thread in self.running:
            thread.join()
        super().finish()

    def count(self, began, ended, victims):
        count = super().count(began, ended, victims)
        count.notes += self.failures[:1]
        refused, broken = (sum(getattr(client, name) for client in self.clients) for name in ("refused", "broken"))
        if refused or broken:
            count.notes.append(f"requests repeated: {refused} refused, {broken} broken off")
        count.refused, count.broken = refused, broken
        return count


class Quota(Sending):
    """Templates to more people than the accounts' quotas have left: exactly the quota may get one."""

    name = "quota"
    group = "quota"
    channel_count = 4

    def begin(self):
        written_to = max(self.stage.provider.counts(self.stage.number(channel)) for channel in self.channels)
        quota = written_to + QUOTA_LEFT
        tier = f"quota-{quota}"
        # The quota is used up while the trouble lasts.
        rate = max(1, round(QUOTA_LEFT / 12))
        self.stage.apply_tier(tier, messages_per_second=f"{rate}/s", burst=1, template_quota=quota)
        self.due_of = {}
        for channel in self.channels:
            self.stage.pombo("channel", "set-tier", channel, tier)
            self.due_of[channel] = quota - self.stage.provider.counts(self.stage.number(channel))
        # Nodes see the change within a second.
        time.sleep(1.5)
        for channel in self.channels:
            template = self.template(channel)
            numbers = [next(NUMBERS) for _ in range(2 * QUOTA_LEFT)]
            body = {"type": "template", "template_id": template, "components": [], "phone_number": numbers}
            self.post(channel, self.client, body, f"quota-{channel}-{numbers[0]}", numbers)

    def template(self, channel):
        found = self.client.ask("GET", f"/api/v1/chat/{channel}/templates?search=hello_world")["data"]
        return found[0]["id"]

    def finish(self):
        def is_used_up():
            return all(len({m["to"] for m in self.messages(channel)}) >= self.due_of[channel] for channel in self.channels)

        wait_for("the quotas to be used up", is_used_up, self.patience(), 0.5)
        # An exceeded quota shows soon, and at the latest when unknown outcomes are decided.
        time.sleep(GRACE + 3)
        for send, state in zip(self.sends, self.states()):
            if state == "active":
                self.client.ask("POST", f"/api/v1/sends/{send}/cancel")

    def due(self, channel):
        return self.due_of[channel]

    def count(self, began, ended, victims):
        count = super().count(began, ended, victims)
        # Pauses end with the quota.
        count.again = None
        for channel in self.channels:
            people = len({message["to"] for message in self.messages(channel)})
            count.exceeded += max(0, people - self.due_of[channel])
        if count.exceeded:
            count.notes.append(f"{count.exceeded} people over the quota")
        return count


class Import:
    """An import of contacts; each contact must be there once."""

    name = "import"
    group = None
    channel_count = 0
    rows = 30_000

    def __init__(self, stage, seconds):
        self.stage, self.seconds = stage, seconds
        self.client = stage.client()
        self.first = int(stage.postgres.ask("SELECT COUNT(*) FROM contact")[0][0])
        self.channels = []

    def begin(self):
        rows = (f"Ana {row},+55 11 9{row:08}\n" for row in range(self.first, self.first + self.rows))
        body = ("first_name,phone_number\n" + "".join(rows)).encode()
        path = "/api/v1/contacts/imports?file_name=people.csv&start=true"
        self.id = self.client.ask("POST", path, body, kind="text/csv")["id"]

    def is_under_way(self):
        return self.record()["rows"] > 0

    def record(self):
        return self.client.ask("GET", f"/api/v1/contacts/imports/{self.id}")

    def finish(self):
        over = ("finished", "failed", "canceled")
        wait_for("the import to be over", lambda: self.record()["state"] in over, STALLED + self.seconds, 0.5)

    def count(self, *_):
        record = self.record()
        sql = "SELECT COUNT(*) FROM contact"
        there = int(self.stage.postgres.ask(sql)[0][0]) - self.first
        count = Count(accepted=self.rows, arrived=there)
        count.lost, count.repeated = max(0, self.rows - there), max(0, there - self.rows)
        if record["state"] != "finished":
            count.notes.append(f"{record['state']}: {record['error']}")
        return count


TOGETHER = (Accepting, Bulk, Quota, Import)
ALL = (*TOGETHER, Move)
