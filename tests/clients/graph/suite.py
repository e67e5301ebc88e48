"""What the suites in Python share: the target, the rows of the table, and a receiver of webhooks."""

import http.server
import json
import pathlib
import queue
import sys
import threading
import time
import traceback
import types
import urllib.error
import urllib.parse
import urllib.request

# What targets.mjs wrote of the target, and the number of the person whom this suite writes to.
with open(sys.argv[1], encoding="utf-8") as file:
    target = types.SimpleNamespace(**json.load(file))
PERSON = sys.argv[2]
# A name and texts outside ASCII, which are escaped in webhooks.
NAME = "João"
is_sound = True


def row(name, offered=True):
    """Runs a row of the table at once. Its value takes the place of the function."""

    def run(check):
        global is_sound
        try:
            value, result = check(), "ok" if offered else "no"
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}", file=sys.stderr)
            value, result, is_sound = None, "FAILED", False
        print(f"{name}\t{result}", flush=True)
        return value

    return run


def end():
    sys.exit(not is_sound)


def sample(kind):
    """A small file of this kind: its bytes, its name and its type."""
    names = {
        "image": ("photo.png", "image/png"),
        "video": ("film.mp4", "video/mp4"),
        "audio": ("voice.ogg", "audio/ogg"),
        "document": ("list.pdf", "application/pdf"),
        "sticker": ("sticker.webp", "image/webp"),
    }
    name, mime_type = names[kind]
    content = pathlib.Path(target.files, name).read_bytes()
    if kind == "sticker":
        # It says that it has 512 by 512 pixels, which a sticker needs.
        content = content[:26] + bytes([0, 2, 0, 2]) + content[30:]
    if kind == "video":
        # A film needs pictures: a track at the end of its second box.
        track = box(b"trak", box(b"mdia", box(b"hdlr", bytes(8) + b"vide" + bytes(13))))
        content = content[:28] + box(b"moov", content[36:144] + track) + content[144:]
    return content, name, mime_type


def box(name, content):
    """A part of a film."""
    return (len(content) + 8).to_bytes(4, "big") + name + content


def ask(method, url, body=None, headers=None):
    """The status and the JSON of an answer."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        status, text = refused.code, refused.read()
    return status, json.loads(text) if text else None


def write(**content):
    """Lets the person write to the number of the target."""
    status, answer = ask("POST", f"{target.simulator}/_sim/write", {"to": target.write_to, "from": PERSON, "name": NAME, **content})
    assert status == 200, answer


def newest():
    """The provider's id of the newest message to the person: the one that an answer names."""
    query = urllib.parse.urlencode({"channel": target.write_to, "person": PERSON})
    status, answer = ask("GET", f"{target.simulator}/_sim/conversation?{query}")
    assert status == 200, answer
    return [line["id"] for line in answer["data"] if line["by"] == "channel"][-1]


def let_fail():
    """Lets messages to `target.failing` fail after they are accepted. A web session's do so by themselves, perhaps so soon
    that the door refuses them at once."""
    if not target.is_web:
        script = {"match": {"to_suffix": target.failing[-4:]}, "outcome": {"async_failed": {"code": 131026}}}
        status, answer = ask("POST", f"{target.simulator}/_sim/script", script)
        assert status == 200, answer


class Receiver:
    """Gets the webhooks of the number of the target. `challenge` is the client's answer to a handshake: its text and status."""

    def __init__(self, challenge, *, profile="meta", path="/hook"):
        heard, handshakes = queue.Queue(), []
        self.heard, self.handshakes = heard, handshakes

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                text, status = challenge(asked)
                handshakes.append((asked, status))
                self.answer(status, str(text).encode())

            def do_POST(self):
                heard.put((self.rfile.read(int(self.headers["Content-Length"])), self.headers["X-Hub-Signature-256"]))
                self.answer(200, b"")

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}{path}"
        body = {**target.webhook["body"], "url": self.url}
        if "profile" in body:
            body["profile"] = profile
        status, answer = ask("POST", target.webhook["url"], body, target.webhook["headers"])
        assert status in (200, 201), answer
        self.id = (answer or {}).get("id")

    def hear(self, read, wanted, seconds=30):
        """Gives webhooks to `read`, the client, until `wanted` finds what it waits for."""
        last = time.monotonic() + seconds
        while not (found := wanted()):
            read(*self.heard.get(timeout=max(0, last - time.monotonic())))
        return found

    def close(self):
        """Ends what it began."""
        if self.id:
            ask("DELETE", f"{target.webhook['url']}/{self.id}", None, target.webhook["headers"])
        self.server.shutdown()
