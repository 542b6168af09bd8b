import Foundation
import TestSupport
import Testing

/// Events whose ids have characters that mean something in a URL: every address that the server makes of them
/// works.
@Suite struct AddressTests {
  private static let codes = [
    "smi:ch.ethz.sed/sc99a/Event/2026xaaaaa", "a#b", "a?b=c&d", "100%25", "50%", "a;b,c", "a b",
    "Pāhala 🌋", "a+b", "back\\slash", "quo\"te's", "../up", "versions/restore", "a/", "<b>&amp;",
    "e\u{301}/\u{301}", "a:b@c", "a.geojson",
  ]

  private static func scene() throws -> APIScene {
    let scene = try APIScene(hasEvents: false)
    let rows = codes.enumerated().map { index, code in
      """
      ('\(code.replacing("'", with: "''"))', 'usgs', 'earthquake', \(index % 6).5, 'Somewhere', \
      now() - interval '\(index + 1) h', \(index), \(-index), 10)
      """
    }
    try scene.database.psql(
      """
      insert into quake.quake (code, source, type, magnitude, place, time, longitude, latitude, depth)
      values \(rows.joined(separator: ", "))
      """)
    return scene
  }

  /// The addresses of the server in a document.
  private static func addresses(in text: String) -> Set<String> {
    Set(
      text.matches(of: #/http://127\.0\.0\.1(?::\d+)?(/[^"<>\s]*)/#).map {
        String($0.1).replacing("&amp;", with: "&").replacing("\\/", with: "/")
      })
  }

  @Test func everyAddressThatIsServedCanBeFetched() throws {
    let scene = try Self.scene()
    let feeds = "/earthquakes/feed/v1.0/summary/all_month"
    var left = [
      feeds + ".geojson", feeds + ".atom", feeds + ".kml", feeds + ".quakeml",
      feeds + ".csv", "/fdsnws/event/1/query?format=geojson", "/fdsnws/event/1/query?format=kml",
      "/v1/quakes?limit=5", "/v1/quakes?columns=code,url,detail",
    ]
    var known = Set(left)
    var served: [String: Int] = [:]
    while let target = left.popLast() {
      let answer = try scene.server.get(target)
      #expect(answer.status == 200, "\(target): \(answer.text.prefix(200))")
      if let next = try APIScene.next(answer), known.insert(next).inserted { left.append(next) }
      for address in Self.addresses(in: answer.text) where known.insert(address).inserted {
        left.append(address)
        let kind = ["/v1/quakes/", "/detail/", "eventid="].first { address.contains($0) }
        served[kind ?? "other", default: 0] += 1
      }
    }
    // `url`, `detail` of the feeds with their QuakeML, and `detail` of the event service.
    #expect(served["/v1/quakes/"] ?? 0 >= Self.codes.count, "\(served)")
    #expect(served["/detail/"] ?? 0 >= 2 * Self.codes.count, "\(served)")
    #expect(served["eventid="] ?? 0 >= Self.codes.count, "\(served)")
  }

  @Test func aQueryAndAnEditFindTheEvent() throws {
    let scene = try Self.scene()
    for code in Self.codes {
      let id = APIScene.encoded(code)
      #expect(try scene.object("/v1/quakes/\(id)")["id"] as? String == code)
      #expect(try scene.object("/v1/quakes/\(id)/versions")["code"] as? String == code)
    }
    for code in Self.codes.prefix(2) {
      let id = APIScene.encoded(code)
      #expect(try scene.edit("DELETE", "/v1/quakes/\(id)").status == 200)
      #expect(try scene.server.get("/v1/quakes/\(id)").status == 410)
      #expect(try scene.edit("POST", "/v1/quakes/\(id)/restore").status == 200)
      #expect(try scene.object("/v1/quakes/\(id)")["id"] as? String == code)
    }
    // A slash that is not encoded separates.
    try scene.server.get("/v1/quakes/smi:ch.ethz.sed/sc99a/Event/2026xaaaaa").expect(404)
    // The address in the answer is a valid reference.
    let problem = try scene.server.get("/v1/quakes/no%20such%2Fevent")
    let members = try problem.object()
    #expect(members["instance"] as? String == "/v1/quakes/no%20such%2Fevent")
  }
}
