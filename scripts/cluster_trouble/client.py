"""A company's client: sends a request to any ready node, and repeats it under the same key until a node answers."""

import http.client
import itertools
import json
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from .processes import Failed

# Status codes after which nothing was done: repeat the request.
AGAIN = {408, 425, 429, 500, 502, 503, 504}
# The same request under the same key is being worked on.
IN_PROGRESS = 409
PAUSE = 0.2
PATIENCE = 5


class Refused(Failed):
    """The service refused the request, and would refuse it again."""


class Ready:
    """The nodes that are ready for requests; a thread asks them all the time."""

    def __init__(self, urls):
        self.urls = urls
        self.found = []
        self.turns = itertools.count()
        self.is_over = False
        threading.Thread(target=self.watch, daemon=True).start()

    @staticmethod
    def ask(url):
        """The status and the body of a node's readiness check."""
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=1) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)

    def look(self, url):
        return self.ask(url)[0] == 200

    def watch(self):
        while not self.is_over:
            urls = list(self.urls())
            answers = {}
            threads = [threading.Thread(target=lambda url=url: answers.update({url: self.look(url)})) for url in urls]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.found = [url for url in urls if answers.get(url)]
            time.sleep(0.2)

    def __call__(self):
        """The ready nodes; each call puts another one first."""
        found = self.found
        first = next(self.turns) % len(found) if found else 0
        return found[first:] + found[:first]


class Client:
    """Not shared between threads."""

    def __init__(self, ready, key):
        self.ready, self.key = ready, key
        self.connections = {}
        # Requests without an answer, or with a status such as 503.
        self.refused = 0
        self.broken = 0

    def once(self, node, method, path, body, headers):
        """One answer of this node. Opens the connection again, as pools do, if the node has closed it."""
        kept = self.connections.pop(node, None)
        if kept is not None:
            try:
                return self.over(kept, node, method, path, body, headers)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                pass
        where = urlsplit(node)
        fresh = http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
        return self.over(fresh, node, method, path, body, headers)

    def over(self, connection, node, method, path, body, headers):
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        self.connections[node] = connection
        return found

    def ask(self, method, path, body=None, idempotency_key=None, patience=150, kind="application/json"):
        """The answer of the first node that gives one."""
        headers = {"authorization": f"Bearer {self.key}", "content-type": kind}
        if idempotency_key:
            headers["idempotency-key"] = idempotency_key
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        end = time.monotonic() + patience
        while True:
            for node in self.ready()[:1]:
                try:
                    status, said = self.once(node, method, path, data, headers)
                except (OSError, http.client.HTTPException):
                    self.broken += 1
                    continue
                if status < 300:
                    return json.loads(said) if said else None
                if status not in AGAIN and not (idempotency_key and status == IN_PROGRESS):
                    raise Refused(f"{method} {path}: {status} {said.decode(errors='replace')[:500]}")
                self.refused += 1
            if time.monotonic() > end:
                raise Refused(f"{method} {path}: no node answered it for {patience} s")
            time.sleep(PAUSE)
