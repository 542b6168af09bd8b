"""Reads the stream of changes with clients for Server-Sent Events and WebSockets that others wrote.

read_stream.py CLIENT URL COUNT: reads COUNT changes from the beginning, and reconnects with the last id after every
third one. Prints "token position op code" for each, and fails if the client delivers anything unexpected.
"""

import json
import sys


def httpx_events(url, last_id):
    import httpx
    from httpx_sse import connect_sse

    with httpx.Client(timeout=120) as client:
        headers = {"Last-Event-ID": last_id} if last_id else {}
        with connect_sse(client, "GET", url, headers=headers) as source:
            source.response.raise_for_status()
            for event in source.iter_sse():
                yield event.event, event.id, event.data


def sseclient_events(url, last_id):
    import requests
    import sseclient

    headers = {"Accept": "text/event-stream"}
    if last_id:
        headers["Last-Event-ID"] = last_id
    with requests.get(url, stream=True, timeout=120, headers=headers) as response:
        response.raise_for_status()
        for event in sseclient.SSEClient(response).events():
            yield event.event, event.id, event.data


def read_live_feed(url, count):
    """Prints "action id" for each message of the live feed, and reconnects with the last cursor."""
    from websockets.sync.client import connect

    cursor, messages = "0", 0
    while messages < count:
        address = url.replace("http:", "ws:") + "/standing_order/websocket?after=" + cursor
        # With a limit the client would not read on, and so not see the answer to its ping.
        with connect(
                address, max_queue=None, open_timeout=120, close_timeout=120, ping_interval=None) as socket:
            for _ in range(min(3, count - messages)):
                message = json.loads(socket.recv(timeout=120))
                print(message["action"], message["data"]["id"])
                cursor = message["cursor"]
                messages += 1
            if not socket.ping().wait(120):
                sys.exit("a ping was not answered")


def main():
    if sys.argv[1] == "websockets":
        return read_live_feed(sys.argv[2], int(sys.argv[3]))
    name, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    events = {"httpx-sse": httpx_events, "sseclient-py": sseclient_events}[name]
    last_id, changes, heartbeats = None, 0, 0
    while changes < count or heartbeats < 2:
        for kind, event_id, data in events(url + "/v1/changes?after=0", last_id):
            if not data or not event_id:
                sys.exit(f"an event without data or id: {kind} {event_id!r} {data!r}")
            members = json.loads(data)
            if kind == "heartbeat":
                if members["op"] != "heartbeat" or members["token"] != event_id:
                    sys.exit(f"not a heartbeat: {data}")
                heartbeats += 1
                last_id = event_id
                if changes >= count and heartbeats >= 2:
                    break
                continue
            if kind != "message":
                sys.exit(f"an unexpected event {kind}: {data}")
            print(members["token"], members["position"], members["op"], members["code"])
            last_id = event_id
            changes += 1
            if changes > count:
                sys.exit("more changes than there are")
            if changes % 3 == 0:
                break


main()
