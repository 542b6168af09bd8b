import Testing

@testable import QuakeFeed

@Suite struct DataCentreTests {
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

  @Test func aURLWithoutHostHasNoCentre() {
    for url in ["", "file", "http:///x", "http://:80/", "http://a@/x"] {
      #expect(DataCentre(url: url) == nil, "\(url)")
    }
  }

  @Test func aDataCentreHasALimitedName() {
    #expect(DataCentre(name: "usgs") == .usgs)
    #expect(DataCentre(name: "scedc-2.test_x")?.codePrefix == "scedc-2.test_x:")
    let long = String(repeating: "a", count: 65)
    for name in ["", "USGS", "a b", "a:b", "é", "a\n", long] {
      #expect(DataCentre(name: name) == nil, "\(name)")
    }
  }

  @Test func catalogueOfEachFormat() {
    #expect(
      FeedFormat.allCases.map { $0.centre?.name } == [
        "usgs", "emsc", "geonet", "usgs", nil, nil, nil, nil,
      ])
  }
}
