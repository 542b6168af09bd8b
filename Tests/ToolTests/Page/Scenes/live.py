"""Scenes on a small database: what the page shows and does."""

import base64
import contextlib
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time

from browser import SOAK, SceneFailure, expect
from server import TOKEN, Server

LIST = "select code from quake.current_quake order by time desc nulls last, code"


def list_equals_database(stage):
    """Each event once, in the order of the database; few DOM nodes; nothing in the console. The first view has the
    last seven days, and says so."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/")
    browser.until_list(
        database.column(LIST.replace(" order", " where time > now() - interval '7 days' order")), "the last 7 days")
    browser.until_named("Remove the filter Past 7 days")
    browser.open(stage.url + "/?last=all")
    expected = database.column(LIST)
    found = browser.until_list(expected, "the list of the database")
    expect(found["positions"] == list(range(1, len(expected) + 1)), "the rows do not say their positions")
    expect(found["ordered"], "the rows are in the DOM in another order than that of the list")
    expect(found["nodes"] <= 1500, f"the list has {found['nodes']} DOM nodes")
    # The rows say what the database says.
    code, magnitude, place = database.run(
        "select code, magnitude, place from quake.current_quake where magnitude is not null and place is not null "
        "order by time desc, code limit 1").split("|")
    text = browser.until(f"the row of {code}", lambda: browser.row(code))
    expect(f"{float(magnitude):.1f}" in text and place in text, f"the row of {code} is: {text}")
    browser.no_errors("/")
    return f"{len(expected)} events, {found['nodes']} DOM nodes"


def change_is_visible(stage):
    """What psql commits is soon in the list: an insert, an update, a delete. `make soak` allows it a second."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/")
    # A mark lasts some seconds.
    browser.run("""
      seen.marked = [];
      new MutationObserver(() => document.querySelectorAll("#rows [data-code]").forEach((row) => {
        if (row.classList.contains("changed")) seen.marked.push(row.dataset.code);
      })).observe(document.querySelector("#rows"),
        {subtree: true, childList: true, attributes: true, attributeFilter: ["class", "data-code"]});""")
    delays = []

    def visible(what, statement, condition):
        database.run(statement)
        # From the end of psql, which is after the commit.
        begun = time.monotonic()
        browser.until(what, condition)
        delays.append(time.monotonic() - begun)

    for number in range(3 if SOAK else 1):
        code = f"zz{number}"
        visible(
            "the new event", f"insert into quake.quake (code, time, magnitude, place, longitude, latitude, depth) "
            f"values ('{code}', now(), 6.2, 'Neverland', 10, 20, 30)",
            lambda: "Neverland" in (browser.row(code) or ""))
        visible(
            "the new magnitude", f"update quake.quake set magnitude = 6.7 where code = '{code}'",
            lambda: "6.7" in (browser.row(code) or ""))
        browser.until(
            "the change is marked", lambda: browser.run("return seen.marked.includes(arguments[0])", code))
        visible(
            "the event is gone", f"delete from quake.quake where code = '{code}'",
            # A deleted event may stay for a moment, marked as deleted.
            lambda: browser.gone(code))
    if SOAK:
        # Half of them, because other programs may use the machine now and then.
        expect(sorted(delays)[len(delays) // 2] <= 1, f"changes are visible after {[round(d, 2) for d in delays]} s")
    browser.no_errors("/")
    return f"visible after at most {max(delays) * 1000:.0f} ms"


def detail_has_all(stage):
    """The detail of an event: its fields, its other ids and its revisions; in the address; Escape closes it."""
    browser, database = stage.browser, stage.database
    database.run("update quake.quake set magnitude = 5.5, depth = 12.5, ids = ',us12,xx99,' where code = 'us12'")
    for number in range(3):
        database.run(f"update quake.quake set updated = now(), nst = {number + 70} where code = 'us12'")
    database.run("update quake.quake set magnitude = 5.9 where code = 'us12'")
    browser.open(stage.url + "/?selected=us12")

    def text():
        return browser.run("return document.querySelector('#detail').hidden ? '' : document.querySelector('#detail').innerText")
    browser.until("the detail with its revisions", lambda: "5.9" in text() and "5.5" in text() and "xx99" in text())
    expect("12.5" in text(), "the depth is missing")
    revisions = browser.run("return [...document.querySelectorAll('#detail .revisions > li')].map((item) => item.innerText)")
    expect(len(revisions) == 4, f"the event has the revisions {revisions}")
    expect("5.5" in revisions[0] and "5.9" in revisions[0], f"the newest revision says: {revisions[0]}")
    # What changed nothing of the earthquake is one line, and no revision.
    expect("3 updates without a revision" in revisions[1] and "stations" in revisions[1], f"then: {revisions[1]}")
    expect("3 revisions" in text(), "the number of revisions is not that of the changes of the earthquake")
    # Every column that has a value is somewhere.
    row = json.loads(database.run("select to_json(q) from quake.quake q where code = 'us12'"))
    for column in ["place", "sig", "nst", "gap", "type"]:
        expect(row[column] is None or str(row[column]) in text(), f"{column} {row[column]} is missing")
    # A change is followed, also of a column that the list lacks, and of an event that is older than the list.
    for address, stations in [("/?selected=us12", 3571), ("/?last=all&selected=us12", 3572)]:
        browser.open(stage.url + address)
        browser.until("its revisions", lambda: browser.find("#detail .revisions li"))
        database.run(f"update quake.quake set nst = {stations} where code = 'us12'")
        browser.until("another number of stations", lambda: f"{stations:,}" in text())
    browser.run("document.querySelector('#detail').querySelector('[tabindex]').focus()")
    browser.driver.switch_to.active_element.send_keys("\ue00c")
    browser.until("the detail is closed", lambda: text() == "")
    browser.until("the address has no event", lambda: "selected" not in browser.driver.current_url)
    # Events that were looked at one after the other are one step of "back".
    entries = browser.run("return history.length")
    for _ in range(3):
        browser.run("document.querySelector('#rows [data-code]').click()")
        browser.until("the address has the event", lambda: "selected" in browser.driver.current_url)
        browser.driver.switch_to.active_element.send_keys("\ue00c")
        browser.until("it has no event", lambda: "selected" not in browser.driver.current_url)
    expect(browser.run("return history.length") == entries + 1, "each event that was looked at is a step of \"back\"")
    browser.no_errors("the detail")


def strong_events_are_notified(stage):
    """The page notifies of a new strong event, and of one that a revision makes strong."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/")
    browser.until("the list", lambda: browser.find("#rows [data-code]"))
    set_up = """
      localStorage.setItem("quake-settings", arguments[0]);
      dispatchEvent(new StorageEvent("storage", {key: "quake-settings"}));"""
    browser.run("""
      seen.notified = [];
      globalThis.Notification = class extends EventTarget {
        static permission = "granted";
        constructor(title) { super(); seen.notified.push(title); }
      };""" + set_up, json.dumps({"notifyAbove": 7}))

    def notified(magnitude):
        return browser.run("return seen.notified.some((title) => title.includes(arguments[0]))", magnitude)
    database.run(
        "insert into quake.quake (code, time, magnitude, place, longitude, latitude, depth) "
        "values ('zznote', now(), 6.8, 'Riser', 10, 20, 30)")
    browser.until("the weaker event", lambda: "6.8" in (browser.row("zznote") or ""))
    database.run("update quake.quake set magnitude = 7.1 where code = 'zznote'")
    browser.until("the notification of the event that became strong", lambda: notified("7.1"))
    database.run("update quake.quake set magnitude = 7.3 where code = 'zznote'")
    browser.until("the stronger event", lambda: "7.3" in (browser.row("zznote") or ""))
    database.run(
        "insert into quake.quake (code, time, magnitude, place, longitude, latitude, depth) "
        "values ('zznote2', now(), 7.5, 'Strong', 10, 20, 30)")
    browser.until("the notification of the new strong event", lambda: notified("7.5"))
    expect(not notified("6.8") and not notified("7.3"), "the page notifies of what did not become strong")
    browser.run(set_up, "{}")
    database.run("delete from quake.quake where code like 'zznote%'")
    browser.no_errors("notifications")


def edits_need_a_token(stage):
    """Without a token there is nothing to edit with, and the server refuses; a wrong token is said to be wrong."""
    browser = stage.browser
    browser.open(stage.url + "/")
    browser.until("the button for a token", lambda: browser.find("#token"))
    expect(not browser.find("#select:not([hidden])"), "events can be selected without a token")
    before = stage.database.run("select quake.latest_token()")
    for method, path in [("DELETE", "quakes/us5"), ("POST", "validate?every-event"), ("POST", "refresh"),
                         ("POST", "quakes/us5/restore"), ("POST", "edits/1/restore")]:
        status = browser.driver.execute_async_script(
            "fetch('/v1/' + arguments[1], {method: arguments[0]}).then((a) => arguments[2](a.status))", method, path)
        expect(status == 401, f"{method} {path}: {status}")
    browser.take_messages()
    # A token is checked when it is entered.
    type_token(browser, "wrong")
    browser.until("the refusal is said", lambda: "does not accept this token" in browser.run(
        "return document.querySelector('dialog[open] .problem')?.textContent ?? ''"))
    expect(not browser.find("#select:not([hidden])"), "events can be selected with a wrong token")
    expect(browser.run("return sessionStorage.getItem('quake-edit-token')") is None, "a wrong token is kept")
    expect(stage.database.run("select quake.latest_token()") == before, "something changed")
    browser.take_messages()
    browser.run("document.querySelectorAll('dialog').forEach((dialog) => dialog.close())")


def type_token(browser, token):
    browser.press_id("#token")
    field = browser.until("the field for the token", lambda: browser.find("#token-field"))[0]
    field.send_keys(token + "\n")


def enter_token(browser, token):
    type_token(browser, token)
    browser.until("the dialog is closed", lambda: not browser.find("dialog[open]"))


def edits_work_with_a_token(stage):
    """Delete, undo, validate, undo, and refresh."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/?last=all")
    enter_token(browser, TOKEN)
    codes = database.column(LIST + " limit 3")

    def select():
        browser.forget_toasts()
        if browser.find("#select[aria-pressed=false]"):
            browser.press_id("#select")
        for code in codes[:2]:
            browser.click_row(code)
        browser.until("two rows are selected", lambda: len(browser.find("#rows [aria-selected=true]")) == 2)

    def confirm(name):
        browser.until("a dialog that asks", lambda: browser.find("dialog[open]"))
        browser.press(name, "dialog[open]")

    def count(condition):
        return int(database.run(
            f"select count(*) from quake.quake where code in ('{codes[0]}', '{codes[1]}') and {condition}"))

    select()
    browser.press("Delete", "#list")
    expect(count("true") == 2, "events are deleted before the question is answered")
    confirm("Delete")
    browser.keep_undo()
    browser.until("the events are deleted", lambda: count("true") == 0)
    browser.until("the rows are gone", lambda: all(browser.gone(code) for code in codes[:2]))
    browser.press("Undo", "#toasts")
    browser.until("the events are there again", lambda: count("true") == 2)
    browser.until("the rows are there again", lambda: not any(browser.gone(code) for code in codes[:2]))
    expect(database.run("select string_agg(distinct author, ',') from quake.edit") == "ann", "the author is not that of the token")

    select()
    browser.press("Validate", "#list")
    confirm("Validate")
    browser.keep_undo()
    browser.until("the events are validated", lambda: count("validated") == 2)
    browser.press("Undo", "#toasts")
    browser.until("the validation is undone", lambda: count("validated") == 0)
    validate_all_shown_of_the_past(stage)
    restore_lists_what_is_deleted_now(stage)
    browser.open(stage.url + "/?last=all")

    feed = os.path.join(stage.folder, "feed.geojson")
    with open(feed, "w", encoding="utf-8") as file:
        json.dump({"type": "FeatureCollection", "metadata": {"generated": 1795000000000}, "features": []}, file)
    worker = subprocess.Popen(
        [os.path.join(stage.tools, "quake-ingest"), "run", "--database", database.conninfo, "--feed", f"{feed}@1h",
         "--refresh-interval", "0s"], stderr=subprocess.PIPE, text=True)
    try:
        for line in worker.stderr:
            if " seen" in line or "feed.geojson" in line and "polling" not in line:
                break
        browser.forget_toasts()
        browser.watch_toasts()
        browser.press_id("#refresh")
        shown = browser.until("the result of the refresh", lambda: browser.run("return seen.toasts"))
        expect(not any(toast["error"] for toast in shown), f"the refresh failed: {shown}")
        expect(int(database.run("select count(*) from quake.refresh_request")) >= 1, "no refresh was requested")
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.stderr.close()
        worker.wait(timeout=120)
    browser.press_id("#token")
    browser.until("the token is forgotten", lambda: browser.find("#select[hidden]"))
    browser.forget_toasts()
    browser.no_errors("edits")


def validate_all_shown_of_the_past(stage):
    """In the past, all that is shown are the events that passed the filter then."""
    browser, database = stage.browser, stage.database
    shown = database.column(
        f"select code from quake.as_of('{stage.first_token}') where superseded_by is null and withdrawn_at is null "
        "and magnitude >= 5.8 order by code")
    other = database.column(f"{LIST.replace(' order', ' where magnitude < 3 order')} limit 1")[0]
    magnitude = database.run(f"select magnitude from quake.quake where code = '{other}'")
    database.run(f"update quake.quake set magnitude = 8.8 where code = '{other}'")
    browser.open(f"{stage.url}/?as-of={stage.first_token}&min-magnitude=5.8", live=False)
    browser.until("the events of then", lambda: browser.number_shown() == len(shown))
    browser.press_id("#select")
    browser.press("Validate all shown", "#list")
    browser.press("Validate", "dialog[open]")
    validated = "select code from quake.quake where validated order by code"
    there = [code for code in shown if code in database.column("select code from quake.quake")]
    browser.until("they are validated, and no others", lambda: database.column(validated) == there)
    browser.keep_undo()
    browser.press("Undo", "#toasts")
    browser.until("that is undone", lambda: database.column(validated) == [])
    database.run(f"update quake.quake set magnitude = {magnitude} where code = '{other}'")


def restore_lists_what_is_deleted_now(stage):
    """Events that were restored are not offered, also if they are older than the list."""
    browser, database = stage.browser, stage.database
    deletions = json.loads(stage.server.get("/v1/history?op=delete&descending=true&limit=50"))["changes"]
    there = database.column("select code from quake.quake")
    deleted = {change["code"] for change in deletions} - set(there)
    expect(any(change["code"] in there for change in deletions), "no deleted event was restored")
    # The list of an hour of the past has none of them, whatever the worker that the tabs share has loaded.
    browser.open(f"{stage.url}/?as-of={stage.first_token}&last=1h", live=False)
    browser.press_id("#select")
    browser.press("Restore…", "#list")
    browser.until("the deleted events", lambda: browser.find("dialog[open]"))
    count = len(browser.find(".deleted-list li"))
    expect(count == len(deleted), f"{count} events are offered; {len(deleted)} are deleted")


def past_is_what_as_of_says(stage):
    """The list as of a token and as of a time, and back to now."""
    browser, database = stage.browser, stage.database
    token = stage.first_token
    expected = database.column(
        f"select code from quake.as_of('{token}') where superseded_by is null and withdrawn_at is null "
        "order by time desc nulls last, code")
    now = database.column(LIST)
    expect(expected != now, "the past is the same as now")
    time_of = database.run(
        "select to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from quake.change_transaction "
        f"where token = split_part('{token}', '.', 1)::bigint")
    for point in [token, time_of]:
        browser.open(f"{stage.url}/?as-of={point}", live=False)
        browser.until("the page says that it shows the past", lambda: browser.find("#header [data-kind=past]"))
        browser.until_list(expected, f"the list as of {point}")
    # What is committed meanwhile is not shown.
    database.run("insert into quake.quake (code, time, magnitude, place) values ('later', now(), 7, 'Later')")
    browser.press_id("#back-to-live")
    now = database.column(LIST)
    browser.until_list(now, "the list of now")
    database.run("delete from quake.quake where code = 'later'")
    browser.no_errors("the past")
    return f"{len(expected)} events then, {len(now)} now"


def one_stream(stage):
    """Waits until the server has one stream."""
    counts = []

    def is_one():
        counts.append(stage.server.metric("quake_stream_clients"))
        return counts[-1] == 1
    try:
        stage.browser.until("one stream", is_one, pause=0.05)
    except SceneFailure as failure:
        raise SceneFailure(f"{failure}; the server has {counts[-1]} streams") from None


def tabs_share_a_stream(stage):
    """Two tabs, one stream of the server; both show a change."""
    browser = stage.browser
    browser.open(stage.url + "/")
    one_stream(stage)
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    try:
        browser.watch()
        browser.open(stage.url + "/?min-magnitude=1")
        expect(stage.server.metric("quake_stream_clients") == 1, "the second tab has a stream of its own")
        stage.database.run("insert into quake.quake (code, time, magnitude, place) values ('both', now(), 5, 'Both')")
        browser.until("the second tab shows it", lambda: browser.row("both"))
        browser.no_errors("the second tab")
        browser.driver.close()
    finally:
        browser.driver.switch_to.window(first)
    browser.until("the first tab shows it", lambda: browser.row("both"))
    stage.database.run("delete from quake.quake where code = 'both'")
    browser.until("the first tab goes on alone", lambda: browser.gone("both"))
    expect(stage.server.metric("quake_stream_clients") == 1, "there is not one stream")
    browser.no_errors("the first tab")


def tabs_without_shared_workers_stay_right(stage):
    """Two tabs of a browser without SharedWorker, each with a stream of its own: both show each change, and one of
    them goes on when the other is closed."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/")
    browser.run("localStorage.setItem('quake-no-shared-worker', '1')")
    first = browser.driver.current_window_handle
    try:
        browser.open(stage.url + "/")
        browser.driver.switch_to.new_window("tab")
        browser.watch()
        browser.open(stage.url + "/?min-magnitude=1")
        expect(stage.server.metric("quake_stream_clients") >= 2, "the tabs do not have a stream each")
        database.run("insert into quake.quake (code, time, magnitude, place) values ('each', now(), 5, 'Each')")
        browser.until("the second tab shows it", lambda: browser.row("each"))
        browser.no_errors("the second tab")
        browser.driver.close()
        browser.driver.switch_to.window(first)
        browser.until("the first tab shows it", lambda: browser.row("each"))
        database.run("delete from quake.quake where code = 'each'")
        browser.until("the first tab goes on alone", lambda: browser.gone("each"))
        browser.no_errors("the first tab")
    finally:
        browser.driver.switch_to.window(first)
        browser.run("localStorage.removeItem('quake-no-shared-worker')")


def a_read_only_page_has_no_edits(stage):
    """With --read-only-page there is nothing to edit with, also with a token that was entered before."""
    browser = stage.browser
    server = Server(stage.tools, stage.database, ["--read-only-page"])
    try:
        browser.open(server.url + "/")
        browser.run("sessionStorage.setItem('quake-edit-token', arguments[0])", TOKEN)
        browser.open(server.url + "/?selected=us12")
        browser.until("the page is complete", lambda: browser.named("Settings", "#header"))
        browser.until("the detail", lambda: "us12" in browser.run("return document.querySelector('#detail').innerText"))
        for selector in ["#token", "#select", "#refresh"]:
            expect(not browser.find(selector), f"the page has {selector}")
        for name in ["Delete", "Validate", "Restore"]:
            expect(not browser.named(name), f"the page has the button {name}")
        browser.no_errors("the read-only page")
    finally:
        server.stop()


@contextlib.contextmanager
def site(handler):
    """A server of another site on this machine, in a thread of its own."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Tiles(http.server.BaseHTTPRequestHandler):
    """A server of map tiles: each is one grey pixel."""

    PIXEL = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==")

    def do_GET(self):
        self.server.paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(self.PIXEL)))
        self.end_headers()
        self.wfile.write(self.PIXEL)

    def log_message(self, *arguments):
        pass


def tiles_come_from_their_server(stage):
    """With --tile-url the map asks that server for tiles, which the policy allows."""
    browser = stage.browser
    with site(Tiles) as tiles:
        tiles.paths = []
        server = Server(
            stage.tools, stage.database,
            ["--tile-url", f"http://127.0.0.1:{tiles.server_port}/{{z}}/{{x}}/{{y}}.png?key=7"])
        try:
            browser.open(server.url + "/")
            browser.until("tiles", lambda: len(tiles.paths) >= 2)
            for path in tiles.paths:
                found = re.fullmatch(r"/(\d+)/(\d+)/(\d+)\.png\?key=7", path)
                expect(found and max(int(found[2]), int(found[3])) < 2 ** int(found[1]), f"no tile: {path}")
            browser.no_errors("the page with tiles")
            # The page's requests end before the servers do.
            browser.driver.get("about:blank")
        finally:
            server.stop()


def recovers_from_a_restart(stage):
    """Without the server the page says so; with it again, it shows what was committed meanwhile."""
    browser, server = stage.browser, stage.server
    browser.open(stage.url + "/?last=all")
    # What the page has not loaded before, it cannot load without the server.
    browser.until_ready()
    browser.until("the number of events", lambda: browser.number_shown() is not None)
    whole = browser.shown()
    server.stop()
    browser.until("the page says that it is offline", lambda: browser.run(
        "return document.querySelector('#header [data-kind]')?.dataset.kind !== 'live'"))
    expect(len(browser.find("#rows [role=option]")) > 5, "the list is gone while the server is away")
    # What is in memory answers as before: the number, a filter, and what the list knows of an event.
    expect(browser.shown() == whole, f"the number {whole} is gone: {browser.shown()}")
    browser.find("#search")[0].send_keys("no such place")
    browser.until("the filter that lets nothing pass", lambda: "No earthquake passes the filters" in browser.run(
        "return document.querySelector('#list .state:not([hidden])')?.innerText ?? ''"))
    browser.press("Remove the filter “no such place”", "#list")
    browser.click_row("us12")
    browser.until("what is known of the event", lambda: all(part in browser.run(
        "return document.querySelector('#detail').innerText") for part in ["5.9", "could not be loaded"]))
    browser.press("Close the details")
    stage.database.run(
        "insert into quake.quake (code, time, magnitude, place) values ('meanwhile', now(), 5, 'Meanwhile');"
        "delete from quake.quake where code = 'us20'")
    server.start()
    begun = time.monotonic()
    browser.until_live()
    browser.until("the event that was committed meanwhile", lambda: browser.row("meanwhile"))
    took = time.monotonic() - begun
    expected = stage.database.column(LIST)
    browser.until_list(expected, "the list of the database")
    # Requests fail while there is no server; nothing else may.
    errors = [m["message"] for m in browser.take_messages()
              if m["level"] == "SEVERE" and "ERR_CONNECTION" not in m["message"]
              and "ERR_INCOMPLETE_CHUNKED" not in m["message"] and "ERR_EMPTY_RESPONSE" not in m["message"]]
    expect(not errors, f"the console has: {errors[:5]}")
    return f"live again after {took:.1f} s"


class Frames(http.server.BaseHTTPRequestHandler):
    """A page of another site, with the map and the page in frames."""

    def do_GET(self):
        frames = "".join(
            f'<iframe name="{name}" src="{self.server.page}{path}" width="640" height="400"></iframe>'
            for name, path in [("map", "/embed?min-magnitude=3"), ("page", "/")])
        body = f"<!doctype html><title>Another site</title>{frames}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def frame_is_embeddable(stage):
    """/embed shows the map in a frame of another site; / refuses to be framed."""
    browser = stage.browser
    count = len(stage.database.column(
        "select code from quake.current_quake where magnitude >= 3 and coalesce(type, 'earthquake') = 'earthquake'"))
    browser.take_messages()
    with site(Frames) as other:
        other.page = stage.url
        browser.open(f"http://127.0.0.1:{other.server_port}/", live=False)
        browser.driver.switch_to.frame("map")
        browser.until("the map of the frame", lambda: browser.run(
            "const map = document.querySelector('canvas'); return map !== null && map.clientWidth > 100"))
        browser.until("its number of earthquakes", lambda: browser.run(
            "return document.querySelector('#state').textContent").startswith(f"{count} earthquakes"))
        browser.driver.switch_to.default_content()
        messages = []

        def refused():
            messages.extend(browser.take_messages())
            return any("frame-ancestors" in message["message"] for message in messages)
        browser.until("the refusal of the page in a frame", refused)
        browser.driver.switch_to.frame("page")
        expect(not browser.find("#list"), "the page is shown in a frame of another site")
        browser.driver.switch_to.default_content()
    errors = [message["message"] for message in messages if "frame-ancestors" not in message["message"]
              and message["level"] in ("SEVERE", "WARNING") and "favicon.ico" not in message["message"]]
    expect(not errors, f"the console of the frame has: {errors[:5]}")


def net_differences_since_a_point(stage):
    """What changed since a point: only what differs, whatever happened in between."""
    browser, database = stage.browser, stage.database
    database.run("insert into quake.quake (code, time, magnitude, place) values ('net1', now(), 5, 'Gone since')")
    point = database.run("select token || '.' || nonce from quake.change_transaction order by token desc limit 1")
    database.run("insert into quake.quake (code, time, magnitude, place) values ('net2', now(), 5, 'New since')")
    database.run("update quake.quake set magnitude = 5.1 where code = 'net2'")
    database.run("delete from quake.quake where code = 'net1'")
    database.run("update quake.quake set place = place || '!' where code = 'us15'")
    for magnitude in ["magnitude + 1", "magnitude - 1"]:
        database.run(f"update quake.quake set magnitude = {magnitude} where code = 'us16'")
    browser.open(f"{stage.url}/?since={point}")
    columns = browser.until("the differences", lambda: browser.run(
        "const columns = [...document.querySelectorAll('.time-columns section')].map((column) => column.innerText);"
        "return columns.length === 3 && columns"))
    for column, heading, place in zip(columns, ["1 new", "1 changed", "1 gone"], ["New since", "!", "Gone since"]):
        expect(column.startswith(heading) and place in column, f"the differences are {columns}")
    database.run("delete from quake.quake where code = 'net2'")
    browser.no_errors("the differences")


def charts_say_what_the_statistics_say(stage):
    """The charts of a filter have its number of events, and the completeness and b-value of the API."""
    browser = stage.browser
    statistics = json.loads(stage.server.get("/v1/stats?min-magnitude=1"))
    types = json.loads(stage.server.get("/v1/stats?by=type&min-magnitude=1"))["groups"]
    count = sum(group["count"] for group in types if group["key"] in (None, "earthquake"))
    browser.open(stage.url + "/?min-magnitude=1")
    browser.press_id("#charts-toggle")

    def summaries():
        texts = browser.run("return [...document.querySelectorAll('.chart-summary')].map((text) => text.textContent)")
        return texts if len(texts) == 3 and texts[2] else None
    time_chart, _, frequency = browser.until("the three charts", summaries)
    expect(time_chart.startswith(f"{count} earthquakes, "), f"the first chart says: {time_chart}")
    browser.until("the number of the chart above the list", lambda: time_chart.split(";")[0] == browser.shown())
    found = re.match(r"Complete from M ([\d.]+)(?:; b-value ([\d.]+) ±|\. There is no )", frequency)
    expect(found and abs(float(found[1]) - statistics["completeness"]) < 0.05
           and (found[2] is None) == (statistics["b_value"] is None)
           and abs(float(found[2] or 0) - (statistics["b_value"] or 0)) < 0.01,
           f"the last chart says: {frequency}, and the API: {statistics}")
    browser.no_errors("the charts")
    return frequency


def every_language_has_its_texts(stage):
    """German and Spanish: texts, numbers and the language that the page says it has."""
    browser = stage.browser
    browser.open(stage.url + "/")
    try:
        for language, settings in [("de", "Einstellungen"), ("es", "Ajustes")]:
            browser.run("localStorage.setItem('quake-settings', JSON.stringify({language: arguments[0]}))", language)
            browser.open(stage.url + "/?selected=us12")
            browser.until("the revisions", lambda: browser.find("#detail .revisions li"))
            browser.press(settings, "#header")
            browser.until("the settings", lambda: browser.find("dialog[open]"))
            expect(browser.run("return document.documentElement.lang") == language, f"the page is not in {language}")
            magnitude = browser.until("the magnitude", lambda: browser.run(
                "return document.querySelector('#detail .detail-magnitude b')?.textContent"))
            expect("," in magnitude, f"{language} writes a magnitude as {magnitude}")
            # A text that is missing is shown by its key, such as list.name.
            keys = browser.run("""
              const texts = [...document.querySelectorAll("body *")].flatMap((element) => [
                element.getAttribute("aria-label"), element.getAttribute("title"),
                ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data)]);
              return texts.filter((text) => /^[a-z]+([.][A-Za-z0-9:]+)+$/.test(text?.trim() ?? ""));""")
            expect(not keys, f"texts without {language}: {keys[:5]}")
            browser.no_errors(language)
    finally:
        browser.run("localStorage.removeItem('quake-settings')")


def text_of_feeds_stays_text(stage):
    """What a feed writes into texts is shown, and is never taken for HTML."""
    browser = stage.browser
    place = '"><img src=x onerror="document.title=1"><script>document.title=2</script> \u202etxt'
    stage.database.run(
        "set quake.author = '<mark>ann</mark>'; insert into quake.quake (code, time, magnitude, place, type, status, net, url) "
        f"values ('<u>1', now(), 6.5, '{place}', '<s>x</s>', '<em>', '<b>', 'javascript:document.title=3')")
    browser.open(stage.url + "/?selected=%3Cu%3E1")
    browser.until("the row", lambda: "<img src=x" in (browser.row("<u>1") or ""))
    browser.until("the detail", lambda: "<img src=x" in browser.run("return document.querySelector('#detail').innerText"))
    browser.until("its author", lambda: "<mark>ann</mark>" in browser.run("return document.querySelector('#detail').innerText"))
    made = browser.run("return [...document.querySelectorAll('img[src=x], #list u, #list s, #detail u, #detail mark, "
                       "#detail img, #detail script, a[href^=javascript]')].map((element) => element.outerHTML)")
    expect(made == [], f"a text became HTML: {made}")
    title = browser.run("return document.title")
    expect(title not in ["1", "2", "3"], "a text was run")
    # What turns the direction of a text would turn the window's title as well.
    heading = browser.run("return document.querySelector('#detail h2').textContent")
    expect("txt" in title and "\u202e" not in title + heading, f"the titles are {title} and {heading}")
    # A name without spaces is no wider than the details.
    stage.database.run(f"update quake.quake set place = '{'Llanfair' * 12}' where code = '<u>1'")
    browser.until("the long name", lambda: "LlanfairLlanfair" in browser.run(
        "return document.querySelector('#detail h2').textContent"))
    wide = browser.run("return [...document.querySelectorAll('.detail-body, .detail-body *')].filter((element) => "
                       "element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)"
                       ".map((element) => element.outerHTML.slice(0, 200))")
    expect(wide == [], f"the name is wider than the details: {wide}")
    stage.database.run("delete from quake.quake where code = '<u>1'")
    browser.no_errors("an event with HTML in its texts")


SCENES = [
    list_equals_database, change_is_visible, detail_has_all, strong_events_are_notified, edits_need_a_token,
    edits_work_with_a_token, past_is_what_as_of_says, tabs_share_a_stream,
    tabs_without_shared_workers_stay_right, a_read_only_page_has_no_edits, tiles_come_from_their_server,
    recovers_from_a_restart, frame_is_embeddable, text_of_feeds_stays_text, net_differences_since_a_point,
    charts_say_what_the_statistics_say, every_language_has_its_texts,
]
