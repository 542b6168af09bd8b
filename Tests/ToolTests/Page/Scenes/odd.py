"""Scenes with what is rare: odd addresses, events that lack something, the edges of the history."""

import json
import os
import re
import subprocess

from browser import expect
from server import Database, Server


def odd_addresses_do_no_harm(stage):
    """What is not valid in an address is left out, without an error, and is named; the rest selects, and stays in the
    address."""
    browser = stage.browser
    ignored = [
        "min-magnitude=abc", "max-depth=1e999", "bbox=1,2,3", "sort=__proto__", "color=constructor", "map=0,0,99",
    ]
    browser.open(f"{stage.url}/?{'&'.join(ignored)}&last=24h", live=False)
    expected = len(json.loads(stage.server.get("/v1/table?columns=code&limit=100000&last=1d"))["rows"])
    browser.until("the events of a day", lambda: browser.number_shown() == expected)
    notice = browser.until("what is ignored", lambda: browser.run(
        "return document.querySelector('#filters .notice:not([hidden])')?.innerText"))
    expect(all(pair.split("=")[0] in notice for pair in ignored), f"the page says: {notice}")
    # A change of the view writes the address anew.
    browser.press_id("#map input[value=depth]")
    browser.until("the address", lambda: browser.driver.current_url == f"{stage.url}/?last=1d&color=depth")
    browser.no_errors("an odd address")


def a_page_of_which_a_file_is_missing_says_so(stage):
    """On a network that fails for a moment, a file of the page may not arrive. The page is not empty then."""
    browser = stage.browser
    browser.cdp("Network.enable")
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)
    browser.cdp("Network.setBlockedURLs", urls=["*/state/view.js"])
    try:
        browser.open(stage.url, live=False)
        browser.until("what has happened", lambda: "could not be loaded" in browser.run(
            "return document.querySelector('#list').innerText"))
        browser.take_messages()
    finally:
        browser.cdp("Network.setBlockedURLs", urls=[])
        browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
        browser.cdp("Network.disable")
    browser.open(stage.url)
    expect("could not be loaded" not in browser.run("return document.body.innerText"), "the page says it still")
    browser.no_errors("a missing file")


def an_empty_list_is_not_waited_for(stage):
    """Where nothing passes the filter, the map and the other parts come at once. They must not depend on the timer
    that ends the wait for a list: here, no timer of a second or more fires."""
    browser = stage.browser
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
      const wait = setTimeout;
      window.setTimeout = (action, delay = 0, ...rest) => delay >= 1000 ? 0 : wait(action, delay, ...rest);""")
    try:
        browser.open(f"{stage.url}/?min-magnitude=6&max-magnitude=5", live=False)
        browser.until("the map", lambda: browser.find("#map input[value=depth]"))
        browser.until("the number of events", lambda: browser.number_shown() == 0)
        browser.no_errors("an empty list")
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def events_without_a_position_are_not_on_the_map(stage):
    """An event without an epicentre is in the list, and in no box; its details say that its position is unknown."""
    browser = stage.browser
    box = "bbox=-1,-1,1,1"
    stage.database.run("insert into quake.quake (code, time, magnitude, place) values ('nowhere', now(), 6, 'Nowhere')")
    try:
        browser.open(stage.url + "/?selected=nowhere")
        browser.until("its details", lambda: "position unknown" in browser.run(
            "return document.querySelector('#detail').innerText"))
        expect("0.000°" not in browser.run("return document.querySelector('#detail').innerText"), "it has a position")
        browser.until("its row", lambda: browser.row("nowhere"))
        pulse = browser.run("return document.querySelector('.map-newest')?.hidden === false"
                            " && document.querySelector('.map-newest').style.transform.includes('NaN')")
        expect(not pulse, "the pulse of the newest event is nowhere")
        browser.open(f"{stage.url}/?{box}", live=False)
        expected = len(json.loads(stage.server.get(f"/v1/table?columns=code&{box}"))["rows"])
        browser.until("the events of the box", lambda: browser.number_shown() == expected)
        browser.no_errors("an event without a position")
    finally:
        stage.database.run("delete from quake.quake where code = 'nowhere'")


def a_note_of_a_row_is_shown_whole_or_not_at_all(stage):
    """A row has no place for every note of an event. A part of a number would be another number."""
    browser = stage.browser
    stage.database.run("insert into quake.quake (code, time, magnitude, place, felt, alert, tsunami, status)"
                       " values ('noted', now(), 6, 'Noted', 123456, 'yellow', 1, 'reviewed')")
    try:
        browser.open(stage.url + "/?min-magnitude=6")
        browser.until("its row", lambda: browser.row("noted"))
        notes = browser.run("""
          const box = document.querySelector("#rows [data-code=noted] .notes").getBoundingClientRect();
          return [...document.querySelectorAll("#rows [data-code=noted] .notes > *")]
            .map((note) => [note.textContent, note.getBoundingClientRect()])
            .filter(([text, { top, left }]) => text && top < box.bottom && left < box.right)
            .map(([text, { right }]) => [text, right - box.right])""")
        expect(notes and all(beyond <= 0.5 for _, beyond in notes), f"the notes are {notes}")
        browser.no_errors("an event with many notes")
    finally:
        stage.database.run("delete from quake.quake where code = 'noted'")


def the_past_before_the_first_change(stage):
    """Before the first change there is an empty list, which says so; so does a period in which there was nothing."""
    browser = stage.browser

    def state():
        return browser.run("return document.querySelector('#list .state:not([hidden])')?.innerText ?? ''")
    browser.open(f"{stage.url}/?as-of=1970-01-01T00:00", live=False)
    browser.until("the empty list", lambda: "had no earthquakes" in state())
    browser.until("the time in UTC", lambda: "1970, 00:00" in browser.run(
        "return document.querySelector('#header').innerText"))
    browser.open(f"{stage.url}/?as-of={stage.first_token}&last=1h", live=False)
    browser.until("the filter that lets nothing pass", lambda: "Past hour" in state())
    browser.no_errors("an empty past")
    browser.open(f"{stage.url}/?as-of=someday&last=1h", live=False)
    browser.toast("someday")
    browser.until_live()
    browser.take_messages()


def a_purged_past_has_no_list(stage):
    """Of a moment before the retention floor the page and a frame say that there is no list; the page shows another
    moment, and now, when a person goes there."""
    browser, database = stage.browser, stage.database
    name = database.run("select current_database()") + "_purged"
    database.elsewhere(f'drop database if exists "{name}"', f'create database "{name}"')
    purged = Database(database.psql, f"{database.conninfo} dbname={name}")

    def admin(*words):
        subprocess.run([os.path.join(stage.tools, "quake-admin"), *words, "--database", purged.conninfo],
                       check=True, capture_output=True)
    admin("migrate")
    server = None
    try:
        for code in ["kept1", "kept2"]:
            purged.run(f"insert into quake.quake (code, time, magnitude) values ('{code}', now(), 5)")
        admin("history", "purge", "--before", "now", "--yes")
        server = Server(stage.tools, purged)
        browser.open(f"{server.url}/?as-of=2020-01-01", live=False)
        browser.until("why there is no list", lambda: "was purged" in browser.run(
            "return document.querySelector('#list .state:not([hidden])')?.innerText ?? ''"))
        expect(not browser.find("#rows [data-code]") and browser.shown() == "", "there is a list")
        browser.until("the header", lambda: "could not be shown" in browser.run(
            "return document.querySelector('#header .status').innerText"))
        expect("as-of=2020" in browser.driver.current_url, f"the address is {browser.driver.current_url}")
        browser.press("Back to live", "#list")
        browser.until_live()
        browser.until("the events of now", lambda: browser.row("kept1") and browser.row("kept2"))
        browser.open(f"{server.url}/embed?as-of=2020-01-01", live=False)
        browser.until("the line below the map", lambda: "was purged" in browser.run(
            "return document.querySelector('#state').textContent"))
        # The server answers that it has no such list.
        browser.take_messages()
    finally:
        if server:
            server.stop()
        database.elsewhere(f'drop database "{name}" with (force)')


def a_frame_shows_the_past(stage):
    """/embed with a moment of the history shows the events of then."""
    browser = stage.browser
    expected = int(stage.database.run(
        f"select count(*) from quake.as_of('{stage.first_token}') where superseded_by is null and withdrawn_at is null "
        "and coalesce(type, 'earthquake') = 'earthquake'"))
    browser.open(f"{stage.url}/embed?as-of={stage.first_token}", live=False)
    browser.until(f"{expected} earthquakes below the map", lambda: re.match(
        rf"{expected} earthquakes, \d+ other events, as they were known at", browser.run(
            "return document.querySelector('#state').textContent")))
    browser.no_errors("a frame that shows the past")
    return f"{expected} events then"


def playing_shows_what_is_committed_meanwhile(stage):
    """The history goes on while it is played: what is committed after the start is shown when it is its turn."""
    browser, database = stage.browser, stage.database
    moment = database.run(
        "select to_char((now() - interval '2 s') at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
    browser.open(f"{stage.url}/?as-of={moment}", live=False)
    browser.until("the past", lambda: browser.find("#header [data-kind=past]"))
    # The slider is loaded beside the past.
    browser.until("the speeds", lambda: browser.run("""
      const speed = document.querySelector("#time [aria-label=Speed]");
      if (speed === null) return false;
      speed.value = "1";
      speed.dispatchEvent(new Event("change"));
      return true;"""))
    browser.press("Play", "#time")
    browser.until("it plays", lambda: browser.named("Pause", "#time"))
    # The end of the history is read at the first step.
    browser.until("a step", lambda: moment not in browser.driver.current_url)
    database.run("insert into quake.quake (code, time, magnitude, place) values ('played', now(), 5, 'Played')")
    try:
        browser.until("the event in the past", lambda: browser.row("played"))
        expect(browser.find("#header [data-kind=past]"), "the page is live")
        browser.press_id("#back-to-live")
        browser.until_live()
        browser.no_errors("the history that goes on")
    finally:
        database.run("delete from quake.quake where code = 'played'")


def everything_fits_into_a_small_window(stage):
    """Nothing is wider than a phone of 320 pixels or a narrow frame, and a low window leaves the map and scrolls."""
    browser = stage.browser

    def fits(where, least=0):
        found = browser.run("""
          const inside = document.querySelector("dialog[open]") ?? document.documentElement;
          return [inside.scrollWidth, inside.clientWidth, document.querySelector("#map").clientHeight, innerWidth]""")
        expect(found[0] <= found[1] and found[2] >= least, f"{where}: {found}")
    try:
        browser.cdp("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=2, mobile=True)
        browser.open(stage.url + "/")
        browser.press_id("#time-toggle")
        browser.until("the slider", lambda: browser.run(
            "return document.querySelector('#time .time-input')?.checkVisibility()"))
        expect(browser.run("return innerWidth") == 320, "the page is wider than a phone")
        fits("time travel", 80)
        browser.press("Settings")
        browser.until("the settings", lambda: browser.find("dialog[open]"))
        fits("the settings")
        browser.cdp("Emulation.setDeviceMetricsOverride", width=300, height=200, deviceScaleFactor=1, mobile=False)
        browser.open(stage.url + "/embed", live=False)
        browser.until("the line below the map", lambda: "updated" in browser.run(
            "return document.querySelector('#state').textContent"))
        fits("a narrow frame", 100)
        browser.cdp("Emulation.setDeviceMetricsOverride", width=720, height=450, deviceScaleFactor=2, mobile=False)
        browser.open(stage.url + "/")
        for part in ["time", "charts"]:
            browser.press_id(f"#{part}-toggle")
        browser.until("the charts", lambda: browser.run(
            "return document.querySelector('#charts canvas')?.clientHeight > 0"))
        fits("a low window", 80)
        browser.no_errors("small windows")
    finally:
        browser.cdp("Emulation.clearDeviceMetricsOverride")


def days_begin_at_midnight(stage):
    """The days of the chart begin at midnight of the reader's zone, also when it had summer time."""
    browser = stage.browser
    stage.database.run("insert into quake.quake (code, time, magnitude, place) select 'night' || i, "
                       "'2026-07-05T04:30:00Z', 3, 'Night' from generate_series(1, 40) i")
    try:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="America/New_York")
        browser.open(stage.url + "/?last=all")
        browser.press_id("#charts-toggle")
        browser.until("the day of the most earthquakes", lambda: "the most, 40, from Jul 5, 2026, 00:00:00 EDT" in
                      browser.run("return document.querySelector('#charts').innerText"))
        browser.no_errors("the charts")
    finally:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="")
        stage.database.run("delete from quake.quake where code like 'night%'")


SCENES = [
    odd_addresses_do_no_harm, a_page_of_which_a_file_is_missing_says_so, an_empty_list_is_not_waited_for,
    events_without_a_position_are_not_on_the_map, a_note_of_a_row_is_shown_whole_or_not_at_all,
    the_past_before_the_first_change, a_purged_past_has_no_list,
    a_frame_shows_the_past, playing_shows_what_is_committed_meanwhile,
    everything_fits_into_a_small_window, days_begin_at_midnight,
]
