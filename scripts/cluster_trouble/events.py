"""Compares the events of each message with the states that its row had, in their order: in the stream, and as they first came to a
receiver of webhooks."""

import json
import secrets
import socket
from collections import defaultdict

from .processes import Failed, wait_for
from .webhooks import Receiver

STREAM = "POMBO_EVENTS"
# The states that have an event, by the numbers of crates/domain/src/message.rs.
STATES = {
    2: "sent", 3: "delivered", 4: "read", 5: "failed", 6: "expired", 7: "canceled", 8: "unknown", 9: "suppressed",
}
# Keeps every state that a message reaches. A row is locked while its state is noted, so a message's notes are in order.
NOTING = f"""
CREATE TABLE reached (place BIGSERIAL PRIMARY KEY, send_id UUID NOT NULL, ordinal BIGINT NOT NULL, state SMALLINT NOT NULL);
CREATE INDEX reached_of_send ON reached (send_id);
CREATE FUNCTION note_state() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO reached (send_id, ordinal, state) VALUES (NEW.send_id, NEW.ordinal, NEW.state);
    RETURN NULL;
END $$;
CREATE TRIGGER note_new AFTER INSERT ON message FOR EACH ROW WHEN (NEW.state IN ({", ".join(map(str, STATES))}))
    EXECUTE FUNCTION note_state();
CREATE TRIGGER note_moved AFTER UPDATE ON message FOR EACH ROW
    WHEN (NEW.state <> OLD.state AND NEW.state IN ({", ".join(map(str, STATES))})) EXECUTE FUNCTION note_state();
"""
# The number of blocks of the log that a reader at this place does not have to their end.
WAITING = "SELECT COUNT(*) FROM event_block WHERE (seq << 16) + 65535 > ({})"
# The readers: what they are, and where each of them is in the log.
READERS = {
    "NATS": "SELECT sequence FROM event_reader WHERE kind = 'nats'",
    "the receiver of webhooks": "SELECT sequence FROM webhook_endpoint",
}
# Seconds within which a reader has all events once it can be reached.
PATIENCE = 60


class Connection:
    """One connection to NATS, for as much of its protocol as reading a stream needs."""

    def __init__(self, address, port):
        self.socket = socket.create_connection((address, port), timeout=10)
        self.input = self.socket.makefile("rb")
        self.input.readline()
        # Of its own: consumers of earlier connections live for some seconds more.
        self.inbox = f"pombo.trouble.{secrets.token_hex(8)}"
        # Without headers, messages come as their bodies alone.
        self.say('CONNECT {"verbose": false, "headers": false}')
        # Two subscriptions: the server sends a stream's messages only to a subject that is subscribed by its full name.
        self.say(f"SUB {self.inbox}.answer 1")
        self.say(f"SUB {self.inbox}.events 2")

    def say(self, line, body=None):
        body = b"" if body is None else body + b"\r\n"
        self.socket.sendall(line.encode() + b"\r\n" + body)

    def next(self):
        """The subject, the reply subject and the body of the next message."""
        while True:
            words = self.input.readline().decode().split()
            if not words:
                raise Failed("NATS closed the connection")
            if words[0] == "PING":
                self.say("PONG")
            elif words[0] == "MSG":
                body = self.input.read(int(words[-1]) + 2)[:-2]
                return words[1], words[3] if len(words) == 5 else "", body

    def read(self, first):
        """The events of the stream from this position on, each with its position."""
        config = {"deliver_subject": f"{self.inbox}.events", "ack_policy": "none"}
        config |= {"deliver_policy": "by_start_sequence", "opt_start_seq": first}
        body = json.dumps({"stream_name": STREAM, "config": config}).encode()
        self.say(f"PUB $JS.API.CONSUMER.CREATE.{STREAM} {self.inbox}.answer {len(body)}", body)
        pending, early = None, []
        while pending is None:
            subject, reply, body = self.next()
            if subject.endswith(".answer"):
                answer = json.loads(body)
                if "error" in answer:
                    raise Failed(f"NATS: {answer['error']}")
                pending = answer["num_pending"] + answer.get("delivered", {}).get("consumer_seq", 0)
            else:
                early.append((reply, body))
        while len(early) < pending:
            _, reply, body = self.next()
            early.append((reply, body))
        return [(int(reply.split(".")[5]), json.loads(body)) for reply, body in early]

    def close(self):
        self.socket.close()


def by_message():
    """Lists of states by ordinal, by send."""
    return defaultdict(lambda: defaultdict(list))


def note(told, event):
    """Adds the state that the event of a message tells."""
    kind, _, state = event["type"].partition(".")
    if kind == "message":
        data = event["data"]
        told[data["send_id"]][data["ordinal"]].append(state)


class Events:
    def __init__(self, stage):
        self.stage = stage
        self.next = 1
        # What the events say in the stream, and at the receiver of webhooks.
        self.told, self.told_by_webhook = by_message(), by_message()
        self.receiver = Receiver(stage.network.host, lambda event: note(self.told_by_webhook, event))
        stage.options["POMBO__WEBHOOKS__ALLOW_HTTP"] = "true"
        stage.options["POMBO__WEBHOOKS__ALLOW_NETWORKS"] = stage.network.host
        stage.postgres.ask(NOTING)

    def add_endpoint(self, company):
        """Has the events of this company's messages sent to the receiver. Nodes that start afterwards know the endpoint."""
        words = ["--company", company, "--types", "message.*", "--batch", "100"]
        self.stage.pombo("webhook", "add", self.receiver.url, *words)

    def end(self):
        self.receiver.end()

    def differing(self, sends):
        """A sentence for each message of these sends whose events are not its states, in their order."""
        reached = self.reached(sends)
        for reader, place in READERS.items():
            waiting = WAITING.format(place)
            wait_for(f"all events at {reader}", lambda: self.stage.postgres.ask(waiting) == [["0"]], PATIENCE, 0.3)
        self.read()
        wrong = []
        for record, where in ((self.told, "in the stream"), (self.told_by_webhook, "at the receiver of webhooks")):
            for (send, ordinal), states in reached.items():
                told = record[send][ordinal]
                # A receipt may have come since the states were read.
                if told[: len(states)] != states:
                    said = ", ".join(told) or "nothing"
                    wrong.append(f"message {send}.{ordinal} was {', '.join(states)}; its events {where} say {said}")
        return wrong

    def reached(self, sends):
        found = defaultdict(list)
        for at in range(0, len(sends), 500):
            ids = ", ".join(f"'{send}'" for send in sends[at : at + 500])
            sql = f"SELECT send_id, ordinal, state FROM reached WHERE send_id IN ({ids}) ORDER BY place"
            for send, ordinal, state in self.stage.postgres.ask(sql):
                found[send, int(ordinal)].append(STATES[int(state)])
        return found

    def read(self):
        """Reads what the stream has got since the last time."""
        nats = self.stage.nats
        name = nats.leader()
        connection = Connection(nats.network.address(name), nats.ports[name][0])
        try:
            for position, event in connection.read(self.next):
                self.next = position + 1
                note(self.told, event)
        finally:
            connection.close()
