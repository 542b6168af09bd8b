import Foundation
import Synchronization
import TestSupport
import Testing

/// Servers that hardly send anything, and other feeds that must not wait for them.
@Suite final class SlowServerTests: ToolSuite {
  /// How soon a signal ends a download; beside other tests everything takes several times as long.
  private static let promptly = Duration.seconds(Tools.isSoak ? 20 : 90)

  private enum Way: CaseIterable { case headers, body, gzip }

  /// A server that begins an answer and then sends a byte at a time, until the client closes the
  /// connection.
  private static func dripping(_ way: Way, _ begun: Flag) throws -> ScriptedServer {
    try ScriptedServer { _, client in
      client.send("HTTP/1.1 200 OK\r\n")
      switch way {
      case .headers: client.send("X-Nothing: ")
      case .body: client.send("\r\n{\"type\":\"FeatureCollection\",")
      case .gzip:
        client.send("Content-Encoding: gzip\r\n\r\n")
        client.send([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3])  // a file name follows that never ends
      }
      begun.raise()
      client.drip(way == .gzip ? [0x41] : [0x20], every: 50)
    }
  }

  private func quick(_ name: String) throws -> (server: ScriptedServer, url: String) {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 2).utf8))
    return (server, "http://127.0.0.1:\(server.port)/\(name).geojson")
  }

  private func run(_ arguments: [String]) throws -> ToolProcess {
    try database.start("quake-ingest", ["run"] + arguments)
  }

  @Test func aSlowServerDelaysNoOtherFeedAndNoEnd() throws {
    let begun = Flag()
    let slow = try Self.dripping(.gzip, begun)
    let (server, url) = try quick("quick")
    let file = try folder.write("file.geojson", Feeds.collection(count: 3))
    let run = try run(
      ["--feed", slow.url, "--feed", url, "--feed", file, "--every", "50ms"])
    try begun.wait()
    try run.waitForError("quick: 2 seen", count: 5)
    try run.waitForError("file.geojson: 3 seen", count: 5)
    // The slow feed is still in its first request.
    #expect(slow.requests.count == 1 && server.requests.count >= 5)
    #expect(!run.errorText.contains("warning"), "\(run.errorText)")
    // Other feeds can be refreshed, too.
    try database.succeed("quake-admin", ["refresh", "quick"])
    let signalled = ContinuousClock.now
    try run.end()
    #expect(ContinuousClock.now - signalled < Self.promptly)
    #expect(try database.value("select bool_and(complete) from quake.import") == "t")
    #expect(try database.count("quake.quake") == 3)
  }

  @Test func aDownloadThatTakesTooLongIsAFailureOfItsFeed() throws {
    let slow = try Self.dripping(.body, Flag())
    // A file: on a busy machine, the download of another feed could take too long as well.
    let file = try folder.write("quick.geojson", Feeds.collection(count: 2))
    let run = try run(
      ["--feed", slow.url, "--feed", file, "--every", "1h", "--download-timeout", "300ms"])
    try run.waitForError("could not import all_day: could not fetch")
    try run.waitForError("not done in 300 ms")
    try run.waitForError("quick.geojson: 2 seen")
    try eventually("the failure is recorded") {
      try database.value("select count(*) from quake.feed where failures > 0") == "1"
    }
    try run.end()
    #expect(
      try database.column(
        "select name || ' ' || failures || ' ' || coalesce(error, '-') from quake.feed order by name"
      )
        == [
          "all_day 1 could not fetch \"\(slow.url)\": The download was not done in 300 ms, which is the most it may take.",
          "quick.geojson 0 -",
        ])
    #expect(try database.count("quake.import") == 1)
  }

  @Test func aRequestDuringADownloadIsAnsweredByTheNextPoll() throws {
    let begun = Flag()
    let asked = Flag()
    let body = Array(Feeds.collection(count: 2).utf8)
    let server = try ScriptedServer { request, client in
      if request.number == 0 {
        begun.raise()
        try? asked.wait()
      }
      client.answer(200, [], body)
    }
    let run = try run(["--feed", server.url, "--every", "1h", "--refresh-interval", "0s"])
    try begun.wait()
    #expect(try database.value("select quake.request_refresh('all_day') is not null") == "t")
    asked.raise()
    try run.waitForError("all_day: 2 seen", count: 2)
    try eventually("the request is answered") {
      try database.value("select outcome from quake.refresh_request") == "imported"
    }
    try run.end()
    #expect(server.requests.count == 2)
    #expect(
      try database.value(
        "select r.import_id = max(i.id) from quake.refresh_request r, quake.import i group by r.import_id"
      )
        == "t")
  }

  @Test func anImportIsEndedByASignal() throws {
    for way in Way.allCases {
      let begun = Flag()
      let slow = try Self.dripping(way, begun)
      let run = try database.start("quake-ingest", ["import", slow.url])
      try begun.wait()
      let signalled = ContinuousClock.now
      run.signal(SIGTERM)
      try run.exit().expect(1, with: way)
      #expect(ContinuousClock.now - signalled < Self.promptly)
    }
    // While it waits for a program that writes to a pipe, too.
    let run = try database.start("quake-ingest", ["import", pipe()])
    try run.waitForError("waiting for a program that writes to it")
    run.signal(SIGTERM)
    #expect(try run.exit().status == 1)
    #expect(try database.count("quake.import") == 0)
  }

  // MARK: Named pipes

  private func pipe() throws -> String {
    let path = folder.path + "/pipe.geojson"
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }

  @Test func aNamedPipeIsWaitedForAndReadToItsEnd() throws {
    let path = try pipe()
    let run = try database.start("quake-ingest", ["import", path])
    try run.waitForError("waiting for a program that writes to it")
    let writer = Glibc.open(path, O_WRONLY)
    try #require(writer >= 0)
    let bytes = Array(Feeds.collection(count: 3).utf8)
    #expect(write(writer, bytes, bytes.count) == bytes.count)
    close(writer)
    let outcome = try run.exit().expect(0)
    #expect(outcome.lines.first?.contains("3 inserted") == true, "\(outcome)")
  }

  @Test func aNamedPipeIsNotPolled() throws {
    for (path, words) in [(try pipe(), "cannot poll file"), ("-", "--once")] {
      try database.run("quake-ingest", ["run", "--feed", path]).expect(64, words)
    }
    // Nor one that later replaces a file.
    let file = try folder.write("late.geojson", Feeds.collection(count: 1))
    let run = try run(["--feed", file, "--every", "50ms"])
    try run.waitForError("late.geojson: 1 seen")
    try #require(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
    try run.waitForError("is not a regular file")
    try run.end()
  }
}
