"""A receiver of webhooks on 127.0.0.1 that is not ours.

The first part of a path says how it behaves, the second one who asks:
  /good/NAME   takes everything
  /bad/NAME    fails, stalls, resets the connection, and answers 429 and 500 at random; sometimes after it has taken
  /held/NAME   answers only after SIGUSR2
Each request that it has taken is a line of the file, written before the answer: time, name, id and body as JSON.

The process that has the socket starts another one that serves. SIGUSR1 kills that at once, and starts the next one.
"""
import json, os, random, select, signal, socket, socketserver, struct, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer

path, seed = sys.argv[1], int(sys.argv[2])
released = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *ignored):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        behaviour, name = self.path.strip("/").split("/")
        if behaviour == "held":
            released.wait()
        luck = random.random() if behaviour == "bad" else 1
        if luck < 0.06:
            return self.answer(500)
        if luck < 0.07:
            return self.answer(429, ("Retry-After", "1"))
        if luck < 0.09:
            return self.reset()
        if luck < 0.095:
            select.select([self.connection], [], [], 4)  # until the sender gives up, or for 4 seconds
        line = {"at": time.time(), "name": name, "id": self.headers["webhook-id"], "body": json.loads(body)}
        os.write(log, (json.dumps(line) + "\n").encode())
        if 0.095 <= luck < 0.12:
            return self.reset() if luck < 0.11 else self.answer(500)
        self.answer(200)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def answer(self, status, *headers):
        try:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *ignored):
        pass


server = Server(("127.0.0.1", 0), Handler)
log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
child = 0
number = 0
watched, lifeline = os.pipe()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM})


def start():
    global child, number
    number += 1
    child = os.fork()
    if child == 0:
        random.seed(seed * 1000 + number)
        signal.signal(signal.SIGUSR2, lambda *ignored: released.set())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2, signal.SIGTERM})
        os.close(lifeline)
        threading.Thread(target=end_with_parent, daemon=True).start()
        server.serve_forever(poll_interval=0.05)


def end_with_parent():
    os.read(watched, 1)  # returns when no process has the other end any more
    os._exit(0)


start()
print(server.server_address[1], flush=True)
while True:
    caught = signal.sigwait({signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM})
    if caught == signal.SIGUSR2:
        os.kill(child, signal.SIGUSR2)
        continue
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if caught == signal.SIGTERM:
        break
    start()
