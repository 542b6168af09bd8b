import Foundation
import FoundationXML
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct FeedServiceTests {
  private let scene: ServiceScene

  init() throws {
    scene = try ServiceScene(FeedService().routes)
    try scene.connection.run(
      """
      insert into quake.quake (code, net, type, magnitude, place, time, longitude, latitude, depth, sig, url)
      select 'us' || n, 'us', 'earthquake', (array[0.5, 0.95, 2.45, 4.45, 6.5, null])[n % 6 + 1], 'Town',
             now() - (array['30 min', '23 h', '6 d', '29 d', '31 d'])[n / 6 + 1]::interval, n, n,
             case when n % 2 = 0 then n end, n % 6 * 150, case when n % 3 = 0 then 'https://example.org' end
        from generate_series(0, 29) n
      """,
      """
      insert into quake.quake_alias (id, code) values ('old1', 'us4')
      """,
      """
      update quake.quake set withdrawn_at = now() where code = 'us3'
      """)
  }

  private static let path = "/earthquakes/feed/v1.0"

  private func document(_ target: String) throws -> [String: Any] {
    let text = try scene.text(target)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func theFeedsAreTitledByTheirSource() throws {
    for (change, name) in [
      ("source = 'usgs'", "USGS "), ("source = 'geonet'", "GeoNet "),
      ("source = 'mynet'", "mynet "),
      ("source = case when code < 'us2' then 'usgs' else 'emsc' end", ""),
    ] {
      try scene.connection.run("update quake.quake set " + change)
      for feed in ["all_month", "all_hour"] {
        let window = feed == "all_month" ? "Month" : "Hour"
        let title = "\(name)All Earthquakes, Past \(window)"
        let path = "\(Self.path)/summary/\(feed)"
        if name.isEmpty, feed == "all_hour" { continue }
        let metadata = try #require(try document(path + ".geojson")["metadata"] as? [String: Any])
        #expect(metadata["title"] as? String == title)
        #expect(try scene.text(path + ".atom").contains("<title>\(title)</title>"))
        #expect(try scene.text(path + ".kml").contains("<name>\(title)</name>"))
      }
    }
  }

  @Test func theFeedsHoldTheEventsOfTheirWindowAndThreshold() throws {
    for feed in SummaryFeed.all {
      let root = try document("\(Self.path)/summary/\(feed.name).geojson")
      let metadata = try #require(root["metadata"] as? [String: Any])
      #expect(metadata["title"] as? String == feed.subject)
      #expect(metadata["status"] as? Int == 200)
      #expect(
        metadata["url"] as? String
          == "http://quake.test:8080\(Self.path)/summary/\(feed.name).geojson")
      let features = try #require(root["features"] as? [[String: Any]])
      #expect(metadata["count"] as? Int == features.count)
      let hours = [.hour: 1, .day: 24, .week: 168, .month: 720][feed.window] ?? 0
      let wanted = try scene.connection.table(
        """
        select q.code from quake.current_quake q
         where q.time >= now() - $1 * interval '1 h'
           and case $2 when 'all' then true when 'significant' then q.sig >= 600
               else q.magnitude >= nullif($2, 'all')::float8 - 0.05 - 1e-9 end
         order by q.time desc, q.code
        """, [.integer(Int64(hours)), .text(feed.threshold.rawValue)])
      #expect(features.compactMap { $0["id"] as? String } == wanted, "\(feed.name)")
      for feature in features {
        let properties = try #require(feature["properties"] as? [String: Any])
        for name in ["updated", "url", "detail", "title", "types"] {
          #expect(properties[name] is NSNull == false, "\(name)")
        }
        let position = (feature["geometry"] as? [String: Any])?["coordinates"] as? [Double]
        #expect(position?.count == 3)
      }
    }
  }

  @Test func theFeedsComeInTheFormatsOfUSGS() throws {
    for (ending, type, begin) in [
      ("geojson", "application/json; charset=utf-8", "{\"type\":\"FeatureCollection\""),
      ("csv", "text/csv; charset=utf-8", "time,latitude,longitude"),
      ("atom", "application/atom+xml; charset=utf-8", "<?xml"),
      ("quakeml", "application/xml; charset=utf-8", "<?xml"),
      ("kml", "application/vnd.google-earth.kml+xml", "<?xml"),
    ] {
      // A parameter of a client that wants to get past caches.
      let answer = try scene.get("\(Self.path)/summary/all_day.\(ending)?_=123")
      #expect(answer.status == 200)
      #expect(answer.type == type)
      #expect(answer.text.hasPrefix(begin))
      #expect(answer.headers["cache-control"] == "public, max-age=60")
      if begin == "<?xml" { _ = try XMLDocument(xmlString: answer.text) }
      #expect(answer.text.contains("us10"), "an event is missing in \(ending)")
    }
  }

  @Test func theFeedsDrawKMLInTheColoursOfAges() throws {
    let age = try scene.text("\(Self.path)/summary/all_month_age.kml")
    // Red: the past hour; then orange, yellow and white.
    for colour in ["dd0000fc", "dd009dfe", "dd03fffb", "ddffffff"] {
      #expect(age.contains("<color>\(colour)</color>"))
    }
    #expect(!age.contains("TimeStamp"))
  }

  @Test func theFeedsAreNotThereUnderOtherNames() throws {
    for name in [
      "all_year.geojson", "3.0_day.geojson", "all_day_age.geojson", "all_day_link.kml",
      "all_day_age_link.kml", "all.geojson", "all_day_.kml",
    ] {
      let answer = try scene.get("\(Self.path)/summary/\(name)")
      #expect(answer.status == 404)
      #expect(answer.text.contains("2.5_week"))
    }
  }

  @Test func theFeedsHaveDocumentsAboutSingleEvents() throws {
    for id in ["us4", "old1"] {
      let root = try document("\(Self.path)/detail/\(id).geojson")
      #expect(root["id"] as? String == "us4")
      let properties = try #require(root["properties"] as? [String: Any])
      #expect((properties["products"] as? [String: Any])?["origin"] != nil)
      #expect(
        properties["detail"] as? String == "http://quake.test:8080\(Self.path)/detail/us4.geojson")
    }
    #expect(try scene.get("\(Self.path)/detail/nothing.geojson").status == 404)
    #expect(try scene.get("\(Self.path)/detail/nothing.quakeml").status == 404)
    #expect(try scene.get("\(Self.path)/detail/us3.geojson").status == 409)
    #expect(try scene.text("\(Self.path)/detail/us4.quakeml").contains("quakeml:quake/event/us4"))
    #expect(try scene.text("\(Self.path)/detail/us4.csv").split(separator: "\n").count == 2)
    #expect(try scene.text("\(Self.path)/detail/us4.kml").contains("Placemark"))
  }
}
