import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// Bad input leads to a message, a hint and the documented exit status, and leaves the database
/// unchanged.
@Suite struct BadInputTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let before: String

  /// A database with three events.
  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    let file = try folder.write("seed.geojson", Feeds.collection(count: 3, from: 901))
    try database.succeed("quake-ingest", ["import", file])
    before = try database.contents()
  }

  /// Runs an import that must fail.
  private func refuse(
    _ arguments: [String], status: Int32, says words: [String],
    environment: [String: String] = [:], about input: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try database.run("quake-ingest", ["import"] + arguments, environment: environment)
    check(outcome, status: status, says: words, about: input, sourceLocation: sourceLocation)
    #expect(try database.contents() == before, "\(input)", sourceLocation: sourceLocation)
  }

  private func check(
    _ outcome: ToolProcess.Outcome, status: Int32, says words: [String], about input: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    outcome.expectFailure(
      status, "error: ", "\n  hint: ", with: input, sourceLocation: sourceLocation)
    for word in words {
      #expect(
        outcome.errors.contains(word), "\(input) \"\(word)\" in: \(outcome.errors)",
        sourceLocation: sourceLocation)
    }
    #expect(outcome.errors.hasPrefix("quake-"), sourceLocation: sourceLocation)
  }

  // MARK: Bodies

  @Test func aBodyLongerThanTheLimitIsRefused() throws {
    let body = Feeds.collection(count: 20)
    let server = try ScriptedServer(200, [], body: Array(body.utf8))
    try refuse(
      ["--max-body", "1KiB", server.url], status: 65,
      says: ["too long", "more than 1024 bytes", "--max-body"])
    // A file has a limit only if one is set.
    let file = try folder.write("long.geojson", body)
    try refuse(["--max-body", "1KiB", file], status: 65, says: ["too long"])
    try refuse(["--max-body", "1.5GiB", file], status: 64, says: ["a size such as 500MiB or 2GiB"])
  }

  private static let good = Feeds.collection(count: 20)
  /// One of each kind: `QuakeFeedTests` has all.
  private static let bodies: [(description: String, text: String, says: [String])] = [
    ("spaces only", " \n\n ", ["is empty"]),
    ("HTML", "<!DOCTYPE html><html><body>Sorry</body></html>", ["HTML page"]),
    (
      "an external entity",
      "<!DOCTYPE q [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><q:quakeml>&a;</q:quakeml>",
      ["document type declaration", "refused"]
    ),
    ("cut after the last feature", String(good.dropLast(2)), ["truncated"]),
    ("data after the end", good + "{}", ["line"]),
    ("plain text", "Service unavailable, sorry.\n", ["feed"]),
    (
      "truncated CSV", Feeds.csvHeader + "\n" + Feeds.row("us1") + "\n2023-11-14T22:1",
      ["truncated", "The last row has 1 fields and no end."]
    ),
    (
      "NUL in a text", Feeds.collection([Feeds.feature("us1", place: "a\\u0000b")]),
      ["NUL", "record 1, line 1"]
    ),
    (
      "longitude out of range", Feeds.collection([Feeds.feature("us1", coordinates: "500,1,1")]),
      ["longitude", "500"]
    ),
    (
      "nesting without end", String(repeating: "{\"a\":", count: 100_000), ["truncated"]
    ),
  ]

  @Test func invalidBodiesAreBadData() throws {
    for body in Self.bodies {
      let file = try folder.write("bad.feed", body.text)
      try refuse([file], status: 65, says: body.says, about: body.description)
      // The same from a server.
      let server = try ScriptedServer(body: Array(body.text.utf8))
      try refuse([server.url], status: 65, says: body.says, about: body.description)
    }
  }

  /// The server would send 200 MB. The tool must refuse early, and use little memory.
  @Test func aHugeFeatureIsBadDataAndNeedsLittleMemory() throws {
    let asked = Flag()
    let answered = Flag()
    let server = try ScriptedServer { request, client in
      if request.number == 0 {
        let head = "{\"type\":\"FeatureCollection\",\"features\":[{\"id\":\"us1\",\"x\":\""
        client.send(
          "HTTP/1.1 200 OK\r\nContent-Length: \(200_000_000 + head.utf8.count)\r\n\r\n" + head)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        for _ in 0..<200 where !client.send(piece) { break }
      } else {
        // While the tool waits for the second source, the test reads its peak memory.
        asked.raise()
        try? answered.wait()
        client.answer(404, [], "")
      }
    }
    let tool = try database.start("quake-ingest", ["import", server.url, server.url])
    try asked.wait()
    let peak = try ProcessMemory.peak(of: tool.pid)
    answered.raise()
    let outcome = try tool.exit()
    check(outcome, status: 65, says: ["too large", "1048576 bytes"])
    #expect(peak < 32 * 1024, "peak of \(peak) kB")
    #expect(try database.contents() == before)
  }

  // MARK: HTTP

  @Test(arguments: [404, 503])
  func badStatusIsUnavailable(_ status: Int) throws {
    let server = try ScriptedServer(
      status, status == 404 ? [] : ["Retry-After: 17"], body: Array("<html>".utf8))
    try refuse(
      [server.url], status: 69,
      says: ["could not fetch \"\(server.url)\"", "HTTP status \(status)"]
        + (status == 404 ? ["Check the URL"] : ["Try again in 17 seconds."]))
  }

  @Test func silenceIsUnavailableAfterTheTimeout() throws {
    let body = Array(Feeds.collection(count: 50).utf8)
    let server = try ScriptedServer { _, client in
      client.answer(200, [], Array(body[..<4000]), announced: body.count)
      client.hold()
    }
    try refuse(
      ["--timeout", "300ms", server.url], status: 69, says: ["sent nothing for 300 ms"])
  }

  // MARK: Names, options, databases

  @Test func wrongNamesAndOptionsAreUsageErrors() throws {
    try refuse(["all_fortnight"], status: 64, says: ["unknown feed \"all_fortnight\"", "all_day"])
    try refuse(["ftp://example.org/x"], status: 64, says: ["http and https"])
    try refuse([""], status: 64, says: ["empty"])
    // A missing file is not a usage error.
    try refuse(["/nonexistent.json"], status: 69, says: ["could not open file"])
  }

  @Test(arguments: ["quake-ingest", "quake-watch", "quake-admin"])
  func aWrongDatabaseIsUnavailable(_ tool: String) throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 1))
    let commands = [
      "quake-ingest": ["import", file], "quake-watch": ["--no-follow"], "quake-admin": ["migrate"],
    ]
    let arguments = try #require(commands[tool])
    for address in ["host=/nonexistent dbname=x", database.conninfo + " dbname=no_such_database"] {
      check(try Tools.run(tool, arguments + ["--database", address]), status: 69, says: [])
    }
    let secret = try Tools.run(
      tool, arguments + ["--database", "postgresql://me:hunter2@127.0.0.1:1/x"])
    check(secret, status: 69, says: [])
    #expect(!secret.errors.contains("hunter2"))
  }

  // MARK: The machine

  /// The database's files, also those of its temporary tables, are in a file system that is too
  /// small.
  @Test(.enabled(if: SmallDisk.mayMount, "only root may mount a small file system"))
  func aFullDiskIsUnavailableAndRolledBack() throws {
    let disk = folder.path + "/disk"
    let place = "tablespace_\(database.name)"
    let admin = try Connection(
      ConnectionSettings(TestServer.shared.server.conninfo, applicationName: "tests"))
    try Tools.shell(
      """
      mkdir '\(disk)' && mount -t tmpfs -o size=16m,mode=700 none '\(disk)' \
        && chown "$(stat -c %U:%G '\(TestServer.shared.server.status().dataDirectory)')" '\(disk)'
      """
    ).requireSuccess()
    // A database is moved only without sessions, which end some time after their clients.
    func waitForNoSession() throws -> Bool {
      database.endQuestions()
      return try admin.eventually(
        "not exists (select from pg_stat_activity where datname = $1)", [.text(database.name)])
    }
    defer {
      _ = try? waitForNoSession()
      _ = try? admin.execute(
        SQL(trusted: "alter database \(database.name) set tablespace pg_default"))
      _ = try? admin.execute(SQL(trusted: "drop tablespace \(place)"))
      _ = try? Tools.shell("umount '\(disk)' || umount -l '\(disk)'")
    }
    try #require(try waitForNoSession())
    try admin.execute(SQL(trusted: "create tablespace \(place) location '\(disk)'"))
    try admin.execute(SQL(trusted: "alter database \(database.name) set tablespace \(place)"))
    let file = folder.path + "/large.geojson"
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "40000", "--output", file])
    try refuse(["--mix-simulated", file], status: 69, says: ["No space left on device", "53100"])
    // Once there is space, it continues.
    try Tools.shell("mount -o remount,size=32m '\(disk)'").requireSuccess()
    let small = try folder.write("small.geojson", Feeds.collection(count: 5))
    try database.succeed("quake-ingest", ["import", small])
  }
}
