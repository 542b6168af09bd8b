import Foundation
import TestSupport
import Testing

/// Programs of others read the stream of changes, the event service and the feeds.
@Suite struct ClientTests {
  @Test(
    .enabled(if: Clients.python != nil, "\(Clients.isMissing)"),
    arguments: ["httpx-sse", "sseclient-py", "websockets"])
  func aClientReadsEachChangeOnceAcrossReconnections(client: String) throws {
    let database = try TestDatabase()
    for count in [1, 7, 2] {
      try database.psql(
        """
        insert into quake.quake (code, time, place)
        select '\(count)x' || i, now(), E'Zürich\\n\\u2028 "near"' from generate_series(1, \(count)) i;
        """)
    }
    try database.psql(
      "update quake.quake set magnitude = 4; delete from quake.quake where code = '1x1'")
    let server = try ServerProcess(database, ["--heartbeat", "200ms"])
    let history = try database.history()
    let script = Tools.package + "/Tests/ToolTests/Readers/read_stream.py"
    let words = [Clients.python ?? "", script, client, server.url, "\(history.count)"]
    let outcome = try Tools.shell(
      words.map { "'\($0)'" }.joined(separator: " "), environment: ["HOME": NSTemporaryDirectory()]
    ).expect(0)
    guard client == "websockets" else {
      #expect(outcome.lines == history)
      return try server.stop()
    }
    #expect(
      outcome.lines
        == history.map { line in
          let words = line.split(separator: " ")
          return "\(words[2] == "insert" ? "create" : words[2]) \(words[3])"
        })
    try server.stop()
  }

  @Test func openStreamsEndWithTheServer() throws {
    let database = try TestDatabase()
    // Only the greeting is a heartbeat, and only the end of the streams ends the server before the test fails.
    let server = try ServerProcess(
      database, ["--heartbeat", "1h"] + (Tools.isSoak ? [] : ["--drain", "1h"]))
    let connections = try (0..<20).map { _ in
      let connection = try RawConnection(port: server.port)
      connection.send("GET /v1/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return connection
    }
    try eventually("all are greeted") {
      try server.get("/metrics").text.contains("quake_stream_heartbeats_total 20\n")
    }
    let begun = ContinuousClock.now
    try server.stop()
    if Tools.isSoak { #expect(ContinuousClock.now - begun < .seconds(9)) }
    for connection in connections {
      let answer = try connection.answer().expect(200)
      #expect(answer.headers["content-type"] == "text/event-stream; charset=utf-8")
      #expect(answer.headers["x-accel-buffering"] == "no")
      #expect(answer.text.hasPrefix("event: heartbeat\nid: 0\ndata: {"))
      #expect(answer.text.hasSuffix("}\n\n"))
    }
  }

  @Test func streamsGoOnUntilTheirTurnToEnd() throws {
    let database = try TestDatabase()
    let server = try ServerProcess(database, ["--drain-streams", "1h", "--heartbeat", "1h"])
    let streams = try (0..<4).map { _ in
      let connection = try RawConnection(port: server.port)
      connection.send("GET /v1/changes HTTP/1.0\r\nHost: localhost\r\n\r\n")
      while try connection.line()?.hasPrefix("data: ") == false {}
      return connection
    }
    let kept = try RawConnection(port: server.port)
    _ = try kept.request("GET", "/readyz")
    server.process.signal(SIGTERM)
    try eventually("the server takes no further connections") {
      (try? RawConnection(port: server.port)) == nil
    }
    let refused = try kept.request("GET", "/readyz").expect(503)
    #expect(refused.headers["connection"] == "close")
    // Of the hour, only the turn of the first has come.
    while let line = try streams[0].line() { #expect(!line.hasPrefix("data:")) }
    try database.insert("a")
    for stream in streams.dropFirst() {
      var line = try stream.line()
      while line?.hasPrefix("data:") == false { line = try stream.line() }
      #expect(line?.contains("\"code\":\"a\"") == true)
    }
    for stream in streams { shutdown(stream.descriptor, Int32(SHUT_RDWR)) }
    #expect(try server.process.exit().status == 0)
  }

  @Test func theDrainLimitsTheEndOfStreams() throws {
    let database = try TestDatabase()
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || i, now(), repeat('x', 1000) from generate_series(1, 8000) i
      """)
    let server = try ServerProcess(database, ["--drain", "300ms"])
    // This client reads nothing, so its stream cannot end at the end of an event.
    let connection = try RawConnection(port: server.port)
    connection.send("GET /v1/changes?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try eventually("the client's socket is full") {
      try server.get("/metrics").text.contains("quake_stream_blocked_clients 1\n")
    }
    let begun = ContinuousClock.now
    try server.stop()
    if Tools.isSoak { #expect(ContinuousClock.now - begun < .seconds(9)) }
    _ = connection
  }

  @Test(
    .enabled(if: Clients.python != nil, "\(Clients.isMissing)"),
    .enabled(if: Feeds.hasReal, "there are no real feeds"))
  func clientsReadTheCatalogueThatWasImported() throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    func python(_ arguments: [String]) throws -> ToolProcess.Outcome {
      let script = Tools.package + "/Tests/ToolTests/Readers/read_services.py"
      let words = ([Clients.python ?? "", script] + arguments).map { "'\($0)'" }
      // Some of these programs make folders in the home folder.
      return try Tools.startShell(
        words.joined(separator: " "), environment: ["HOME": folder.path]
      ).exit(within: .seconds(900))
    }
    let feed = folder.path + "/all_day.geojson"
    let source = Feeds.realFolder + "/usgs/usgs_all_day_2019-11-21T1802Z.geojson"
    try #require(try python(["shift", source, feed]).status == 0)
    try database.succeed("quake-ingest", ["import", feed])
    let codes = try database.column(
      "select code from quake.current_quake order by magnitude, code limit 2")
    let (withdrawn, old) = (codes[0], codes[1])
    let new = try database.value(
      "select code from quake.current_quake order by magnitude desc nulls last, code limit 1")
    try database.psql(
      """
      update quake.quake set withdrawn_at = now() where code = '\(withdrawn)';
      update quake.quake set superseded_by = '\(new)' where code = '\(old)';
      insert into quake.quake_alias (id, code) values ('\(old)', '\(new)');
      """)
    let server = try ServerProcess(database)
    let read = try python(["read", server.url, feed, withdrawn, old, new]).expect(0)
    for client in [
      "ObsPy ", "ObsPy filters", "usgs-libcomcat", "aio-geojson-usgs-earthquakes",
      "aio-geojson-generic-client",
      "aio-quakeml-ingv", "quakefeeds",
      "GDAL ", "GDAL feed", "pandas", "ObsPy text",
    ] {
      #expect(read.lines.contains { $0.hasPrefix(client) }, "\(client) did not finish")
    }
    try server.stop()
  }
}
