"""A receiver of webhooks, to which a company's events go while a cluster is in trouble."""

import http.server
import json
import threading

from .provider import Quiet


class Receiver:
    """Accepts every request, and hands on each event once, when it first comes."""

    def __init__(self, host, hand_on):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver.take(json.loads(body)["events"])
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.hand_on = hand_on
        self.seen = set()
        self.lock = threading.Lock()
        self.server = Quiet((host, 0), Handler)
        self.url = f"http://{host}:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, events):
        with self.lock:
            for event in events:
                if event["id"] not in self.seen:
                    self.seen.add(event["id"])
                    self.hand_on(event)

    def end(self):
        self.server.shutdown()
