"""Loads a file of earthquakes in GeoJSON with dlt, into tables that dlt creates.

Upsert is the merge that writes least; the rows are flat, so that dlt creates no table for the
coordinates; dlt gets lists of rows, which it loads faster than single ones.
"""
import json
import os
import shutil
import sys
import tempfile

os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"

import dlt  # noqa: E402  (reads the environment)
from psycopg2.extensions import parse_dsn  # noqa: E402


def rows(path):
    with open(path) as file:
        for feature in json.load(file)["features"]:
            longitude, latitude, depth = feature["geometry"]["coordinates"]
            yield {"id": feature["id"], **feature["properties"],
                   "longitude": longitude, "latitude": latitude, "depth": depth}


def batches(path, size=10_000):
    batch = []
    for row in rows(path):
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    yield batch


def main():
    dsn = parse_dsn(os.environ["DATABASE_URL"])
    # dlt wants the name of a host; libpq takes the folder of the socket that comes after it.
    url = f"postgresql://{dsn['user']}:none@localhost/{dsn['dbname']}?host={dsn['host']}&port={dsn['port']}"
    folder = tempfile.mkdtemp(prefix="quake-dlt-")
    try:
        pipeline = dlt.pipeline(
            "quakes", pipelines_dir=folder, dataset_name="quakes",
            destination=dlt.destinations.postgres(url))
        quake = dlt.resource(
            batches(sys.argv[1]), name="quake", primary_key="id",
            write_disposition={"disposition": "merge", "strategy": "upsert"},
            columns={"dmin": {"data_type": "double"}, "gap": {"data_type": "double"},
                     "mag": {"data_type": "double"}, "mmi": {"data_type": "double"},
                     "cdi": {"data_type": "double"}, "rms": {"data_type": "double"},
                     "depth": {"data_type": "double"}})
        pipeline.run(quake).raise_on_failed_jobs()
    finally:
        shutil.rmtree(folder)


main()
