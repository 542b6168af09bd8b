import Foundation
import TestSupport
import Testing

/// The queries under `/v1`: each answer is what the tools print.
@Suite struct APIQueryTests {
  /// Conditions as options; the same names are parameters.
  private static let conditions: [[(String, String?)]] = [
    [], [("max-magnitude", "3.5"), ("min-depth", "20")],
    [("place", "PĀHALA"), ("place", "nothing")], [("place", "100%")],
    [("type", "quarry blast,earthquake")], [("network", "ci")], [("alert", "green")],
    [("bbox", "170,-50,-50,10")], [("within", "3000:0,0")], [("code", "us1,us3,us4,none")],
    [("from", "2023-12-01"), ("to", "2023-12-10T12:00:00Z")], [("superseded", nil)], [("all", nil)],
    [("as-of", "1"), ("all", nil)],
  ]

  private static func target(_ path: String, _ options: [(String, String?)]) -> String {
    let items = options.map { name, value in
      "\(name.replacingOccurrences(of: "-", with: "_"))=\(APIScene.encoded(value ?? "true"))"
    }
    return path + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
  }

  private static func arguments(_ options: [(String, String?)]) -> [String] {
    options.flatMap { name, value in ["--" + name] + (value.map { [$0] } ?? []) }
  }

  @Test func theListIsTheOneOfQuakeQuery() throws {
    let scene = try APIScene()
    var found = 0
    for options in Self.conditions {
      let answer = try scene.object(Self.target("/v1/quakes", options))
      let exported = try #require(
        try JSONSerialization.jsonObject(
          with: Data(
            try scene.database.run(
              "quake-query", ["export", "--format", "geojson"] + Self.arguments(options)
            ).output.utf8)) as? [String: Any])
      for member in ["features", "bbox"] {
        #expect(
          try APIScene.text(answer[member] ?? "none") == APIScene.text(exported[member] ?? "none"),
          "\(options)")
      }
      let features = try #require(answer["features"] as? [[String: Any]])
      found += features.count
      let metadata = try #require(answer["metadata"] as? [String: Any])
      #expect(metadata["count"] as? Int == features.count && metadata["status"] as? Int == 200)

      let columns = ("columns", "code,magnitude,depth,time,withdrawn_at,validated" as String?)
      let some = try scene.object(Self.target("/v1/quakes", options + [columns]))
      let properties = try #require(some["features"] as? [[String: Any]]).map {
        $0["properties"] as Any
      }
      let listed = try scene.tool(
        "quake-query", ["list", "--json"] + Self.arguments(options + [columns]))
      #expect(try APIScene.text(properties) == APIScene.text(listed), "\(options)")
    }
    #expect(found > 100)
  }

  @Test func statisticsAreThoseOfQuakeQuery() throws {
    let scene = try APIScene()
    for options in Self.conditions.prefix(3) + [[("of", "depth")], [("completeness", "2.5")]] {
      let answer = try scene.object(Self.target("/v1/stats", options))
      let printed = try scene.tool("quake-query", ["stats", "--json"] + Self.arguments(options))
      #expect(
        try [APIScene.text(answer)]
          == APIScene.text(printed).map { $0.replacing("--", with: "the parameter ") },
        "\(options)")
    }
    for options: [(String, String?)] in [
      [("by", "region")], [("by", "day"), ("of", "depth"), ("min-magnitude", "3")],
      [("by", "magnitude"), ("bin", "0.5"), ("limit", "3")],
    ] {
      let answer = try scene.object(Self.target("/v1/stats", options))
      let printed = try scene.tool("quake-query", ["stats", "--json"] + Self.arguments(options))
      let groups = try #require(answer["groups"] as? [Any])
      #expect(try APIScene.text(groups) == APIScene.text(printed) && !groups.isEmpty, "\(options)")
    }
  }

  @Test func theHistoryIsTheOneOfQuakeQuery() throws {
    let scene = try APIScene()
    let token = try scene.database.value("select quake.latest_token()")
    for options in Self.conditions.prefix(4) + [
      [("after", "1")], [("up-to", "2"), ("descending", nil)], [("transaction", token)],
      [("since", "2020-01-01"), ("until", "2099-01-01")], [("op", "update,delete")],
      [("author", "bob")], [("not-author", "bob"), ("op", "insert")], [("context", "a & b=c")],
      [("changed", "magnitude,superseded_by")], [("transaction", "0")],
    ] {
      let answer = try scene.object(Self.target("/v1/history", options))
      let printed = try scene.tool("quake-query", ["history", "--json"] + Self.arguments(options))
      #expect(
        try APIScene.text(try #require(answer["changes"] as? [Any])) == APIScene.text(printed),
        "\(options)")
      #expect(answer["next"] is NSNull)
    }
    for (target, arguments) in [
      ("?from=0", ["0"]), ("?from=1&to=\(token)", ["1", token]),
      ("?from=\(token)&to=1", [token, "1"]),
    ] {
      let answer = try scene.object("/v1/diff" + target)
      let printed = try scene.tool("quake-query", ["diff", "--json"] + arguments)
      let differences = try #require(answer["differences"] as? [Any])
      #expect(try APIScene.text(differences) == APIScene.text(printed) && !printed.isEmpty)
    }
    #expect(try scene.object("/v1/diff?from=0")["to"] as? String == token)
  }

  @Test func differencesComeInPages() throws {
    let scene = try APIScene()
    let middle = try scene.database.value("select quake.latest_token()")
    try scene.database.psql(
      """
      truncate quake.quake;
      insert into quake.quake (code, source, time, place) values ('us5', 'usgs', '2024-01-01Z', 'again'), ('~', 'x', now(), '');
      insert into quake.quake (code, source, time) values ('gone', 'x', now());
      delete from quake.quake where code = 'gone';
      """)
    for (from, to) in [(middle, "0"), (middle, nil), ("0", nil)] {
      let last = try to ?? scene.database.value("select quake.latest_token()")
      let printed = try scene.tool("quake-query", ["diff", "--json", from, last])
      #expect(printed.count > 1)
      for limit in [1, 7] {
        let upTo = to.map { "&to=\($0)" } ?? ""
        let seen = try scene.pages("/v1/diff?from=\(from)&limit=\(limit)" + upTo).flatMap { page in
          let differences = try #require(page["differences"] as? [Any])
          #expect(differences.count <= limit && page["to"] as? String == last)
          return differences
        }
        #expect(try APIScene.text(seen) == APIScene.text(printed), "\(from) \(last) \(limit)")
      }
    }
    // What is committed meanwhile belongs to no page.
    let first = try scene.server.get("/v1/diff?from=\(middle)&limit=1")
    try scene.database.psql("insert into quake.quake (code, time) values ('zzz', now())")
    let rest = try scene.pages(try #require(try APIScene.next(first)))
    #expect(try !APIScene.text(rest as [Any]).contains { $0.contains("zzz") })
    for page in [
      "x", "0~1", "0~\(middle)~a", "0~\(middle)~0~~", "1.00000000~\(middle)~0~~a",
    ] {
      let status = try scene.server.get("/v1/diff?from=0&page=\(page)").status
      #expect([400, 404].contains(status), "\(page)")
    }
  }

  @Test func aPageOfDifferencesBelongsToItsPoints() throws {
    let scene = try APIScene()
    let newest = try scene.database.value("select quake.latest_token()")
    for points in ["from=0", "from=\(newest)&to=0", "from=1%20h%20ago&to=now"] {
      let first = try scene.object("/v1/diff?limit=1&\(points)")
      guard let page = first["next"] as? String else { continue }
      let cursor = try #require(page.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      #expect(try scene.server.get("/v1/diff?limit=1&\(points)&page=\(cursor)").status == 200)
      for others in ["from=2", "from=0&to=2", "from=\(newest)", "from=2%20h%20ago&to=now"] {
        let answer = try scene.server.get("/v1/diff?limit=1&\(others)&page=\(cursor)")
        #expect(answer.status == 400, "\(points) \(others)")
        #expect(
          answer.text.contains("Repeat from and to of the first page, unchanged."), "\(answer.text)"
        )
      }
    }
  }

  @Test func anEventIsFoundByAnyIdItHad() throws {
    let scene = try APIScene()
    for (id, code) in [("ci1", "ci1"), ("us77", "ci1"), ("us1", "us2"), ("us3", "us3")] {
      #expect(try scene.object("/v1/quakes/\(id)")["id"] as? String == code)
      let shown = try scene.tool("quake-query", ["show", "--json", id])
      let names = try #require(shown.first as? [String: Any]).keys.joined(separator: ",")
      let event = try scene.object("/v1/quakes/\(id)?columns=\(names)")
      #expect(try APIScene.text([event["properties"] as Any]) == APIScene.text(shown))
      let versions = try scene.object("/v1/quakes/\(id)/versions")
      let printed = try scene.tool("quake-query", ["versions", "--json", id])
      #expect(
        try APIScene.text(try #require(versions["versions"] as? [Any])) == APIScene.text(printed))
    }
    #expect(try scene.object("/v1/quakes/us9/versions")["code"] as? String == "us9")
    let odd = try scene.object("/v1/quakes/local%3Ax%25_y%27z?columns=code")
    #expect(odd["id"] as? String == "local:x%_y'z")
    for id in ["none", "us%25", "us_", "us1%27--", "..%5C"] {
      #expect(try scene.server.get("/v1/quakes/\(id)").status == 404, "\(id)")
      #expect(try scene.server.get("/v1/quakes/\(id)/versions").status == 404, "\(id)")
    }
    // A row that somebody deleted with SQL.
    let removed = try scene.server.get("/v1/quakes/us9")
    let problem = try removed.object()
    #expect(removed.status == 410 && removed.headers["content-type"] == "application/problem+json")
    #expect(problem["reason"] as? String == "removed" && problem["author"] as? String == "bob")
  }

  @Test func theStatusIsTheOneOfQuakeAdmin() throws {
    let scene = try APIScene()
    var answer = try scene.object("/v1/status")
    let outcome = try scene.database.run("quake-admin", ["status", "--json"])
    var printed = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(Set(answer.keys) == Set(printed.keys))
    // The clock goes on, the server connects, and tests in other databases fill the queue.
    for member in [
      "time", "token_age_seconds", "bytes", "tables", "notification_queue_usage",
    ] {
      answer[member] = nil
      printed[member] = nil
    }
    answer["notification_queue"] = (answer["notification_queue"] as? [String: Any])?["holders"]
    printed["notification_queue"] = (printed["notification_queue"] as? [String: Any])?["holders"]
    let (served, told) = try (APIScene.text(answer), APIScene.text(printed))
    #expect(served == told, "\(served)\n\(told)")
    #expect(answer["ok"] as? Bool == true && answer["token"] is String)
  }

  @Test func anAnswerIsKeptByItsTagUntilTheStoreChanges() throws {
    let scene = try APIScene()
    for target in [
      "/v1/quakes?limit=3", "/v1/quakes/us5", "/v1/stats", "/v1/table", "/v1/history?limit=2",
    ] {
      let first = try scene.server.get(target)
      let tag = try #require(first.headers["etag"])
      #expect(try scene.server.get(target, ["If-None-Match": tag]).status == 304, "\(target)")
      try scene.database.psql(
        "update quake.quake set magnitude = magnitude + 1, sig = 1 where code in ('us4', 'us5', 'us40')"
      )
      let second = try scene.server.get(target, ["If-None-Match": tag])
      #expect(second.status == (target.contains("history") ? 304 : 200), "\(target)")
    }
    for (target, type) in [("quakes", "application/geo+json"), ("table", "application/json")] {
      let zipped = try scene.server.get("/v1/\(target)", ["Accept-Encoding": "gzip"])
      #expect(zipped.headers["content-encoding"] == "gzip")
      #expect(zipped.headers["content-type"] == type)
    }
  }

  @Test func anAddressThatHasNoPlaceInTheLinkOfItsAnswerIsRefusedWithTheReason() throws {
    let scene = try APIScene()
    let target = "/v1/quakes?code=us4,us5," + String(repeating: "x", count: 1900)
    #expect(try scene.server.get(target).status == 200)
    try scene.server.get(target + "&limit=1").expect(431, "more pages")
  }

  @Test func linksLeadThroughTheWholeList() throws {
    let scene = try APIScene()
    for order in ["time:desc", "magnitude,-depth"] {
      let target = "/v1/quakes?sort=\(order)&all&columns=code"
      let whole = try APIScene.text(try #require(try scene.object(target)["features"] as? [Any]))
      // Without a cursor it is the first page.
      let pages = try scene.pages(target + "&limit=7&page=").map {
        try APIScene.text(try #require($0["features"] as? [Any]))
      }
      #expect(pages.flatMap(\.self) == whole && pages.count == 6, "\(order)")
    }
    for order in ["", "&descending"] {
      for condition in ["", "&code=us1,us2,us3,us7,us9"] {
        let target = "/v1/history?not-author=eve\(order)\(condition)"
        let whole = try APIScene.text(
          try #require(try scene.object(target)["changes"] as? [Any]))
        let parts = try scene.pages(target + "&limit=3").flatMap {
          try APIScene.text(try #require($0["changes"] as? [Any]))
        }
        #expect(parts == whole && whole.count > 4, "\(target)")
      }
    }
  }
}
