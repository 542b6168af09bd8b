import Foundation
import TestSupport

/// Figures about a feed, computed by Python from the file, without any of the code under test.
enum PythonReference {
  /// Whether there is a Python.
  static let isThere = (try? Tools.shell("python3 -c 'import json, math'").status == 0) == true

  /// Evaluates an expression of Python, in which `events` is the list of the features of a GeoJSON file and the
  /// functions below are defined. The result is one of JSON.
  static func evaluate(_ expression: String, on feed: String) throws -> Any {
    let folder = try TemporaryFolder()
    try folder.write("reference.py", definitions + "\nprint(json.dumps(\(expression)))\n")
    let outcome = try Tools.shell("python3 '\(folder.path)/reference.py' '\(feed)'")
    guard outcome.status == 0 else {
      throw ToolProcess.Failure(description: "python3 failed: \(outcome.errors)")
    }
    return try JSONSerialization.jsonObject(
      with: Data(outcome.output.utf8), options: .fragmentsAllowed)
  }

  private static let definitions = #"""
    import collections, datetime, decimal, json, math, re, sys
    events = {}
    for feature in json.load(open(sys.argv[1], encoding="utf-8"))["features"]:
        event = dict(feature["properties"], code=feature["id"])
        event["lon"], event["lat"], event["depth"] = feature["geometry"]["coordinates"]
        events[feature["id"]] = event
    events = list(events.values())

    def locality(event):
        place = event["place"]
        return place and re.sub(r"^\d+(\.\d+)?\s*km [NSEW]+ of ", "", place.strip(" ,"))

    def region(event):
        return event["place"] and locality(event).split(",")[-1].strip()

    def time(event):
        start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return start + datetime.timedelta(milliseconds=event["time"])

    def groups(key, value="mag", some=None):
        found = collections.defaultdict(list)
        for event in some if some is not None else events:
            found[key(event)].append(event)
        result = {}
        for name, members in found.items():
            values = [e[value] for e in members if e[value] is not None]
            result["none" if name is None else str(name)] = [
                len(members), len(values), sum(values) / len(values) if values else None,
                min(values, default=None), max(values, default=None)]
        return result

    def distance(lat, lon, event):
        # Another formula than the haversine: the angle between two vectors.
        def vector(lat, lon):
            lat, lon = math.radians(lat), math.radians(lon)
            return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)
        a, b = vector(lat, lon), vector(event["lat"], event["lon"])
        cross = (a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0])
        dot = sum(x * y for x, y in zip(a, b))
        return 6371.0088 * math.atan2(math.sqrt(sum(x * x for x in cross)), dot)

    def circle(km, lat, lon):
        return sorted(e["code"] for e in events if distance(lat, lon, e) <= km)

    def box(w, s, e, n):
        def inside(lon):
            return w <= lon <= e if w <= e else lon >= w or lon <= e
        return sorted(x["code"] for x in events if s <= x["lat"] <= n and inside(x["lon"]))

    earthquakes = [e for e in events if e["type"] in (None, "earthquake")]

    def tenths(magnitude):
        # Classes of 0.1, half of one upwards, in exact decimals.
        tenth, half = decimal.Decimal("0.1"), decimal.Decimal("0.5")
        return int((decimal.Decimal(repr(float(magnitude))) / tenth + half).to_integral_value(decimal.ROUND_FLOOR))

    def b_value(net, mc=None):
        # Maximum curvature + 0.2; the estimator for classes of Tinti and Mulargia (1987).
        classes = [
            tenths(e["mag"]) for e in earthquakes if e["mag"] is not None and net in (None, e["net"])]
        counts = collections.Counter(classes)
        mc = mc or max(counts, key=lambda c: (counts[c], -c)) + 2
        complete = [c / 10 for c in classes if c >= mc]
        n, mean = len(complete), sum(complete) / len(complete)
        b = math.log(1 + 0.1 / (mean - mc / 10)) / 0.1 / math.log(10)
        error = math.log(10) * b**2 * math.sqrt(sum((m - mean)**2 for m in complete) / (n * (n - 1)))
        return [mc / 10, n, b, error]

    def sums():
        magnitudes = [e["mag"] for e in earthquakes if e["mag"] is not None]
        return [sum(10 ** (1.5 * m + 4.8) for m in magnitudes), sum(10 ** (1.5 * m + 9.1) for m in magnitudes)]
    """#
}
