"""Screenshots of the page, for people."""

import json
import os
import subprocess
import time

from access import DESKTOP, PHONE, theme

# A month of events is imported in this many transactions.
STEPS = 60


def features(stage):
    """A month of events that ends now: those of a real feed if there is one, else simulated ones."""
    path = os.environ.get("QUAKE_PICTURES_FEED")
    if not path:
        path = os.path.join(stage.folder, "simulated.geojson")
        subprocess.run([os.path.join(stage.tools, "quake-ingest"), "simulate", "--events", "4000", "--output", path],
                       check=True, capture_output=True)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["features"]
    events.sort(key=lambda event: event["properties"]["time"])
    shift = int(time.time() * 1000) - 120_000 - events[-1]["properties"]["time"]
    for event in events:
        event["properties"]["time"] += shift
        event["properties"]["updated"] = event["properties"]["time"] + 600_000
    return events


def load(stage):
    """Fills the database with a month of events and revisions, as if it had followed a feed all the time."""
    events = features(stage)
    for step in range(STEPS):
        path = os.path.join(stage.folder, "month.geojson")
        part = events[len(events) * step // STEPS:len(events) * (step + 1) // STEPS]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"type": "FeatureCollection", "metadata": {"generated": 1000 * step}, "features": part}, file)
        subprocess.run([os.path.join(stage.tools, "quake-ingest"), "import", "--author", "usgs", "--database",
                        stage.database.conninfo, path], check=True, capture_output=True)
    strongest = stage.database.column(
        "select code from quake.current_quake where depth is not null order by magnitude desc nulls last, code limit 40")
    for round_, (magnitude, depth, move) in enumerate([(-0.4, 25, 0.3), (0.2, -10, -0.12), (0.1, -5, 0.05)]):
        stage.database.run(
            "set quake.author = 'usgs';" + "".join(
                f"update quake.quake set magnitude = magnitude + {magnitude}, depth = greatest(depth + {depth}, 1), "
                f"longitude = longitude + {move}, latitude = latitude - {move / 2}, nst = coalesce(nst, 20) + 17, "
                f"status = '{'automatic' if round_ < 2 else 'reviewed'}' where code = '{code}';"
                for code in strongest))
    # The transactions were committed over the month.
    stage.database.run(
        "set session_replication_role = replica;"
        "with t as (select token, count(*) over () - row_number() over (order by token desc) as i, "
        "count(*) over () as n from quake.change_transaction) "
        "update quake.change_transaction c set at = now() - (t.n - 1 - t.i) * interval '30 days' / t.n "
        "from t where t.token = c.token")


def pictures(stage):
    """Pictures of the views, each looked at when it is complete."""
    load(stage)
    browser = stage.browser
    folder = os.environ["QUAKE_SCREENSHOTS"]
    os.makedirs(folder, exist_ok=True)
    strong, = stage.database.column(
        "select code from quake.current_quake order by magnitude desc nulls last, code limit 1")
    moments = stage.database.column("select token || '.' || nonce from quake.change_transaction order by token")
    middle = moments[len(moments) * 2 // 3]

    def take(name, size, scheme, address, *parts):
        browser.cdp("Emulation.setDeviceMetricsOverride", **size)
        theme(browser, scheme)
        browser.open(stage.url + address, live="as-of" not in address and "embed" not in address)
        browser.until("the map", lambda: browser.find("canvas"))
        for part in parts:
            browser.press_id(f"#{part}-toggle")
        browser.until("the page is complete", lambda: browser.run(
            "return document.readyState === 'complete' && document.querySelectorAll('.skeleton').length === 0"))
        # Some frames, so that what was asked for is drawn.
        browser.driver.execute_async_script("""
          let frames = 90;
          const frame = () => (frames-- > 0 ? requestAnimationFrame(frame) : arguments[0]());
          frame();""")
        browser.screenshot(os.path.join(folder, name + ".png"))

    take("desktop", DESKTOP, "light", "/?last=30d")
    take("dark", DESKTOP, "dark", "/?last=30d&color=depth")
    take("charts", DESKTOP, "dark", "/?last=30d", "charts")
    take("detail", DESKTOP, "light", f"/?last=30d&selected={strong}")
    take("time-travel", DESKTOP, "dark", f"/?as-of={middle}&color=magnitude")
    take("phone", PHONE, "light", "/?last=30d")
    take("phone-detail", PHONE, "dark", f"/?last=30d&selected={strong}")
    take("embed", {**DESKTOP, "width": 640, "height": 400}, "light", "/embed?last=30d")
    return f"in {folder}"


SCENES = [pictures]
