"""Receives a company's webhooks with the public library `standardwebhooks`, which verifies every delivery.

The endpoint is added, tested and deleted with the Python client that was generated from the reference.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import UUID

from pombo_client import AuthenticatedClient
from pombo_client.api.business_account import send_business_messages
from pombo_client.api.events import add_webhook, delete_webhook, rotate_webhook_secret, test_webhook
from pombo_client.models import (
    BusinessSend,
    CreatedWebhook,
    DeliveryResult,
    NewSecret,
    NewWebhook,
    Queued,
    SecretRotation,
    WebhookTest,
)
from pombo_client.models.event_type import EVENT_TYPE_VALUES
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

PATIENCE = 30
"""Seconds that a delivery may take."""

base_url, key, channel = sys.argv[1:]
company = AuthenticatedClient(base_url=base_url, token=key, raise_on_unexpected_status=True)


def check(holds: object, sentence: str) -> None:
    if not holds:
        sys.exit(f"Python receiver: {sentence}")


class Receiver(BaseHTTPRequestHandler):
    """Accepts what one of the secrets signed, and refuses everything else."""

    secrets: list[str] = []
    accepted: Queue = Queue()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        for secret in self.secrets:
            try:
                event = Webhook(secret).verify(body, headers)
            except WebhookVerificationError:
                continue
            self.accepted.put((headers, body, event))
            return self.answer(204)
        return self.answer(401)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Only failures are told."""


def next_delivery(what: str) -> tuple[dict[str, str], bytes, dict]:
    """The next accepted delivery: its headers, its body and its event."""
    try:
        return Receiver.accepted.get(timeout=PATIENCE)
    except Empty:
        sys.exit(f"Python receiver: {what} did not come within {PATIENCE} seconds")


def tested(kind: str) -> tuple[dict[str, str], bytes, dict]:
    """The delivery of an example of this type of event."""
    result = test_webhook.sync(webhook, client=company, body=WebhookTest(type_=kind))
    check(isinstance(result, DeliveryResult) and result.is_delivered, f"the test of {kind} failed: {result}")
    while True:
        delivery = next_delivery(f"the example of {kind}")
        # An event that happened meanwhile may come between.
        if delivery[2]["id"].startswith("example."):
            return delivery


def is_verified(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def posted(body: bytes, headers: dict[str, str]) -> int:
    """The receiver's answer to this request."""
    own = {name: value for name, value in headers.items() if name.startswith("webhook-")}
    try:
        with urlopen(Request(address, body, own), timeout=PATIENCE) as answer:
            return answer.status
    except HTTPError as refusal:
        return refusal.code


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/"

new = NewWebhook(url=address, types=["message.*", "send.finished"])
added = add_webhook.sync(client=company, body=new)
check(isinstance(added, CreatedWebhook), f"the endpoint was not added: {added}")
webhook, first = added.id, added.secret
Receiver.secrets = [first]

for kind in sorted(EVENT_TYPE_VALUES):
    headers, body, event = tested(kind)
    check(event["type"] == kind, f"the test of {kind} sent {event}")

for forged_body, forged_headers, change in [
    (body + b" ", headers, "another body"),
    (body, {**headers, "webhook-id": "another"}, "another id"),
    (body, {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}, "another time"),
    (body, {**headers, "webhook-signature": f"v1,{'A' * 43}="}, "another signature"),
]:
    check(posted(forged_body, forged_headers) == 401, f"the receiver accepted {change}")
check(posted(body, headers) == 204, "the receiver refused a delivery that was repeated as it was")

message = BusinessSend(type_="text", phone_number="+999 900 000 009", message="heard from Python")
queued = send_business_messages.sync(UUID(channel), client=company, body=message)
check(isinstance(queued, Queued), f"the message was not accepted: {queued}")
missing, end = {"message", "send"}, monotonic() + PATIENCE
while missing:
    check(monotonic() < end, f"no event {' or '.join(sorted(missing))}.… of send {queued.send_id} came")
    _, _, event = next_delivery(f"an event of send {queued.send_id}")
    if event["data"].get("send_id") == str(queued.send_id):
        missing.discard(event["type"].split(".")[0])

rotated = rotate_webhook_secret.sync(webhook, client=company, body=SecretRotation(overlap="1h"))
check(isinstance(rotated, NewSecret) and rotated.former_until, f"the secret was not replaced: {rotated}")
second = rotated.secret
Receiver.secrets = [second]
headers, body, _ = tested("message.read")
for secret, name in [(second, "new"), (first, "former")]:
    check(is_verified(secret, body, headers), f"the {name} secret does not verify during the overlap")
    check(not is_verified(secret, body + b" ", headers), f"the {name} secret verifies another body")

rotated = rotate_webhook_secret.sync(webhook, client=company, body=SecretRotation(overlap="0s"))
check(isinstance(rotated, NewSecret), f"the secret was not replaced: {rotated}")
Receiver.secrets = [rotated.secret]
headers, body, _ = tested("message.read")
for secret in [first, second]:
    check(not is_verified(secret, body, headers), "a secret that was replaced still verifies")

delete_webhook.sync_detailed(webhook, client=company)
server.shutdown()
print(f"Python: {len(EVENT_TYPE_VALUES)} types of events and those of a send came, each verified")
