"""quake-serve on a port of its own of this machine, and the database that it serves."""

import hashlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request

TOKEN = "a secret that is hard to guess"


class Server:
    def __init__(self, tools, database, arguments=()):
        self.tools, self.database, self.arguments = tools, database, list(arguments)
        # Nothing listens on this socket. While it is open, the system gives its port to no program that asks for any
        # free one, also while the server is stopped.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.port = self.reserved.getsockname()[1]
        self.start()

    def start(self):
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        self.process = subprocess.Popen(
            [os.path.join(self.tools, "quake-serve"), "--database", self.database.conninfo,
             "--listen", f"127.0.0.1:{self.port}", "--no-access-log", "--edit-token", f"ann:{digest}",
             *self.arguments],
            stderr=subprocess.PIPE, text=True)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            if re.search(rf"serving on http://127\.0\.0\.1:{self.port}\b", line):
                break
        else:
            raise RuntimeError("quake-serve did not start: " + "".join(self.log))
        # An unread pipe would stop the server.
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=120) as answer:
            return answer.read().decode()

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)$", self.get("/metrics"), re.MULTILINE).group(1))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=120)


class Database:
    def __init__(self, psql, conninfo):
        self.psql, self.conninfo = psql, conninfo

    def run(self, statements):
        return subprocess.run(
            [self.psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo, "-c", statements],
            check=True, capture_output=True, text=True).stdout.strip()

    def elsewhere(self, *statements):
        """Runs statements in another database of the same server."""
        words = [word for statement in statements for word in ("-c", statement)]
        subprocess.run(
            [self.psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", f"{self.conninfo} dbname=postgres", *words],
            check=True, capture_output=True, text=True)

    def column(self, query):
        text = self.run(query)
        return text.split("\n") if text else []

    def commits(self, statements, each):
        """A session that runs statements at a rate; returns a function that ends it and says how many ran."""
        process = subprocess.Popen(
            [self.psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1)
        stopping, count = threading.Event(), [0]

        def work():
            due = time.monotonic()
            while not stopping.is_set():
                process.stdin.write(next(statements) + "\n")
                process.stdin.flush()
                count[0] += 1
                due += each
                stopping.wait(max(0, due - time.monotonic()))

        thread = threading.Thread(target=work)
        thread.start()

        def end():
            stopping.set()
            thread.join()
            process.stdin.close()
            if process.wait(timeout=120) != 0:
                raise RuntimeError("psql failed")
            return count[0]
        return end
