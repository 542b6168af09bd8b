import QuakeModel
import Testing

@testable import QuakeFeed

@Suite struct EventServiceTests {
  private func query(_ magnitude: Double? = nil) throws -> EventService.Query {
    EventService.Query(
      from: try #require(Timestamp(iso8601: "2020-01-31T00:00:00Z")),
      to: try #require(Timestamp(iso8601: "2020-02-01T12:30:05Z")), minimumMagnitude: magnitude)
  }

  @Test(arguments: ["", "/", "/query", "/query/", "//"])
  func usgsIsAskedForGeoJSON(ending: String) throws {
    let service = try EventService(base: EventService.usgsBaseURL + ending)
    #expect(service.centre == .usgs)
    #expect(service.description == EventService.usgsBaseURL)
    let span = "starttime=2020-01-31T00:00:00&endtime=2020-02-01T12:30:05"
    #expect(
      try service.countURL(query()).text
        == "https://earthquake.usgs.gov/fdsnws/event/1/count?\(span)")
    #expect(
      try service.queryURL(query(2.5), limit: 20_000).text
        == "https://earthquake.usgs.gov/fdsnws/event/1/query?\(span)&minmagnitude=2.5"
        + "&orderby=time-asc&limit=20000&format=geojson")
  }

  @Test func othersAreAskedForText() throws {
    let service = try EventService(base: "https://me:secret@www.seismicportal.eu/fdsnws/event/1")
    #expect(service.centre == .emsc)
    #expect(try service.queryURL(query(), limit: 10).text.hasSuffix("&limit=10&format=text"))
    #expect(
      try service.queryURL(query(), limit: nil).text.hasSuffix("&orderby=time-asc&format=text"))
    #expect(try service.queryURL(query(), limit: 10).text.contains("me:secret@"))
    #expect(try !"\(service.queryURL(query(), limit: 10))".contains("secret"))
    #expect(!service.description.contains("secret"))
    let mirror = try EventService(base: "http://127.0.0.1:1/", centre: .usgs)
    #expect(try mirror.queryURL(query(), limit: 10).text.hasSuffix("&format=geojson"))
  }

  /// The parameters ask for no less than the region, and `contains` decides.
  @Test func aRegionIsPartOfEachQuery() throws {
    let service = try EventService(base: EventService.usgsBaseURL)
    func arguments(_ region: EventService.Region) throws -> String {
      var query = try query()
      query.region = region
      let text = service.countURL(query).text
      return String(text[try #require(text.firstRange(of: "30:05")).upperBound...])
    }
    func event(_ longitude: Double, _ latitude: Double) -> EventRecord {
      var record = EventRecord()
      record.set(.longitude, longitude)
      record.set(.latitude, latitude)
      return record
    }
    let box = EventFilter.BoundingBox(west: -125, south: 30, east: -110, north: 42.5)
    #expect(
      try arguments(.init(box: box))
        == "&minlatitude=30.0&maxlatitude=42.5&minlongitude=-125.0&maxlongitude=-110.0")
    let pacific = EventService.Region(box: .init(west: 170, south: -50, east: -170, north: -10))
    #expect(pacific.options == "--bbox 170,-50,-170,-10")
    #expect(try arguments(pacific) == "&minlatitude=-50.0&maxlatitude=-10.0")
    #expect(pacific.contains(event(175, -20)) && pacific.contains(event(-175, -20)))
    #expect(!pacific.contains(event(0, -20)) && !pacific.contains(EventRecord()))
    let circle = EventService.Region(circle: .init(radius: 221, latitude: 10, longitude: 20))
    #expect(try arguments(circle) == "&latitude=10.0&longitude=20.0&maxradius=2.0")
    #expect(circle.contains(event(20, 11.98)) && !circle.contains(event(20, 11.99)))
    let earth = EventService.Region(circle: .init(radius: 30_000, latitude: 0, longitude: 0))
    #expect(try arguments(earth) == "")
    #expect(EventService.Region().options == nil && circle.options == "--within 221:10,20")
    #expect(try arguments(.init()) == "" && EventService.Region().contains(EventRecord()))
  }

  @Test(arguments: ["", "all_day", "ftp://x/y", "http://", "http://x/query?limit=1", "http://x/#y"])
  func invalidServiceURLs(base: String) {
    #expect(throws: FeedError.self) { try EventService(base: base) }
  }

  @Test(
    arguments: [
      ("12", 12), (" 0\r\n", 0), ("", nil), ("-1", nil), ("{\"count\":3}", nil), ("<html>", nil),
      ("99999999999999999999", nil), (String(repeating: "1", count: 100), nil), ("٣", nil),
    ] as [(String, Int64?)])
  func theCountOfAServiceIsReadOrNothing(body: String, count: Int64?) throws {
    let pieces = BytesSource(Array(body.utf8), pieceSize: { 1 })
    #expect(try EventService.count(in: BytesSource(body)) == count)
    #expect(try EventService.count(in: pieces) == count)
  }

  @Test func aTruncatedCountIsAnError() {
    let cut = FeedError(.truncatedTransfer, "cut")
    #expect(throws: cut) {
      try EventService.count(in: BytesSource(Array("12".utf8), failure: cut))
    }
  }

  @Test(arguments: [
    ("https://earthquake.usgs.gov/fdsnws/event/1", "usgs", ""),
    ("https://www.seismicportal.eu/fdsnws/event/1", "emsc", "emsc:"),
    ("https://webservices.ingv.it/fdsnws/event/1/query?x=1", "ingv", "ingv:"),
    ("http://geofon.gfz.de", "gfz", "gfz:"), ("http://geofon.gfz-potsdam.de/", "gfz", "gfz:"),
    ("https://service.geonet.org.nz:443/x", "geonet", "geonet:"),
    ("https://www.isc.ac.uk/fdsnws", "isc", "isc:"),
    ("https://me:se@cret@Seismo.Example.ORG:8080/x", "seismo.example.org", "seismo.example.org:"),
    ("http://[::1]:8080/x", "::1", "::1:"),
  ])
  func theHostDecidesTheCentre(url: String, name: String, prefix: String) throws {
    let centre = try #require(DataCentre(url: url))
    #expect(centre.name == name)
    #expect(centre.codePrefix == prefix)
  }

  @Test func aDataCentreHasALimitedName() {
    #expect(DataCentre(name: "usgs") == .usgs)
    #expect(DataCentre(name: "scedc-2.test_x")?.codePrefix == "scedc-2.test_x:")
    let long = String(repeating: "a", count: 65)
    for name in ["", "USGS", "a b", "a:b", "é", "a\n", long] {
      #expect(DataCentre(name: name) == nil, "\(name)")
    }
  }
}
