"""Reads exports with programs that the project has not written, and prints what they find as JSON.

Usage: read_exports.py FOLDER
FOLDER has quakes.geojson, .csv, .txt, .xml, .kml and .atom. The output is an object with a list of events for
each reader: [id, magnitude, origin time in microseconds, depth in km, longitude, latitude].
"""

import calendar
import json
import sys
import warnings
from datetime import datetime, timezone

warnings.filterwarnings("ignore")

import feedparser
import numpy
import pandas
import pyogrio
from obspy import read_events
from obspy.io.quakeml.core import _validate

folder = sys.argv[1]


def number(value):
    return None if value is None or value != value else float(value)


def microseconds(text):
    instant = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=timezone.utc)
    return calendar.timegm(instant.utctimetuple()) * 1_000_000 + instant.microsecond


def of_obspy(path, kind):
    events = []
    for event in read_events(path, format=kind):
        origin = event.preferred_origin() or event.origins[0]
        magnitude = event.preferred_magnitude() or (event.magnitudes or [None])[0]
        identity = event.resource_id.id
        for start in ["quakeml:quake/event/", "smi:local/", "quakeml:"]:
            if identity.startswith(start):
                identity = identity[len(start):]
        events.append([
            identity.split("/", 1)[-1] if kind == "EVENTTXT" else identity,
            number(magnitude.mag) if magnitude else None,
            origin.time.ns // 1000,
            number(origin.depth / 1000) if origin.depth is not None else None,
            number(origin.longitude), number(origin.latitude),
        ])
    return events


def of_gdal(path, id, magnitude, time, depth=None, scale=1, layer=None, z=None):
    meta, _, geometry, fields = pyogrio.raw.read(path, layer=layer)
    columns = dict(zip(meta["fields"], fields))
    events = []
    for index in range(len(columns[id])):
        x = y = height = None
        if geometry is not None and geometry[index] is not None:
            shape = geometry[index]
            values = numpy.frombuffer(shape[5:], dtype="<f8")
            x, y = float(values[0]), float(values[1])
            height = float(values[2]) if len(values) > 2 else None
        if depth is not None:
            height = number(columns[depth][index])
        elif height is not None:
            height *= scale
        when = columns[time][index]
        if isinstance(when, (int, numpy.integer, float, numpy.floating)):
            when = round(float(when) * 1000)
        else:
            when = microseconds(when)
        value = columns[magnitude][index]
        value = None if value is None or value == "" else number(float(value))
        events.append([str(columns[id][index]), value, when, height, x, y])
    return events


def of_pandas(path):
    table = pandas.read_csv(path)
    return [
        [row.id, number(row.mag), microseconds(row.time), number(row.depth), row.longitude, row.latitude]
        for row in table.itertuples()
    ]


def of_feedparser(path):
    feed = feedparser.parse(path)
    assert not feed.bozo, feed.bozo_exception
    events = []
    for entry in feed.entries:
        values = {tag.label: tag.term for tag in entry.get("tags", [])}
        where = entry.get("where", {}).get("coordinates", (None, None))
        elevation = entry.get("georss_elev")
        events.append([
            entry.id[len("urn:x-quake:event:"):],
            float(values["Magnitude"]) if "Magnitude" in values else None,
            microseconds(entry.published),
            -float(elevation) / 1000 if elevation is not None else None,
            where[0], where[1],
        ])
    return events


kml = folder + "/quakes.kml"
result = {
    "valid": bool(_validate(folder + "/quakes.xml", verbose=True)),
    "obspy quakeml": of_obspy(folder + "/quakes.xml", "QUAKEML"),
    "obspy text": of_obspy(folder + "/quakes.txt", "EVENTTXT"),
    "gdal geojson": of_gdal(folder + "/quakes.geojson", "id", "mag", "time"),
    "gdal csv": None,
    "gdal kml": of_gdal(kml, "code", "magnitude", "time", scale=-0.001),
    "pandas csv": of_pandas(folder + "/quakes.csv"),
    "feedparser atom": of_feedparser(folder + "/quakes.atom"),
}
table = pyogrio.raw.read(folder + "/quakes.csv")
columns = dict(zip(table[0]["fields"], table[3]))
result["gdal csv"] = [
    [columns["id"][i],
     float(columns["mag"][i]) if columns["mag"][i] != "" else None,
     microseconds(columns["time"][i]),
     float(columns["depth"][i]) if columns["depth"][i] != "" else None,
     float(columns["longitude"][i]), float(columns["latitude"][i])]
    for i in range(len(columns["id"]))
]
# As text, so that each number arrives as it is.
for name, events in result.items():
    if name != "valid":
        result[name] = [
            [value if value is None or isinstance(value, (str, int)) else repr(float(value)) for value in event]
            for event in events
        ]
json.dump(result, sys.stdout)
