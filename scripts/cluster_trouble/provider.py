"""The provider: a simulator, a relay to it, and a balancer that forwards its receipts to nodes that are ready."""

import http.client
import http.server
import json
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

APP_SECRET = "app-secret"
# The first pause before a webhook that no node took is repeated; each next pause is twice as long.
RETRY_AFTER = "100ms"


class Provider:
    def __init__(self, processes, network, program, latency="60ms"):
        self.processes, self.network = processes, network
        words = [program, "simulator", "--json", "--port", "0", "--latency", latency, "--end-with-input"]
        self.process = processes.start("simulator", words, reads=True)
        self.url = json.loads(self.process.stdout.readline())["base_url"]
        self.url_for_nodes = self.url
        if network.is_real:
            target = urlsplit(self.url)
            words = [sys.executable, Path(__file__).with_name("relay.py"), network.host, "0", target.hostname, target.port]
            relay = processes.start("relay", words, reads=True)
            self.url_for_nodes = f"http://{network.host}:{int(relay.stdout.readline())}"

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_sim/{path}", data=data)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def send_receipts(self, number, url):
        self.ask("webhook", {
            "phone_number_id": number, "url": url, "app_secret": APP_SECRET, "retry_after": RETRY_AFTER,
            "delivered_after": "100ms", "read_probability": 0.0,
        })

    def latency(self, span):
        self.ask("script", {"latency": span})

    def sequence(self):
        """The position of the newest message."""
        after, step = 0, 1 << 40
        newest = 0
        while step:
            page = self.ask(f"messages?after={after + step - 1}&limit=1")["data"]
            if page:
                newest = page[0]["sequence"]
                after = newest
            step >>= 1
        return newest

    def messages(self, number, after):
        """Messages of a number that were accepted after this position, the oldest first."""
        found = []
        while after is not None:
            page = self.ask(f"messages?phone_number_id={number}&after={after}&limit=10000")
            found += page["data"]
            after = page["next"]
        return found

    def counts(self, number):
        """How many messages a number sent."""
        try:
            return self.ask(f"numbers/{number}")["messages"]
        except urllib.error.HTTPError:
            return 0


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores the connections that break when the simulator ends."""


class Balancer:
    """Forwards each webhook to a ready node, and to another one if that fails."""

    def __init__(self, ready):
        balancer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                status = balancer.hand_on(self.path, self.headers, body, ready())
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def hand_on(path, headers, body, nodes):
        kept = {name: headers[name] for name in ("content-type", "x-hub-signature-256") if headers.get(name)}
        status = 503
        for node in nodes:
            where = urlsplit(node)
            connection = http.client.HTTPConnection(where.hostname, where.port, timeout=3)
            try:
                connection.request("POST", path, body, kept)
                status = connection.getresponse().status
            except OSError:
                status = 503
            except http.client.HTTPException:
                status = 503
            finally:
                connection.close()
            if status < 500:
                return status
        return status

    def end(self):
        self.server.shutdown()
