"""Reads a server with programs that the project has not written, and compares what they find with the feed
that was imported. The feed is read with Python's own JSON parser.

Usage: read_services.py shift FEED TARGET       move the times of a feed, so that it ends now
       read_services.py read URL FEED WITHDRAWN OLD NEW
WITHDRAWN is an event that the server must not show, OLD one that NEW supersedes.
Prints a line for each program that found what it should; fails otherwise.
"""

import asyncio
import io
import json
import math
import sys
import time
import warnings

warnings.filterwarnings("ignore")


def shift(source, target):
    with open(source, encoding="utf-8") as file:
        feed = json.load(file)
    move = int(time.time() * 1000) - feed["metadata"]["generated"]
    feed["metadata"]["generated"] += move
    for event in feed["features"]:
        event["properties"]["time"] += move
        event["properties"]["updated"] += move
    # Values that feeds may lack.
    feed["features"][0]["geometry"]["coordinates"][2] = None
    feed["features"][1]["properties"]["mag"] = None
    with open(target, "w", encoding="utf-8") as file:
        json.dump(feed, file)


if sys.argv[1] == "shift":
    shift(*sys.argv[2:])
    sys.exit()

base, path, withdrawn, old, new = sys.argv[2:]
with open(path, encoding="utf-8") as file:
    features = {f["id"]: f for f in json.load(file)["features"]}
for gone in [withdrawn, old]:
    del features[gone]


def same(program, found, depths=True):
    """Compares a list of [id, time in ms, longitude, latitude, depth in km, magnitude] with the feed."""
    found = {event[0]: event for event in found}
    assert found.keys() == features.keys(), (program, found.keys() ^ features.keys())
    for id, feature in features.items():
        _, time, longitude, latitude, depth, magnitude = found[id]
        x, y, z = feature["geometry"]["coordinates"]
        assert round(time) == feature["properties"]["time"], (program, id, time)
        assert abs(longitude - x) < 1e-4 and abs(latitude - y) < 1e-4, (program, id)
        if depths:
            assert abs(depth - (z or 0)) < 1e-3, (program, id, depth, z)
        wanted = feature["properties"]["mag"]
        if magnitude is not None and magnitude != magnitude:
            magnitude = None
        assert magnitude == wanted, (program, id, magnitude, wanted)
    print(program, len(found))


# ObsPy

from obspy import UTCDateTime
from obspy.clients.fdsn import Client
from obspy.clients.fdsn.header import FDSNException, FDSNNoDataException
from obspy.io.quakeml.core import _validate

client = Client(base)
assert "event" in client.services and "dataselect" not in client.services
assert client.get_webservice_version("event")


def of_obspy(catalog):
    events = []
    for event in catalog:
        origin, magnitude = event.preferred_origin(), event.preferred_magnitude()
        events.append([
            event.resource_id.id.removeprefix("quakeml:quake/event/"), origin.time.ns / 1e6, origin.longitude,
            origin.latitude, (origin.depth or 0) / 1000, magnitude.mag if magnitude else None,
        ])
    return events


body = io.BytesIO()
client.get_events(filename=body)
assert _validate(io.BytesIO(body.getvalue()), verbose=True)
from obspy import read_events

same("ObsPy", of_obspy(read_events(io.BytesIO(body.getvalue()))))


def prop(name):
    return lambda feature: feature["properties"][name]


def at_least(value, least):
    return lambda f: value(f) is not None and value(f) >= least


def at_most(value, most):
    return lambda f: value(f) is not None and value(f) <= most


def place(index):
    return lambda feature: feature["geometry"]["coordinates"][index]


def distance(latitude, longitude):
    """Degrees, by the angle between two vectors."""

    def vector(latitude, longitude):
        a, b = math.radians(latitude), math.radians(longitude)
        return math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)

    def degrees(feature):
        u = vector(latitude, longitude)
        v = vector(place(1)(feature), place(0)(feature))
        cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        return math.degrees(math.atan2(math.sqrt(sum(c * c for c in cross)), sum(p * q for p, q in zip(u, v))))

    return degrees


def listed(name, entry):
    return lambda f: "," + entry + "," in f["properties"][name]


middle = sorted(f["properties"]["time"] for f in features.values())[len(features) // 2]
moment = UTCDateTime(ns=middle * 1_000_000)
california = distance(36.5, -119)
box = lambda w, s, e, n: lambda f: (
    s <= place(1)(f) <= n and any(w <= place(0)(f) + turn <= e for turn in (-360, 0, 360)))
filters = [
    (dict(starttime=moment), at_least(prop("time"), middle)),
    (dict(endtime=moment), at_most(prop("time"), middle)),
    # All of them have changed in the store since they occurred.
    (dict(updatedafter=moment), lambda f: True),
    (dict(minmagnitude=2.5), at_least(prop("mag"), 2.5)),
    (dict(maxmagnitude=1), at_most(prop("mag"), 1)),
    (dict(mindepth=10), at_least(place(2), 10)),
    (dict(maxdepth=5.5), at_most(place(2), 5.5)),
    (dict(minlatitude=30, maxlatitude=40, minlongitude=-125, maxlongitude=-115), box(-125, 30, -115, 40)),
    (dict(minlongitude=140, maxlongitude=210), box(140, -90, 210, 90)),
    (dict(minlongitude=-220, maxlongitude=-150), box(-220, -90, -150, 90)),
    (dict(latitude=36.5, longitude=-119, maxradius=3), lambda f: california(f) <= 3),
    (dict(latitude=36.5, longitude=-119, minradius=3, maxradius=20), lambda f: 3 <= california(f) <= 20),
    (dict(latitude=36.5, longitude=-119, maxradiuskm=300), lambda f: california(f) <= 300 / 111.12),
    (dict(latitude=36.5, longitude=-119, minradiuskm=300, maxradiuskm=2000),
     lambda f: 300 / 111.12 <= california(f) <= 2000 / 111.12),
    (dict(magnitudetype="ML"), lambda f: (prop("magType")(f) or "").lower() == "ml"),
    (dict(eventtype="quarry blast,explosion"), lambda f: prop("type")(f) in ("quarry blast", "explosion")),
    (dict(reviewstatus="reviewed"), lambda f: prop("status")(f) == "reviewed"),
    (dict(mingap=100), at_least(prop("gap"), 100)), (dict(maxgap=100), at_most(prop("gap"), 100)),
    (dict(minsig=100), at_least(prop("sig"), 100)), (dict(maxsig=100), at_most(prop("sig"), 100)),
    (dict(minfelt=2), at_least(prop("felt"), 2)), (dict(mincdi=2), at_least(prop("cdi"), 2)),
    (dict(maxcdi=3), at_most(prop("cdi"), 3)), (dict(minmmi=4), at_least(prop("mmi"), 4)),
    (dict(maxmmi=9), at_most(prop("mmi"), 9)),
    (dict(alertlevel="green"), lambda f: prop("alert")(f) == "green"),
    (dict(catalog="us"), listed("sources", "us")), (dict(contributor="nc"), listed("sources", "nc")),
    (dict(producttype="shakemap"), listed("types", "shakemap")),
    (dict(productcode=new), lambda f: f["id"] == new),
    (dict(eventid=new), lambda f: f["id"] == new), (dict(eventid=old), lambda f: f["id"] == new),
    (dict(includeallorigins=True, includeallmagnitudes=False, includearrivals=False), lambda f: True),
    (dict(includedeleted="false", includesuperseded=False, jsonerror="false"), lambda f: True),
]
for parameters, accepts in filters:
    wanted = {id for id, feature in features.items() if accepts(feature)}
    try:
        found = {event[0] for event in of_obspy(client.get_events(**parameters))}
    except FDSNNoDataException:
        found = set()
    assert found == wanted, (parameters, found ^ wanted)
    assert wanted, parameters
try:
    client.get_events(updatedafter=UTCDateTime() + 86400)
    assert False, "something has changed in the future"
except FDSNNoDataException:
    pass
offered = set(client.services["event"])
used = {name for parameters, _ in filters for name in parameters}
rest = {"limit", "offset", "orderby", "format", "nodata"}
assert offered <= used | rest, offered - used - rest

ids = [event[0] for event in of_obspy(client.get_events(orderby="time-asc", limit=5, offset=3))]
ordered = sorted(features.values(), key=prop("time"))
assert ids == [f["id"] for f in ordered][2:7], ids
greatest = of_obspy(client.get_events(orderby="magnitude", limit=3))
magnitudes = sorted((prop("mag")(f) for f in features.values() if prop("mag")(f) is not None), reverse=True)
assert [event[5] for event in greatest] == magnitudes[:3]
for parameters, error in [
    (dict(minmagnitude=9.9), FDSNNoDataException), (dict(eventid="nothing"), FDSNNoDataException),
    (dict(eventid=withdrawn), FDSNException), (dict(catalog="none"), FDSNException),
]:
    try:
        client.get_events(**parameters)
    except error:
        continue
    raise AssertionError(parameters)
print("ObsPy filters", len(filters))

# usgs-libcomcat

from datetime import datetime, timedelta, timezone

from libcomcat import classes, search

there = "https://earthquake.usgs.gov"
for module in [search, classes]:
    for name in dir(module):
        value = getattr(module, name)
        if name.endswith("TEMPLATE") and isinstance(value, str):
            setattr(module, name, value.replace(there, base).replace("https://[HOST]", base))
now = datetime.fromtimestamp(time.time(), timezone.utc).replace(tzinfo=None)
span = dict(starttime=now - timedelta(days=20), endtime=now + timedelta(days=1))
earthquakes = {id for id, f in features.items() if prop("type")(f) == "earthquake"}
events = search.search(**span)
assert {event.id for event in events} == earthquakes
for event in events:
    feature = features[event.id]
    assert abs(event.latitude - place(1)(feature)) < 1e-4 and event.depth == (place(2)(feature) or 0)
    assert event.hasProduct("origin")
assert search.count(**span) == len(earthquakes)
detail = events[0].getDetailEvent()
assert detail.id == events[0].id
origin = detail.getProducts("origin")[0]
assert float(origin["latitude"]) == events[0].latitude
assert read_events(io.BytesIO(origin.getContentBytes("quakeml.xml")[0]))[0].preferred_origin()
assert classes.DetailEvent(classes.URL_TEMPLATE.replace("[EVENTID]", old)).id == new
assert search.get_event_by_id(new, includesuperseded=True).getNumVersions("origin") >= 1
assert search.get_event_by_id(new).toDict()["id"] == new
print("usgs-libcomcat", len(events))

# Home Assistant's client

import aiohttp
import aio_geojson_client.feed
from aio_geojson_usgs_earthquakes import consts, feed as home

# Ten seconds are not enough on a busy machine.
aio_geojson_client.feed.DEFAULT_REQUEST_TIMEOUT = 120
for name in consts.URLS:
    consts.URLS[name] = consts.URLS[name].replace(there, base)


async def update(name):
    async with aiohttp.ClientSession() as session:
        feed = home.UsgsEarthquakeHazardsProgramFeed(session, (0.0, 0.0), name)
        status, entries = await feed.update()
        assert status == "OK", (name, status)
        return feed, entries


feed, entries = asyncio.run(update("past_month_all_earthquakes"))
same("aio-geojson-usgs-earthquakes", [
    [e.external_id, e.time.timestamp() * 1000, e.coordinates[1], e.coordinates[0], 0, e.magnitude]
    for e in entries], depths=False)
assert feed.last_timestamp
# Every feed, also one without events.
for name in consts.URLS:
    asyncio.run(update(name))

# The client of Home Assistant's integration GeoJSON, which reads any address

from aio_geojson_generic_client import feed as generic


async def update_generic():
    async with aiohttp.ClientSession() as session:
        url = base + "/earthquakes/feed/v1.0/summary/all_month.geojson"
        status, entries = await generic.GenericFeed(
            session, (36.5, -119.0), url, filter_radius=1000.0).update()
        assert status == "OK", status
        return entries


entries = asyncio.run(update_generic())
for entry in entries:
    # What Home Assistant shows on its map: the name, the place, the distance.
    wanted = features[entry.external_id]
    x, y, _ = wanted["geometry"]["coordinates"]
    assert abs(entry.coordinates[0] - y) < 1e-4 and abs(entry.coordinates[1] - x) < 1e-4, entry
    assert (wanted["properties"]["place"] or "") in entry.title, entry
    assert entry.distance_to_home <= 1000
assert {e.external_id for e in entries} >= {
    id for id, f in features.items() if california(f) <= 990 / 111.12}
print("aio-geojson-generic-client", len(entries))

# Home Assistant's client for QuakeML, which asks for the last day

import aio_quakeml_client.feed
from aio_quakeml_ingv_centro_nazionale_terremoti_client import feed as italian

aio_quakeml_client.feed.DEFAULT_REQUEST_TIMEOUT = 120
italian.DEFAULT_URL = base + "/fdsnws/event/1/query"


async def update_quakeml():
    async with aiohttp.ClientSession() as session:
        feed = italian.IngvCentroNazionaleTerremotiQuakeMLFeed(
            session, (36.5, -119.0), filter_radius=1000.0, filter_minimum_magnitude=1.0)
        status, entries = await feed.update()
        assert status == "OK", status
        return entries


near = {e.external_id.removeprefix("quakeml:quake/event/") for e in asyncio.run(update_quakeml())}
wanted = {
    id: prop("time")(f) for id, f in features.items()
    if california(f) <= 1000 / 111.12 and (prop("mag")(f) or 0) >= 1}
# The day of the feed ended some seconds ago, and the client asks for whole seconds.
recent = {id for id, moment in wanted.items() if moment > (time.time() - 23.9 * 3600) * 1000}
assert near and recent <= near <= wanted.keys(), (recent - near, near - wanted.keys())
print("aio-quakeml-ingv", len(near))

# quakefeeds

import quakefeeds

quakefeeds.URL = base + "/earthquakes/feed/v1.0/summary/{}_{}.geojson"
quakes = quakefeeds.QuakeFeed("all", "month")
assert quakes.title == "USGS All Earthquakes, Past Month" and len(quakes) == len(features)
assert len(quakes.bbox) == 6 and abs(quakes.time.timestamp() - time.time()) < 600
quakes.refresh()
same("quakefeeds", [
    [e["id"], e["properties"]["time"], *e["geometry"]["coordinates"], e["properties"]["mag"]]
    for e in quakes.events])

# GDAL, which reads by ranges

import numpy
import pyogrio


def of_gdal(url):
    meta, _, geometry, fields = pyogrio.raw.read(url)
    columns = dict(zip(meta["fields"], fields))
    return [
        [columns["id"][i], float(columns["time"][i]), *numpy.frombuffer(geometry[i][5:], dtype="<f8"),
         float(columns["mag"][i])]
        for i in range(len(columns["id"]))
    ]


same("GDAL", of_gdal(base + "/fdsnws/event/1/query?format=geojson"))
same("GDAL feed", of_gdal(base + "/earthquakes/feed/v1.0/summary/all_month.geojson"))

# pandas

import pandas

table = pandas.read_csv(base + "/fdsnws/event/1/query?format=csv")
moments = pandas.to_datetime(table.time).map(lambda t: t.timestamp() * 1000)
same("pandas", list(zip(table.id, moments, table.longitude, table.latitude, table.depth.fillna(0), table.mag)))
text = path + ".txt"
client.get_events(filename=text, format="text")
same("ObsPy text", [
    [e.resource_id.id.split("/", 1)[-1], e.origins[0].time.ns / 1e6, e.origins[0].longitude,
     e.origins[0].latitude, (e.origins[0].depth or 0) / 1000, e.magnitudes[0].mag if e.magnitudes else None]
    for e in read_events(text, format="EVENTTXT")])
