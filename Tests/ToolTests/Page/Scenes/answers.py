"""Scenes that ask the page questions: its answers are those of the database, or it says what they lack."""

import re

from browser import SOAK, expect

# The page then holds this number of events at most, instead of 100,000.
LOADED = 120

# Questions by address, and the events that answer them; in `make soak` also MORE.
QUESTIONS = [
    ("last=all&sort=time:asc", "true", "time"),
    ("bbox=100,-60,-100,0", "latitude between -60 and 0 and (longitude >= 100 or longitude <= -100)", "time desc"),
    ("search=fiji&sort=magnitude:asc", "place ilike '%fiji%'", "magnitude nulls last"),
]
MORE = [
    ("sort=magnitude:desc", "true", "magnitude desc nulls last"),
    ("from=2026-11-08&to=2026-11-10", "time >= '2026-11-08Z' and time < '2026-11-10Z'", "time desc"),
    ("type=quarry+blast&max-depth=20", "type = 'quarry blast' and depth <= 20", "time desc"),
    ("to=2026-11-09&sort=magnitude:desc", "time < '2026-11-09Z'", "magnitude desc nulls last"),
    ("within=4000:-15,170", "code in (select code from quake.within(-15, 170, 4000))", "time desc"),
    ("min-magnitude=5", "magnitude >= 5", "time desc"),
    ("network=ci&sort=depth:desc", "net = 'ci'", "depth desc nulls last"),
]
if SOAK:
    QUESTIONS += MORE


def ask(stage, query, condition, order, limit):
    """Opens an address, and compares the list and the numbers of the page with the database."""
    browser, database = stage.browser, stage.database
    expected = database.column(
        f"select code from quake.current_quake where {condition} order by {order}, time desc, code")
    others = int(database.run(
        f"select count(*) from quake.current_quake where ({condition}) and lower(type) <> 'earthquake'"))
    browser.open(f"{stage.url}/?{query}", live=False)
    words = f"{others:,} other event" if others > 0 else ""
    browser.until(f"{len(expected)} events for {query}, of which {others} are no earthquakes", lambda: (
        browser.number_shown() == len(expected) and words in browser.shown()
        and ("other event" in browser.shown()) == (others > 0)))
    browser.until(f"{query}: how many are not loaded", lambda: (
        f"{len(expected) - limit:,} more are not loaded" in missing(browser)
        if len(expected) > limit else "not loaded" not in missing(browser) or "search=" in query))
    return expected


def missing(browser):
    return browser.run("return document.querySelector('.list-missing:not([hidden])')?.textContent ?? ''")


def the_page_answers_beyond_what_it_loads(stage):
    """Filters, order and numbers are those of the database, also for events that are too many to load all."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/")
    browser.run("localStorage.setItem('quake-row-limit', arguments[0])", str(LOADED))
    try:
        for query, condition, order in QUESTIONS:
            expected = ask(stage, query, condition, order, LOADED)
            browser.until_list(expected[:LOADED], f"the events of {query}")
        # An event that is older than all that are loaded becomes the strongest: it is a change like any other.
        browser.open(f"{stage.url}/?sort=magnitude:desc", live=False)
        browser.until("the strongest", lambda: browser.number_shown() is not None)
        database.run("update quake.quake set magnitude = 9.1 where code = 'us255'")
        browser.until("the event at the top", lambda: "9.1" in (browser.row("us255") or ""))
        # The chart names it, although it is not the strongest of the newest.
        browser.press_id("#charts-toggle")
        browser.until("the strongest in the chart", lambda: "the strongest M 9.1" in browser.run(
            "return document.querySelector('#charts').innerText"))
        # A filter of the page, not of its address, and the way back to what is loaded.
        database.run("update quake.quake set magnitude = 0.1 where code = 'us255'")
        browser.until("the search", lambda: browser.run(
            "const search = document.querySelector('#search'); search?.focus(); return search !== null"))
        browser.driver.switch_to.active_element.send_keys("us255")
        browser.until("the sentence about the search", lambda: "no ids" in missing(browser))
        browser.open(f"{stage.url}/?last=all", live=False)
        newest = database.column("select code from quake.current_quake order by time desc, code")
        browser.until_list(newest[:LOADED], "the newest events")
        browser.open(f"{stage.url}/?as-of={stage.first_token}&sort=magnitude:asc&min-magnitude=1", live=False)
        past = database.column(
            f"select code from quake.as_of('{stage.first_token}') where superseded_by is null and withdrawn_at is null "
            "and magnitude >= 1 order by magnitude, time desc, code")
        browser.until_list(past[:LOADED], "the weakest events of then")
        browser.until("how many of then are not loaded", lambda: (
            f"{len(past) - LOADED} more are not loaded" in missing(browser)))
        browser.no_errors("questions")
    finally:
        browser.run("localStorage.removeItem('quake-row-limit')")
    return f"{len(QUESTIONS)} questions"


def days_are_chosen(stage):
    """Fields for the first and the last day, and a drag over a chart, select a range of times."""
    browser, database = stage.browser, stage.database
    try:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="America/New_York")
        browser.open(stage.url + "/?min-magnitude=1", live=False)
        browser.press_id("#filter-toggle")
        for label, day in [("First day", "2026-11-09"), ("Last day", "2026-11-10")]:
            browser.until(label, lambda: browser.run("""
              const field = document.querySelector(`#filter-panel input[aria-label="${arguments[0]}"]`);
              if (field === null) return false;
              field.value = arguments[1];
              field.dispatchEvent(new Event("change"));
              return true;""", label, day))
        count = int(database.run(
            "select count(*) from quake.current_quake where magnitude >= 1 "
            "and time >= '2026-11-09 05:00Z' and time < '2026-11-11 05:00Z'"))
        browser.until("the events of two days", lambda: browser.number_shown() == count)
        browser.until("the range in the address", lambda: (
            "from=2026-11-09T05:00:00Z&to=2026-11-11T05:00:00Z" in browser.driver.current_url))
        browser.until_named("Remove the filter Nov 9, 2026 – Nov 10, 2026")
    finally:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="")
    browser.open(stage.url + "/?from=2026-11-09&to=2026-11-11", live=False)
    browser.until("the events of two days", lambda: browser.number_shown() is not None)
    browser.press_id("#charts-toggle")
    # The place of a chart changes while the others come.
    left, top, width, height = browser.until("the charts", lambda: browser.run("""
      const texts = [...document.querySelectorAll(".chart-summary")].map((text) => text.textContent);
      if (texts.length < 3 || !texts[0].includes(";") || texts[2] === "") return null;
      const {left, top, width, height} = document.querySelector(".chart-frame").getBoundingClientRect();
      return [left, top, width, height]"""))
    # The first quarter of the axis, which begins 42 pixels from the left and ends 10 from the right.
    for kind, share in [("mousePressed", 0), ("mouseMoved", 0.1), ("mouseMoved", 0.25), ("mouseReleased", 0.25)]:
        browser.cdp("Input.dispatchMouseEvent", type=kind, x=left + 42 + share * (width - 52), y=top + height / 2,
                    button="left", buttons=1, clickCount=1)
    found = browser.until("the range of the drag", lambda: re.search(
        r"from=2026-11-0(8T23:[0-9:]+Z|9[^&]*)&to=2026-11-09T1[12]:", browser.driver.current_url))
    expect("selected" not in browser.driver.current_url, "a drag selects an event")
    browser.no_errors("days")
    return found[0]


def a_lost_database_is_not_live(stage):
    """While the server has no database, the page says so and shows what it has; afterwards it is live again."""
    browser, database = stage.browser, stage.database
    browser.open(stage.url + "/?last=all")
    name = database.run("select current_database()")
    browser.until("the number of events", lambda: browser.number_shown() is not None)
    before = browser.number_shown()

    def kind():
        return browser.run("return document.querySelector('#header [data-kind]')?.dataset.kind")
    database.elsewhere(
        f"alter database \"{name}\" allow_connections false",
        f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
    try:
        browser.until("the page says that the database is lost", lambda: kind() == "database")
        browser.until("the page says what is lost", lambda: "without its database since" in browser.run(
            "return document.querySelector('#header').innerText"))
        expect(browser.number_shown() == before and browser.find("#rows [role=option]"), "the list is gone")
    finally:
        database.elsewhere(f"alter database \"{name}\" allow_connections true")
    browser.until("the page is live again", lambda: kind() == "live")
    database.run("insert into quake.quake (code, time, magnitude, place) values ('back', now(), 5, 'Back')")
    browser.until("a change", lambda: browser.row("back"))
    database.run("delete from quake.quake where code = 'back'")
    browser.take_messages()


def what_is_seen_is_what_is_read(stage):
    """One scale of colours, the order of the parts, names in any direction, sizes, signs, and invented events."""
    browser, database = stage.browser, stage.database
    database.run(
        "insert into quake.quake (code, time, magnitude, place, net, source, longitude, latitude, depth, type) values "
        "('simx1', now(), -0.4, 'مدينة', 'simx', 'simulated', 10, 20, -1.5, 'earthquake')")
    try:
        browser.open(stage.url + "/?selected=simx1")
        browser.until("the detail says that it is simulated", lambda: "is simulated" in browser.run(
            "return document.querySelector('#detail .note')?.textContent ?? ''"))
        # The skip link leads to the list, also while the details cover it.
        browser.run("document.querySelector('.skip').focus()")
        browser.driver.switch_to.active_element.send_keys("\ue007")
        browser.until("the list has the focus", lambda: browser.run("return document.activeElement.id === 'rows'"))
        browser.until("the details are closed", lambda: browser.run("return document.querySelector('#detail').hidden"))
        text = browser.until("the row", lambda: browser.row("simx1"))
        expect("−0.4" in text and "−1.5 km" in text and "simulated" in text, f"the row says: {text}")
        place = "return document.querySelector('[data-code=simx1] .place')"
        expect(browser.run(place + ".dir") == "auto" and browser.run(
            f"{place.replace('return', 'return getComputedStyle(')}).direction") == "rtl", "a name has no direction")
        for color in ["depth", "magnitude", "age"]:
            browser.press_id(f"#map input[value={color}]")
            browser.until(f"the colour of the legend of {color} in the list", lambda: browser.run("""
              const paint = (element) => getComputedStyle(element).backgroundColor;
              const legend = [...document.querySelectorAll(".map-swatch")].map(paint);
              const dot = document.querySelector("[data-code=simx1] .dot");
              return dot !== null && legend.indexOf(paint(dot)) === 0;"""))
        for size in [{"width": 1440, "height": 900, "mobile": False}, {"width": 390, "height": 844, "mobile": True}]:
            browser.cdp("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, **size)
            # The parts move a moment after the window has changed.
            browser.until(f"the parts in their order in a window of {size}", lambda: browser.run("""
              const places = [...document.querySelectorAll(
                "#header, #map, .map-controls, .map-legend, #dock, #side, #filters, #list, .list-bar, #rows")]
                .filter((element) => element.checkVisibility()).map((element) => element.getBoundingClientRect());
              const isTurn = (a, b) => (b.bottom <= a.top && b.left < a.right)
                || (b.right <= a.left && b.top < a.bottom && b.bottom > a.top);
              return !places.some((place, i) => places.slice(0, i).some((other) => isTurn(other, place)));
            """))
        wide = browser.run("const size = () => document.querySelector('#list-count').getBoundingClientRect().height;"
                           "const before = size(); document.documentElement.style.fontSize = '32px';"
                           "return size() / before")
        expect(wide >= 1.9, f"twice the size of text makes it {wide} times as large")
        browser.no_errors("what is seen")
    finally:
        browser.cdp("Emulation.clearDeviceMetricsOverride")
        database.run("delete from quake.quake where code = 'simx1'")


SCENES = [
    the_page_answers_beyond_what_it_loads, days_are_chosen, a_lost_database_is_not_live,
    what_is_seen_is_what_is_read,
]
