"""The requests of Chatwoot, in its order, and its reading of webhooks: written from what it does, and not from its code."""

import hashlib
import hmac
import json
import urllib.error
import urllib.parse
import urllib.request
import uuid

from suite import NAME, PERSON, Receiver, ask, end, let_fail, newest, row, sample, target, write

BASE = target.base_url
HEADERS = {"Authorization": f"Bearer {target.key}"}
# Words of statuses that it knows.
STATUSES = ("sent", "delivered", "read", "failed")


def post(body):
    """Its requests have a plus before the number, and a context that may be nothing."""
    full = {"messaging_product": "whatsapp", "context": None, "to": f"+{PERSON}", **body}
    return ask("POST", f"{BASE}/v13.0/{target.number}/messages", full, HEADERS)


def send(body):
    status, answer = post(body)
    assert status == 200, answer
    return answer["messages"][0]["id"]


@row("create the inbox")
def _():
    # The check of an inbox, with the key in the address, and that of newer versions.
    key = urllib.parse.quote(target.key)
    status, answer = ask("GET", f"{BASE}/v14.0/{target.account}/message_templates?access_token={key}")
    assert status == 200 and isinstance(answer["data"], list), answer
    status, answer = ask("GET", f"{BASE}/v22.0/{target.account}/phone_numbers?fields=id&limit=100", None, HEADERS)
    assert status == 200 and target.number in [number["id"] for number in answer["data"]], answer
    status, answer = ask("GET", f"{BASE}/v14.0/{target.account}/message_templates?access_token=EXPIRED-key")
    assert status == 401 and answer["error"]["message"], answer


@row("fetch all templates")
def _():
    key, found = urllib.parse.quote(target.key), []
    page = f"{BASE}/v14.0/{target.account}/message_templates?access_token={key}&limit=1"
    for _ in range(100):
        status, answer = ask("GET", page)
        assert status == 200, answer
        found += answer["data"]
        page = answer.get("paging", {}).get("next")
        if not page:
            break
    names = [template["name"] for template in found]
    assert "hello_world" in names and len(names) == len(set((each["name"], each["language"]) for each in found)), names
    for template in found:
        assert {"id", "name", "language", "status", "category", "components"} <= set(template), template
    # Newer versions follow the cursor until there is none.
    after, cursors = None, []
    while True:
        asked = f"{BASE}/v22.0/{target.account}/message_templates?limit=1" + (f"&after={after}" if after else "")
        _, answer = ask("GET", asked, None, HEADERS)
        cursors.append(len(answer["data"]))
        after = answer.get("paging", {}).get("cursors", {}).get("after")
        if not after or len(cursors) > 100:
            break
    assert sum(cursors) == len(found), (cursors, names)


receiver = Receiver(
    lambda asked: (json.dumps(int(asked["hub.challenge"])), 200) if asked["hub.verify_token"] == target.verify_token else ("", 401),
    profile="chatwoot",
    path=f"/webhooks/whatsapp/+{target.display}",
)
statuses, messages = [], []


def read(body, signature):
    expected = hmac.new(target.app_secret.encode(), body, hashlib.sha256).hexdigest()
    assert signature == f"sha256={expected}", signature
    webhook = json.loads(body)
    assert len(webhook["entry"]) == 1 and len(webhook["entry"][0]["changes"]) == 1, webhook
    value = webhook["entry"][0]["changes"][0]["value"]
    assert value["metadata"]["phone_number_id"] == target.number, value
    assert "".join(filter(str.isdigit, value["metadata"]["display_phone_number"])) == target.display, value
    # It reads the first alone.
    assert len(value.get("statuses", [])) + len(value.get("messages", [])) == 1, value
    for status in value.get("statuses", []):
        assert status["status"] in STATUSES, status
        statuses.append(status)
    for message in value.get("messages", []):
        contact = value["contacts"][0]
        assert contact["wa_id"] and contact["profile"]["name"], value
        assert message["from"] and message["id"] and int(message["timestamp"]), message
        messages.append((contact, message))


def status_of(sent, word):
    return receiver.hear(read, lambda: next((one for one in statuses if (one["id"], one["status"]) == (sent, word)), None))


def message_of(kind, has=lambda _: True):
    def found():
        own = (message for _, message in messages if message["from"] == PERSON and message["type"] == kind)
        return next((message for message in own if has(message)), None)

    return receiver.hear(read, found)


@row("statuses")
def sent():
    sent = send({"type": "text", "text": {"body": "hello"}})
    for word in ("sent", "delivered", "read"):
        status_of(sent, word)
    return sent, newest()


@row("handshake")
def _():
    [(asked, status)] = receiver.handshakes
    # It answers the challenge as JSON: a number stays as it is.
    assert status == 200 and asked["hub.challenge"] == str(int(asked["hub.challenge"])), asked


@row("failed message")
def _():
    let_fail()
    template = {"name": "hello_world", "language": {"policy": "deterministic", "code": "en_US"}, "components": []}
    message = {"type": "template", "template": template, "to": f"+{target.failing}"}
    status, answer = post(message)
    if target.is_web and status == 400:
        assert answer["error"]["code"] == 131000, answer
        return
    failed = status_of(answer["messages"][0]["id"], "failed")
    assert failed["errors"][0]["code"] > 0 and failed["errors"][0]["title"], failed


@row("inbound text")
def heard():
    write(text="Olá!")
    message = message_of("text", lambda message: message["text"]["body"] == "Olá!")
    assert NAME in [contact["profile"]["name"] for contact, _ in messages], messages
    return message["id"]


@row("inbound answer")
def _():
    write(text="Sim!", context=sent[1])
    assert message_of("text", lambda message: message["text"]["body"] == "Sim!")["context"]["id"] == sent[0]


@row("inbound file")
def _():
    write(image={"caption": "Este?"})
    image = message_of("image")["image"]
    assert image["caption"] == "Este?" and image["mime_type"] and image["sha256"], image
    status, described = ask("GET", f"{BASE}/v13.0/{image['id']}", None, HEADERS)
    assert status == 200, described
    with urllib.request.urlopen(urllib.request.Request(described["url"], headers=HEADERS), timeout=20) as answer:
        assert answer.headers.get_content_type() == "image/png", answer.headers
        assert answer.read() == sample("image")[0]
    # A lost file must not look like a bad key, for which a whole inbox is stopped.
    status, answer = ask("GET", f"{BASE}/v13.0/{int(image['id']) + 1000}", None, HEADERS)
    assert status in (400, 404) and answer["error"]["message"], answer


@row("read mark and typing")
def _():
    body = {"messaging_product": "whatsapp", "status": "read", "message_id": heard}
    for mark in (body, {**body, "typing_indicator": {"type": "text"}}):
        assert ask("POST", f"{BASE}/v22.0/{target.number}/messages", mark, HEADERS) == (200, {"success": True})


@row("send text")
def _():
    send({"type": "text", "text": {"body": "*Olá*"}, "context": {"message_id": heard}})


@row("send a file")
def _():
    content, name, mime_type = sample("document")
    line = uuid.uuid4().hex
    parts = [
        (f'form-data; name="messaging_product"', None, b"whatsapp"),
        (f'form-data; name="file"; filename="{name}"', mime_type, content),
    ]
    body = b"".join(
        f"--{line}\r\nContent-Disposition: {head}\r\n{f'Content-Type: {kind}' + chr(13) + chr(10) if kind else ''}\r\n".encode()
        + content
        + b"\r\n"
        for head, kind, content in parts
    )
    headers = {**HEADERS, "Content-Type": f"multipart/form-data; boundary={line}"}
    status, uploaded = ask("POST", f"{BASE}/v22.0/{target.number}/media", body + f"--{line}--\r\n".encode(), headers)
    assert status == 200, uploaded
    send({"type": "document", "document": {"id": uploaded["id"], "caption": "look", "filename": name}})


@row("send buttons")
def _():
    # The action is JSON in a text.
    buttons = [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]
    interactive = {"type": "button", "body": {"text": "Will you come?"}, "action": json.dumps({"buttons": buttons})}
    send({"type": "interactive", "interactive": interactive})


@row("send a list")
def _():
    sections = [{"rows": [{"id": "tea", "title": "Tea"}, {"id": "juice", "title": "Juice"}]}]
    action = json.dumps({"button": "Choose an item", "sections": sections})
    send({"type": "interactive", "interactive": {"type": "list", "body": {"text": "Menu"}, "action": action}})


@row("send a template")
def _():
    send({"type": "template", "template": {"name": "hello_world", "language": {"policy": "deterministic", "code": "en_US"}, "components": []}})


@row("error of a message")
def _():
    template = {"name": "no_such_template", "language": {"policy": "deterministic", "code": "en_US"}}
    status, answer = post({"type": "template", "template": template})
    assert status in (400, 404) and answer["error"]["code"] == 132001 and answer["error"]["message"], answer


receiver.close()
end()
