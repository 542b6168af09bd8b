"""A receiver of webhooks, whose behaviour the path of each request chooses.

receiver.py [--tls CERT KEY]: prints its port, and for each request an object as JSON on a line. The environment may
have WEBHOOK_SECRETS, keys between spaces: the signature is verified with each by the library standardwebhooks.

/ok              200
/status/N        status N, with an answer that repeats the header Authorization
/later/WAIT      status 429 with WAIT, in seconds or as a date, as Retry-After
/fail/COUNT/PATH status 500 for the first COUNT requests, then as PATH
/to/STATUS/URL   redirects to URL, which is percent-encoded
/stall           answers nothing
/half            a head that promises more than comes
/reset           closes the connection with a reset
/endless         200, and a body without end
"""

import gzip
import http.server
import json
import os
import socket
import ssl
import struct
import sys
import threading
import urllib.parse

failures = {}
lock = threading.Lock()


def verified(body, headers):
    """Whether the signature is right for each key; None without keys."""
    secrets = os.environ.get("WEBHOOK_SECRETS", "").split()
    if not secrets:
        return None
    from standardwebhooks import Webhook, WebhookVerificationError

    results = []
    for secret in secrets:
        try:
            Webhook(secret).verify(body, dict(headers), json_parse=False)
            results.append(True)
        except WebhookVerificationError as error:
            results.append(str(error))
    return results


def events(body, headers):
    """The CloudEvents of a body, as their SDK reads them."""
    from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
    from cloudevents.core.formats.json import JSONFormat

    kind = headers["Content-Type"].split(";")[0]
    if kind == "application/cloudevents+json":
        read = [from_structured_event(HTTPMessage({"content-type": kind}, body))]
    elif kind == "application/cloudevents-batch+json":
        read = [JSONFormat().read(None, json.dumps(part)) for part in json.loads(body)]
    else:
        return None
    return [
        {"id": e.get_id(), "source": e.get_source(), "type": e.get_type(), "subject": e.get_subject(), "data": e.get_data(), "time": str(e.get_time())}
        for e in read
    ]


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def receive(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        encoding = self.headers.get("Content-Encoding")
        if encoding == "gzip":
            body = gzip.decompress(body)
        line = {
            "method": self.command, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()},
            # A test reads the lines when its request has been answered, and a pipe takes 64 KiB.
            "body": body[:16384].decode(errors="ignore"), "size": len(body), "verified": verified(body, self.headers), "peer": self.client_address[1],
            "events": events(body, self.headers) if body else None,
        }
        with lock:
            print(json.dumps(line), flush=True)
        self.behave(self.path)

    do_POST = do_GET = receive

    def behave(self, path):
        words = path.split("/")[1:]
        match words:
            case ["ok", *_]:
                self.answer(200, b"taken")
            case ["status", status]:
                secret = self.headers.get("Authorization", "")
                self.answer(int(status), f"because\x1b[31m\n of {secret} at {path}".encode())
            case ["later", wait]:
                self.answer(429, b"", {"Retry-After": urllib.parse.unquote(wait)})
            case ["fail", count, *rest]:
                with lock:
                    failures[path] = failures.get(path, 0) + 1
                    fails = failures[path] <= int(count)
                if fails:
                    self.answer(500, b"not yet")
                else:
                    self.behave("/" + "/".join(rest))
            case ["to", status, url]:
                self.answer(int(status), b"elsewhere", {"Location": urllib.parse.unquote(url)})
            case ["stall"]:
                threading.Event().wait()
            case ["half"]:
                self.answer(200, b"x", {"Content-Length": "1000"})
                self.close_connection = True
            case ["reset"]:
                # Closing with unsent data dropped resets the connection.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
            case ["endless"]:
                self.send_response(200)
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(b"z" * 65536)
                except OSError:
                    self.close_connection = True
            case _:
                self.answer(404, b"no such behaviour")

    def answer(self, status, body, headers={}):
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("0.0.0.0", 0), Receiver)
if sys.argv[1:2] == ["--tls"]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
