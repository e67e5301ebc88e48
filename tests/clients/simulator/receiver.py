"""A receiver of the simulator's webhooks, and the simulator's own surface."""

import http.server
import json
import queue
import threading
import urllib.request

APP_SECRET = "app-secret"


def ask(base_url, path, body):
    """Posts to the simulator's own surface."""
    request = urllib.request.Request(f"{base_url}/_sim{path}", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


class Receiver:
    """Receives the webhooks of one number, each as its bytes and its signature."""

    def __init__(self, base_url, number):
        heard = self.heard = queue.Queue()

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                heard.put((body, self.headers["X-Hub-Signature-256"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        options = {
            "url": f"http://127.0.0.1:{self.server.server_port}/hook",
            "app_secret": APP_SECRET,
            "phone_number_id": number,
            "delivered_after": "10ms",
            "read_after": "10ms",
            "read_probability": 1.0,
            # Clients look at the first status of a webhook alone.
            "batch": 1,
        }
        ask(base_url, "/webhook", options)

    def next(self):
        return self.heard.get(timeout=10)
