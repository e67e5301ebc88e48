"""The requests of Typebot, in its order, and its reading of webhooks: written from what it does, and not from its code."""

import json
import urllib.request
import uuid

from suite import PERSON, Receiver, ask, end, let_fail, row, sample, target, write

BASE = target.base_url
HEADERS = {"Authorization": f"Bearer {target.key}"}
# What its schema of webhooks has: one other word, and it refuses the whole body.
STATUSES = ("sent", "delivered", "read", "failed", "deleted")
TYPES = (
    "text", "button", "interactive", "image", "video", "audio", "document", "location", "reaction", "sticker", "contacts",
    "unsupported", "system",
)


def post(body):
    full = {"messaging_product": "whatsapp", "to": PERSON, **body}
    return ask("POST", f"{BASE}/v21.0/{target.number}/messages", full, HEADERS)


def send(body):
    status, answer = post(body)
    assert status == 200, answer
    return answer["messages"][0]["id"]


@row("check the key")
def _():
    # The wizard asks with the key as a header, too.
    status, answer = ask("GET", f"{BASE}/v17.0/debug_token?input_token={target.key}", None, HEADERS)
    assert status == 200, answer
    data = answer["data"]
    assert (data["expires_at"], data["is_valid"]) == (0, True), data
    assert {"whatsapp_business_management", "whatsapp_business_messaging"} <= set(data["scopes"]), data


@row("choose the number")
def _():
    status, answer = ask("GET", f"{BASE}/v17.0/{target.account}/phone_numbers", None, HEADERS)
    assert status == 200, answer
    numbers = {number["id"]: number for number in answer["data"]}
    assert all(isinstance(number, str) for number in numbers), numbers
    assert numbers[target.number]["display_phone_number"], numbers
    status, answer = ask("GET", f"{BASE}/v17.0/{target.number}", None, HEADERS)
    assert status == 200 and answer["display_phone_number"], answer


@row("subscribe")
def _():
    status, answer = ask("POST", f"{BASE}/v17.0/{target.account}/subscribed_apps", b"", HEADERS)
    assert (status, answer) == (200, {"success": True}), answer
    status, answer = ask("GET", f"{BASE}/v17.0/{target.account}/subscribed_apps", None, HEADERS)
    assert status == 200 and answer["data"][0]["whatsapp_business_api_data"]["id"], answer


tokens = [target.verify_token]


def challenge(asked):
    """It takes a token once, and answers the challenge as a number."""
    if asked["hub.verify_token"] not in tokens:
        return "", 401
    tokens.clear()
    return int(asked["hub.challenge"]), 200


receiver = Receiver(challenge, profile="strict")
statuses, messages = [], []


def read(body, _):
    webhook = json.loads(body)
    assert webhook["object"] == "whatsapp_business_account", webhook
    for entry in webhook["entry"]:
        for change in entry["changes"]:
            value = change["value"]
            for status in value.get("statuses", []):
                assert status["status"] in STATUSES and isinstance(status["recipient_id"], str), status
                for error in status.get("errors", []):
                    assert isinstance(error["code"], int) and isinstance(error["title"], str), error
                statuses.append(status)
            for message in value.get("messages", []):
                assert message["type"] in TYPES and isinstance(message["timestamp"], str), message
                if message["type"] == "interactive":
                    assert message["interactive"]["type"] in ("button_reply", "list_reply"), message
                if message["type"] == "location":
                    assert all(isinstance(message["location"][name], (int, float)) for name in ("latitude", "longitude")), message
                messages.append(message)


def status_of(sent, word):
    return receiver.hear(read, lambda: next((one for one in statuses if (one["id"], one["status"]) == (sent, word)), None))


def message_of(kind):
    return receiver.hear(read, lambda: next((one for one in messages if (one["from"], one["type"]) == (PERSON, kind)), None))


@row("statuses")
def _():
    sent = send({"type": "text", "text": {"body": "hello", "preview_url": False}})
    for word in ("sent", "delivered", "read"):
        status_of(sent, word)


@row("handshake")
def _():
    [(asked, status)] = receiver.handshakes
    assert status == 200 and str(int(asked["hub.challenge"])) == asked["hub.challenge"], asked
    assert int(asked["hub.challenge"]) < 2**53, asked


@row("failed message")
def _():
    let_fail()
    message = {"type": "template", "template": {"name": "hello_world", "language": {"code": "en_US"}}, "to": target.failing}
    # It reads the status of the answer alone.
    status, answer = post(message)
    if not target.is_web or status == 200:
        status_of(answer["messages"][0]["id"], "failed")


@row("inbound text")
def heard():
    write(text="Olá!")
    return message_of("text")["id"]


@row("inbound location")
def _():
    write(location={"latitude": -23.5, "longitude": -46.5})
    message_of("location")


@row("inbound file")
def _():
    write(audio={})
    audio = message_of("audio")["audio"]
    status, described = ask("GET", f"{BASE}/v21.0/{audio['id']}", None, HEADERS)
    assert status == 200 and described["mime_type"].startswith("audio/ogg"), described
    with urllib.request.urlopen(urllib.request.Request(described["url"], headers=HEADERS), timeout=20) as answer:
        assert answer.read() == sample("audio")[0]


@row("read mark and typing")
def _():
    mark = {"messaging_product": "whatsapp", "status": "read", "message_id": heard, "typing_indicator": {"type": "text"}}
    assert ask("POST", f"{BASE}/v21.0/{target.number}/messages", mark, HEADERS) == (200, {"success": True})


@row("send a file")
def _():
    # Its file has a type and no name.
    content, _, mime_type = sample("image")
    line = uuid.uuid4().hex
    fields = "".join(
        f'--{line}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in (("messaging_product", "whatsapp"), ("type", mime_type))
    )
    head = f'--{line}\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: {mime_type}\r\n\r\n'
    body = (fields + head).encode() + content + f"\r\n--{line}--\r\n".encode()
    headers = {**HEADERS, "Content-Type": f"multipart/form-data; boundary={line}"}
    status, uploaded = ask("POST", f"{BASE}/v21.0/{target.number}/media", body, headers)
    assert status == 200, uploaded
    send({"type": "image", "image": {"id": uploaded["id"]}})


@row("send buttons")
def _():
    reply = [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]
    interactive = {"type": "button", "body": {"text": "Will you come?"}, "action": {"buttons": reply}}
    send({"type": "interactive", "interactive": interactive})


@row("send a template")
def _():
    send({"type": "template", "template": {"name": "hello_world", "language": {"code": "en_US"}, "components": []}})


receiver.close()
end()
