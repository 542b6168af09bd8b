import Foundation
import Synchronization
import TestSupport
import Testing

/// Feeds with names of their own, from `--feed NAME=FEED` and from sections of the configuration file.
@Suite final class NamedFeedTests: ToolSuite {
  /// Polls once.
  private func run(_ arguments: [String]) throws -> ToolProcess.Outcome {
    try database.run("quake-ingest", ["run", "--once"] + arguments)
  }

  private func configured(_ text: String) throws -> ToolProcess.Outcome {
    try run(["--config", folder.write("q.conf", text)])
  }

  /// An event service: the least magnitude of a query decides which events it returns.
  private func service() throws -> ScriptedServer {
    let (large, small) = (
      Array(Feeds.collection(count: 2, magnitude: "5.5").utf8),
      Array(Feeds.collection(count: 3, from: 11).utf8)
    )
    return try ScriptedServer { request, client in
      let isLarge = request.target.contains("minmagnitude=5")
      client.answer(200, ["ETag: \"\(isLarge ? "large" : "small")\""], isLarge ? large : small)
    }
  }

  private func query(_ server: ScriptedServer) -> String {
    "http://127.0.0.1:\(server.port)/fdsnws/event/1/query?format=geojson"
  }

  @Test func twoQueriesOfOneServiceLiveSideBySide() throws {
    let server = try service()
    let arguments = [
      "--feed", "large=\(query(server))&minmagnitude=5@1h", "--feed", "small=\(query(server))@2h",
    ]
    try run(arguments).expect(0)
    #expect(
      try database.column(
        "select concat_ws(' ', name, every, etag, failures) from quake.feed order by name") == [
          "large 01:00:00 \"large\" 0", "small 02:00:00 \"small\" 0",
        ])
    #expect(
      try database.column("select feed || ' ' || seen from quake.import order by feed") == [
        "large 2", "small 3",
      ])
    // Each continues from its own validators.
    #expect(try run(arguments).status == 0)
    let sent = server.requests.suffix(2).map { request in
      (request.target.contains("minmagnitude"), request.headers["if-none-match"])
    }
    #expect(
      sent.allSatisfy { isLarge, tag in tag == (isLarge ? "\"large\"" : "\"small\"") }, "\(sent)")
    try run(["--feed", query(server), "--feed", query(server) + "&minmagnitude=5"]).expect(
      64, "two feeds are called \"query\"", "--feed NAME=URL")
  }

  @Test func aNameHasAFormThatCommandsCanRead() throws {
    for name in ["INGV", "a b", "simulated", String(repeating: "a", count: 41), ""] {
      let outcome = try run(["--feed", "\(name)=https://me:swordfish@example.org/query@5m"]).expect(
        64, "invalid name before the =", with: name)
      #expect(!outcome.errors.contains("swordfish"), "\(outcome.errors)")
    }
  }

  @Test func aSectionOfTheConfigurationFileIsAFeed() throws {
    let server = try service()
    try configured(
      """
      author = ada

      [feed large]
      url = \(query(server))&m=1
      minmagnitude = 5
      eventtype = quarry blast
      interval = 10m
      source = ingv
      timeout = 20s
      download-timeout = 1m

      [feed small]
      url = \(query(server))
      region = -120,30,-110,40
      """
    ).expect(0)
    #expect(
      try database.column("select name || ' ' || every from quake.feed order by name") == [
        "large 00:10:00", "small 00:01:00",
      ])
    #expect(
      try database.value("select url from quake.feed where name = 'large'")
        == query(server) + "&m=***&minmagnitude=5&eventtype=quarry%20blast")
    #expect(server.requests.contains { $0.target.hasSuffix("&eventtype=quarry%20blast") })
    #expect(try database.count("quake.quake") == 5)
    // The command line overrides the file.
    try run(["--config", folder.path + "/q.conf", "--feed", "other=\(query(server))"]).expect(0)
    #expect(try database.value("select feed from quake.import order by id desc limit 1") == "other")
  }

  @Test func eventsOutsideOfTheExpectedRegionAreRejectedWithTheReason() throws {
    let body = Feeds.collection([
      Feeds.feature("us1"), Feeds.feature("us2", coordinates: "12.5,41.9,8.1"),
    ])
    let server = try ScriptedServer(200, body: Array(body.utf8))
    try configured("[feed italy]\nurl = \(server.url)\nregion = 6,35,19,48\n").expect(0)
    #expect(try database.column("select code from quake.quake") == ["us2"])
    #expect(
      try database.value("select reason from quake.import_reject").hasPrefix(
        "The epicentre 35.7, -117.5 (latitude, longitude) is outside of the region"))
    // A service that sends the events of another region only has failed.
    let wrong = try configured("[feed japan]\nurl = \(server.url)\nregion = 122,24,146,46\n")
    #expect(wrong.status != 0, "\(wrong.errors)")
    #expect(
      try database.value("select failures from quake.feed where name = 'japan'") == "1")
  }

  @Test func aFeedThatHasLostMostOfItsEventsGoesOnWhenASnapshotIsAppliedWhateverItsName() throws {
    let now = Int(Date().timeIntervalSince1970) * 1000
    let body = Mutex(0)
    let server = try ScriptedServer { _, client in
      let count = body.withLock { count in
        count += 1
        return count == 1 ? 40 : 10
      }
      let events = (1...count).map { Feeds.feature("us\($0)", time: now - 1_800_000) }
      let generated = now - 600_000 + body.withLock { $0 } * 1000
      client.answer(200, [], Array(Feeds.collection(events, generated: generated).utf8))
    }
    let feed = ["--feed", "mine=http://127.0.0.1:\(server.port)/all_hour.geojson"]
    #expect(try run(feed).status == 0)
    #expect(try run(feed).status == 65)
    try database.succeed("quake-admin", ["imports", "apply", "2"])
    try run(feed).expect(0)
  }

  @Test func errorsInSectionsNameFileAndLine() throws {
    for (text, words) in [
      ("[feed a]\ninterval = 5m", "q.conf:2: section [feed a] has no key 'url'"),
      (
        "[feed a]\nurl = all_day\nregion = 10,20,10,30",
        "q.conf:3: invalid value '10,20,10,30' for key 'region': expected west,south,east,north"
      ),
      ("[feed a]\nurl = all_day\nminmagnitude = 5", "q.conf:2: a feed with filters must have"),
      (
        "[feed a]\nurl = http://h/query?minmag=4\nminmagnitude = 5",
        "q.conf:2: the URL has the parameter minmagnitude already"
      ),
      (
        "[feed a]\nurl = http://h/query\nmaxdepth = 10\nmindepth = 20",
        "q.conf:4: no event matches mindepth=20 and maxdepth=10"
      ),
      (
        "[feed a]\nurl = http://h/query\nlatitude = 91",
        "q.conf:3: invalid value '91' for key 'latitude': expected a number from -90 to 90"
      ),
      (
        "[feed simulated]\nurl = all_day",
        "q.conf:2: the simulated feed, and no other, is called simulated"
      ),
      ("[feed a]\nurl = all_hou", "q.conf:2: key 'url': unknown feed \"all_hou\""),
      ("[feed A]\nurl = all_day", "q.conf:2: invalid name of a feed in [feed A]"),
      ("[food a]\nurl = all_day", "q.conf:2: unknown section [food a]"),
    ] { try configured(text + "\n").expect(64, words, with: text) }
  }
}
