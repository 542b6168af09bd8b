import Foundation
import FoundationXML
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct FDSNServiceTests {
  private let scene: ServiceScene

  init() throws {
    scene = try ServiceScene(FDSNService().routes)
    try scene.connection.run(
      """
      insert into quake.quake (code, net, net_code, source, type, status, magnitude, magnitude_type, place,
          time, updated, longitude, latitude, depth, felt, cdi, mmi, alert, sig, gap, ids, sources, types)
      values
        ('us1', 'us', '1', 'usgs', 'earthquake', 'reviewed', 6.5, 'mww', 'Fiji', '2024-01-01T00:00:00Z',
         '2024-02-01Z', 179.5, -18, 550.25, 40, 5.1, 6.2, 'yellow', 700, 30, ',us1,at1,', ',us,at,',
         ',origin,shakemap,'),
        ('us2', 'us', '2', 'usgs', 'earthquake', 'REVIEWED', 4.5, 'mb', 'Tonga', '2024-01-02T00:00:00Z',
         '2024-02-02Z', -175, -20, 10, null, null, null, null, 312, 90, ',us2,', ',us,', ',origin,'),
        ('ci3', 'ci', '3', 'usgs', 'quarry blast', 'automatic', 1.2, 'ml', 'Mojave',
         '2024-01-03T12:00:00.5Z', '2024-02-03Z', -117.36, 35, -1.5, 2, 2.0, null, 'green', 22, 200, ',ci3,',
         ',ci,', ',origin,'),
        ('emsc:4', 'GFZ', '4', 'emsc', null, null, null, null, 'Off "coast"', '2024-01-04Z', null, 0, 0, null,
         null, null, null, null, null, null, null, null, null),
        ('gone', 'us', 'gone', 'usgs', 'earthquake', 'automatic', 3, 'ml', 'X', '2024-01-05Z', null, 1, 1, 1,
         null, null, null, null, null, null, ',gone,', ',us,', null),
        ('nowhere', 'us', 'nowhere', 'usgs', 'earthquake', null, 3, 'ml', 'X', '2024-01-05Z', null, null, null,
         null, null, null, null, null, null, null, null, null, null)
      """,
      """
      update quake.quake set withdrawn_at = now() where code = 'gone'
      """,
      """
      insert into quake.quake_alias (id, code) values ('at1', 'us1')
      """)
  }

  private static let path = "/fdsnws/event/1"

  private static let filters: [(String, String)] = [
    ("", "emsc:4 ci3 us2 us1"), ("orderby=time-asc", "us1 us2 ci3 emsc:4"),
    ("orderby=magnitude", "us1 us2 ci3 emsc:4"), ("orderby=magnitude-asc", "ci3 us2 us1 emsc:4"),
    ("limit=2", "emsc:4 ci3"), ("limit=2&offset=2", "ci3 us2"), ("offset=4", "us1"),
    ("limit=0", ""),
    ("offset=99999999999999999999&limit=5", ""),
    ("start=2024-01-02&end=2024-01-03T12:00:00.5", "ci3 us2"),
    ("endtime=2024-01-03T12:00:00.499", "us2 us1"),
    ("endtime=2024-01-03T12:00:00.500000", "ci3 us2 us1"),
    ("endtime=2024-01-02T01:00:00+01:00", "us2 us1"),
    ("endtime=2024-01-02T01:00:00%2B01:00", "us2 us1"),
    ("end=9999-12-31T23:59:59.999999", "emsc:4 ci3 us2 us1"),
    ("minlongitude=170&maxlongitude=190", "us2 us1"), ("minlon=-190&maxlon=-170", "us2 us1"),
    ("minlon=181&maxlon=190", "us2"), ("minlon=-182&maxlon=-180.4", "us1"),
    ("minlon=-180&maxlon=-170", "us2"), ("minlon=200&maxlon=242.64", "ci3"),
    ("minlongitude=-180&maxlongitude=180&minlatitude=-90&maxlatitude=90", "emsc:4 ci3 us2 us1"),
    ("minlat=0", "emsc:4 ci3"), ("maxlat=-19", "us2"), ("minlon=0", "emsc:4 us1"),
    ("minlon=181&maxlon=", ""),
    ("lat=0&lon=0&maxradius=1", "emsc:4"), ("lat=0&lon=1&maxradius=1", "emsc:4"),
    ("lat=0&lon=1&maxradius=0.99", ""), ("lat=0&lon=1&maxradiuskm=111.13", "emsc:4"),
    ("lat=0&lon=1&maxradiuskm=111.11", ""),
    ("lat=0&lon=0&minradius=1&maxradius=180", "ci3 us2 us1"),
    ("lat=-18&lon=-180&maxradius=10&minradiuskm=200", "us2"),
    ("minmagnitude=4.5", "us2 us1"), ("minmag=4.51", "us1"), ("maxmag=1.2", "ci3"),
    ("mindepth=10", "us2 us1"), ("maxdepth=-1.5", "ci3"), ("maxdepth=1e1", "ci3 us2"),
    ("magnitudetype=MWW", "us1"), ("magtype=mw", ""), ("eventtype=earthquake", "emsc:4 us2 us1"),
    ("eventtype=quarry+blast,explosion", "ci3"), ("eventtype=Quarry%20Blast", "ci3"),
    ("eventtype=quarry_blast", "ci3"),
    ("reviewstatus=reviewed", "us2 us1"), ("reviewstatus=automatic", "emsc:4 ci3"),
    ("minmmi=6", "us1"), ("maxmmi=6", ""), ("mincdi=2", "ci3 us1"), ("maxcdi=3", "ci3"),
    ("minfelt=3", "us1"),
    ("alertlevel=yellow", "us1"), ("mingap=90", "ci3 us2"), ("maxgap=90", "us2 us1"),
    ("minsig=312", "us2 us1"),
    ("maxsig=312", "ci3 us2"), ("catalog=at", "us1"), ("catalog=us", "us2 us1"),
    ("catalog=emsc", "emsc:4"),
    ("contributor=ci", "ci3"), ("contributor=GFZ", "emsc:4"), ("producttype=shakemap", "us1"),
    ("producttype=origin", "emsc:4 ci3 us2 us1"), ("productcode=at1", "us1"),
    ("includeallmagnitudes=False", "emsc:4 ci3 us2 us1"),
    ("includearrivals=FALSE&includeallorigins=false", "emsc:4 ci3 us2 us1"),
    ("includedeleted=true", "gone emsc:4 ci3 us2 us1"), ("includedeleted=only", "gone"),
    ("includedeleted=false", "emsc:4 ci3 us2 us1"),
    ("minmagnitude=&maxmagnitude=&eventtype=", "emsc:4 ci3 us2 us1"),
    ("minmagnitude=9&minmagnitude=4.5", "us2 us1"), ("eventid=us2&minmagnitude=9", "us2"),
    ("eventid=at1", "us1"), ("eventid=emsc:4", "emsc:4"), ("eventid=emsc%3A4&limit=0", "emsc:4"),
    ("eventid=nothing", ""),
    (
      "limit=20000&offset=1&orderby=time-asc&eventtype=earthquake&includedeleted=false",
      "us1 us2 emsc:4"
    ),
  ]

  @Test func theServiceTakesEveryFilter() throws {
    for (query, ids) in Self.filters { try filter(query, ids) }
  }

  private func filter(_ query: String, _ ids: String) throws {
    #expect(try scene.ids(query).joined(separator: " ") == ids, "\(query)")
    guard !query.contains("offset=9999") else { return }
    let count = try scene.text("\(Self.path)/count?starttime=2020-01-01&format=geojson&\(query)")
    let wanted = ids.isEmpty ? 0 : ids.split(separator: " ").count
    #expect(count == "{\"count\":\(wanted),\"maxAllowed\":20000}", "\(query)")
  }

  @Test func theServiceFindsByUpdatedafterWhateverChangedInTheStore() throws {
    let connection = scene.connection
    try connection.run("update quake.change_transaction set at = '2024-03-01Z'")
    #expect(try scene.ids("updatedafter=2024-03-01T00:00:01") == [])
    #expect(try scene.ids("updatedafter=2024-03-01") == ["emsc:4", "ci3", "us2", "us1"])
    // By hand, and of a source that states no time of its update.
    try connection.run(
      "update quake.quake set place = 'Gulf' where code = 'emsc:4'",
      "update quake.quake set validated = true where code = 'us2'",
      "update quake.quake set magnitude = magnitude where code = 'us1'",
      "update quake.quake set withdrawn_at = now() where code = 'ci3'")
    #expect(try scene.ids("updatedafter=2024-03-02") == ["emsc:4", "us2"])
    #expect(try scene.ids("updatedafter=2024-03-02&includedeleted=only") == ["ci3"])
    // Deleted without a tombstone.
    try connection.run("delete from quake.quake where code = 'us2'")
    #expect(try scene.ids("updatedafter=2024-03-02") == ["emsc:4"])
    #expect(try scene.ids("updatedafter=2024-03-02&includedeleted=only") == ["ci3", "us2"])
    #expect(try scene.ids("eventid=us2&includedeleted=true") == ["us2"])
    try connection.run(
      """
      insert into quake.quake (code, source, net, time, longitude, latitude)
      select v.code, v.source, v.net, v.time, v.longitude, v.latitude
        from quake.quake_version v where v.code = 'us2' and v.op = 'delete'
      """)
    #expect(try scene.ids("updatedafter=2024-03-02&includedeleted=only") == ["ci3"])
    // The history of the changes before was purged: the last change of each event remains.
    try connection.run(
      "select quake.raise_history_floor(quake.latest_token(), interval '0')",
      "select quake.purge_history(1000)")
    #expect(try scene.ids("updatedafter=2024-03-02") == ["emsc:4", "us2"])
    #expect(try scene.ids("updatedafter=2024-03-01") == ["emsc:4", "us2", "us1"])
  }

  private static let refusals = [
    (400, "nonsense=1", "Unknown parameter \"nonsense\"."),
    (400, "minmagnitude=abc", "Bad minmagnitude value \"abc\". Valid values are numeric"),
    (400, "minmagnitude=nan", "Bad minmagnitude value \"nan\""),
    (400, "minmag=inf", "Bad minmag value"),
    (400, "minmag=0x10", "Bad minmag value"), (400, "minmag=1e999", "Bad minmag value"),
    (400, "latitude=91&longitude=0&maxradius=1", "Valid values are -90 <= latitude <= 90"),
    (
      400, "lat=0&lon=0",
      "latitude, longitude, and maxradius must all be specified for area-circle."
    ),
    (400, "maxradius=1", "must all be specified"),
    (400, "lat=0&lon=0&maxradius=1&maxradiuskm=1", "can not both be"),
    (400, "minradiuskm=3000", "must all be specified"),
    (
      400, "lat=0&lon=0&minradius=1&maxradius=1&minradiuskm=1",
      "minradius and minradiuskm can not both"
    ),
    (400, "minlatitude=2&maxlatitude=1", "minlatitude must be less than maxlatitude"),
    (400, "minlongitude=170&maxlongitude=-170", "minlongitude must be less than maxlongitude"),
    (400, "minlongitude=-190", "require both minlongitude and maxlongitude"),
    (400, "minlongitude=-190&maxlongitude=180", "cannot span more than 360"),
    (400, "limit=20001", "Valid values are 0 <= limit <= 20000"),
    (400, "limit=-1", "Bad limit value"),
    (400, "limit=1.5", "Bad limit value"), (400, "offset=0", "Valid values are 1 <= offset"),
    (400, "starttime=yesterday", "Valid values are ISO-8601 timestamps."),
    (400, "starttime=2024-02-30", "Bad starttime value"),
    (400, "starttime=10000-01-01", "Bad starttime"),
    (
      400, "orderby=depth",
      "Valid values are: \"time\", \"time-asc\", \"magnitude\", \"magnitude-asc\"."
    ),
    (400, "format=pdf", "Bad format value \"pdf\""),
    (400, "nodata=500", "Valid values are: \"204\", \"404\"."),
    (400, "alertlevel=blue", "Bad alertlevel value"),
    (400, "reviewstatus=done", "Bad reviewstatus value"),
    (400, "includeallorigins=maybe", "(case insensitive): \"TRUE\", \"FALSE\""),
    (400, "format=geojson&includeallorigins=true", "Cannot use includeallorigins"),
    (400, "format=text&includedeleted=true", "unless format is geojson or csv"),
    (400, "format=geojson&includesuperseded=true", "without eventid"),
    (400, "format=csv&includesuperseded=true&eventid=us1", "unless format is geojson"),
    (
      400, "format=geojson&includesuperseded=true&includedeleted=true&eventid=us1", "at same time"
    ),
    (
      400, "catalog=none",
      "Bad catalog value \"none\". Valid values are: \"GFZ\", \"at\", \"ci\", \"emsc\", \"us\""
    ),
    (400, "contributor=none", "Bad contributor value"),
    (501, "includearrivals=true", "is not supported"),
    (404, "nodata=404&minmagnitude=9", "Not Found"),
    (404, "format=geojson&eventid=nothing", "Not Found"),
    (404, "nodata=404&eventid=nothing", "Not Found"),
    (409, "format=geojson&eventid=gone", "has been deleted"),
    (409, "eventid=gone", "has been deleted"),
    (409, "format=csv&eventid=gone", "has been deleted"),
  ]

  @Test func theServiceRefusesWhatThatOfUSGSRefusesInItsWords() throws {
    for (status, query, sentence) in Self.refusals { try refusal(status, query, sentence) }
  }

  private func refusal(_ status: Int, _ query: String, _ sentence: String) throws {
    let target = "\(Self.path)/query?\(query)"
    let answer = try scene.get(target)
    #expect(answer.status == status)
    #expect(answer.type.hasPrefix("text/plain"))
    let lines = answer.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.hasPrefix("Error \(status): ") == true)
    #expect(lines[1] == "")
    #expect(answer.text.contains(sentence), "\(answer.text)")
    #expect(
      answer.text.contains(
        "\n\nUsage details are available from http://quake.test:8080/fdsnws/event/1/\n"))
    #expect(answer.text.contains("\n\nRequest:\n\(target)\n\nRequest Submitted:\n20"))
    #expect(answer.text.contains("+00:00\n\nService version:\n1.2.0"))
    guard query.contains("format=geojson") else { return }
    // The same as a document.
    let json = try scene.get("\(target)&jsonerror=true")
    #expect(json.status == 200)
    let root = try #require(
      try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any])
    let metadata = try #require(root["metadata"] as? [String: Any])
    #expect(metadata["status"] as? Int == status)
    #expect(metadata["title"] as? String == "Search Error")
    #expect(metadata["count"] as? Int == 0)
    #expect((metadata["error"] as? String)?.contains(sentence.prefix(30)) == true)
    #expect(root["type"] as? String == (status == 400 ? "FeatureCollection" : "Feature"))
  }

  @Test func theServiceAnswersWithoutEventsAsEachFormatHasThem() throws {
    for format in ["", "format=xml", "format=quakeml"] {
      let answer = try scene.get("\(Self.path)/query?minmagnitude=9&\(format)")
      #expect(answer.status == 204 && answer.text.isEmpty)
      for id in ["nothing", "nowhere"] {
        #expect(try scene.get("\(Self.path)/query?eventid=\(id)&\(format)").status == 204)
      }
    }
    let json = try scene.text("\(Self.path)/query?minmagnitude=9&format=geojson&nodata=404")
    #expect(
      json.contains("\"count\":0") && json.contains("\"features\":[]") && !json.contains("bbox"))
    #expect(
      try scene.text("\(Self.path)/query?minmagnitude=9&format=csv").hasPrefix("time,latitude"))
    #expect(try scene.text("\(Self.path)/query?minmagnitude=9&format=text").hasPrefix("#EventID|"))
    #expect(!(try scene.text("\(Self.path)/query?minmagnitude=9&format=kml")).contains("Placemark"))
    // The last 30 days, by default.
    #expect(try scene.text("\(Self.path)/count") == "0")
    #expect(try scene.text("\(Self.path)/count?updatedafter=2020-01-01") == "0")
    #expect(
      try scene.text("\(Self.path)/count?starttime=2020-01-01&format=xml").hasPrefix(
        "<query><count>4</count>"))
    #expect(try scene.text("\(Self.path)/count?eventid=gone") == "0")
    #expect(try scene.text("\(Self.path)/count?eventid=nowhere") == "0")
    #expect(try scene.get("\(Self.path)/query?eventid=nowhere&format=geojson").status == 404)
    #expect(try scene.text("\(Self.path)/count?eventid=at1") == "1")
  }

  @Test func theServiceRefusesMoreEventsThanItsLimitUnlessTheQueryLimitsItself() throws {
    try scene.connection.run(
      """
      insert into quake.quake (code, time, longitude, latitude)
      select 'many' || n, '2021-01-01Z'::timestamptz + n * interval '1 s', 0, 0 from generate_series(1, 20001) n
      """)
    let target = "\(Self.path)/query?format=csv&starttime=2020-01-01&endtime=2021-12-31"
    let answer = try scene.get(target)
    #expect(answer.status == 400)
    #expect(answer.text.contains("20001 matching events exceeds search limit of 20000."))
    #expect(try scene.get(target + "&offset=10").status == 400)
    #expect(try scene.text(target + "&limit=20000").split(separator: "\n").count == 20001)
    #expect(try scene.text(target + "&limit=20000&offset=20001").split(separator: "\n").count == 2)
    let count = try scene.text(
      "\(Self.path)/count?format=geojson&starttime=2020-01-01&endtime=2021-12-31")
    #expect(
      count.hasPrefix("{\"count\":20001,\"maxAllowed\":20000,\"error\":\"20001 matching events"))
  }

  @Test func theServiceWritesGeoJSONWithEveryValueThatClientsNeed() throws {
    let target = "\(Self.path)/query?format=geojson&starttime=2020-01-01&limit=3&offset=1"
    let answer = try scene.get(target)
    #expect(answer.type == "application/json; charset=utf-8")
    #expect(answer.headers["cache-control"] == "public, max-age=60")
    #expect(answer.headers["expires"]?.hasSuffix(" GMT") == true)
    let root = try #require(
      try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
    let metadata = try #require(root["metadata"] as? [String: Any])
    #expect(metadata["url"] as? String == "http://quake.test:8080" + target)
    // Of several sources.
    #expect(metadata["title"] as? String == "Earthquakes")
    #expect(metadata["count"] as? Int == 3)
    #expect(metadata["limit"] as? Int == 3 && metadata["offset"] as? Int == 1)
    #expect((root["bbox"] as? [Double]) == [-175, -20, -1.5, 0, 35, 10])
    let features = try #require(root["features"] as? [[String: Any]])
    let bare = try #require(features.first)
    #expect(bare["id"] as? String == "emsc:4")
    #expect((bare["geometry"] as? [String: Any])?["coordinates"] as? [Double] == [0, 0, 0])
    let properties = try #require(bare["properties"] as? [String: Any])
    #expect(properties["mag"] is NSNull)
    #expect(properties["time"] as? Int == 1_704_326_400_000)
    #expect(properties["updated"] as? Int == 1_704_326_400_000)
    #expect(properties["url"] as? String == "http://quake.test:8080/v1/quakes/emsc:4")
    #expect(
      properties["detail"] as? String
        == "http://quake.test:8080/fdsnws/event/1/query?eventid=emsc:4&format=geojson")
    #expect(properties["title"] as? String == "M ? - Off \"coast\"")
    #expect(properties["type"] as? String == "earthquake")
    #expect(properties["types"] as? String == ",origin,")
    #expect(properties["ids"] as? String == ",emsc:4,")
    #expect(properties["sources"] as? String == ",GFZ,")
    #expect(properties["tsunami"] as? Int == 0)
    let blast = try #require(features[1]["properties"] as? [String: Any])
    #expect(blast["title"] as? String == "M 1.2 Quarry Blast - Mojave")
  }

  @Test func timesInGeoJSONAreWholeMilliseconds() throws {
    try scene.connection.run(
      """
      update quake.quake set time = '2024-01-01T00:00:00.123456Z', updated = '2024-02-01T00:00:00.123987Z'
       where code = 'us1'
      """)
    let text = try scene.text(
      "\(Self.path)/query?format=geojson&starttime=2020-01-01&minmagnitude=6")
    #expect(text.contains("\"time\":1704067200123,\"updated\":1706745600123,"), "\(text)")
  }

  @Test func theServiceWritesOneEventWithTheProductsThatTheStoreKnows() throws {
    try scene.connection.run(
      "update quake.quake set magnitude = 6.6, updated = '2024-02-05Z' where code = 'us1'")
    func products(_ query: String) throws -> [String: [[String: Any]]] {
      let text = try scene.text("\(Self.path)/query?format=geojson&eventid=\(query)")
      let root = try #require(
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(root["type"] as? String == "Feature")
      let properties = try #require(root["properties"] as? [String: Any])
      return try #require(properties["products"] as? [String: [[String: Any]]])
    }
    let known = try products("at1")
    #expect(known.keys.sorted() == ["dyfi", "losspager", "origin", "shakemap"])
    let origin = try #require(known["origin"]?.first)
    #expect(known["origin"]?.count == 1)
    #expect(origin["source"] as? String == "us" && origin["code"] as? String == "us1")
    #expect(origin["updateTime"] as? Int == 1_707_091_200_000)
    let values = try #require(origin["properties"] as? [String: String])
    #expect(
      values["magnitude"] == "6.6" && values["depth"] == "550.25"
        && values["eventsourcecode"] == "1")
    let versions = try #require(try products("us1&includesuperseded=true")["origin"])
    #expect(
      versions.map { ($0["properties"] as? [String: String])?["magnitude"] } == ["6.6", "6.5"])
    #expect(
      try products("gone&includedeleted=true")["origin"]?.first?["status"] as? String == "DELETE")
    // An event that is no row any more.
    try scene.connection.run("delete from quake.quake where code = 'us2'")
    #expect(try scene.get("\(Self.path)/query?format=geojson&eventid=us2").status == 409)
  }

  @Test func theServiceDescribesItself() throws {
    #expect(try scene.get("\(Self.path)/version").text == "1.2.0")
    let wadl = try scene.get("\(Self.path)/application.wadl")
    #expect(wadl.type == "application/xml")
    let document = try XMLDocument(xmlString: wadl.text)
    let parameters = try document.nodes(
      forXPath: "//*[local-name()='resource'][@path='query']//*[local-name()='param']")
    #expect(parameters.count == FDSNParameter.all.count)
    #expect(wadl.text.contains("base=\"http://quake.test:8080/fdsnws/event/1/\""))
    #expect(
      try scene.text("\(Self.path)/catalogs").contains(
        "<Catalogs><Catalog>GFZ</Catalog><Catalog>at</Catalog><Catalog>ci</Catalog><Catalog>emsc</Catalog>"
      ))
    #expect(try scene.text("\(Self.path)/contributors").contains("<Contributor>ci</Contributor>"))
    let lists = try scene.text("\(Self.path)/application.json")
    #expect(lists.contains("\"eventtypes\":[\"earthquake\",\"quarry blast\"]"))
    #expect(lists.contains("\"producttypes\":[\"origin\",\"shakemap\"]"))
    #expect(try scene.text("\(Self.path)/").contains("minmagnitude, minmag"))
    #expect(throws: HTTPError.self) { try scene.get("/fdsnws/dataselect/1/application.wadl") }
  }

  @Test func theServiceTakesTheFormatFromThePath() throws {
    let query = "starttime=2020-01-01"
    #expect(
      try scene.text("\(Self.path)/query.geojson?\(query)").hasPrefix(
        "{\"type\":\"FeatureCollection\""))
    #expect(try scene.text("\(Self.path)/query.csv?\(query)").hasPrefix("time,"))
    #expect(try scene.get("\(Self.path)/query.pdf?\(query)").status == 400)
    let text = try scene.text("\(Self.path)/query?format=text&\(query)").split(separator: "\n")
    #expect(
      text.allSatisfy { $0.split(separator: "|", omittingEmptySubsequences: false).count == 14 })
    let kml = try scene.text("\(Self.path)/query?format=kml&\(query)")
    #expect(kml.contains("<color>ddffffff</color><scale>0.8</scale>") && !kml.contains("TimeStamp"))
  }
}
