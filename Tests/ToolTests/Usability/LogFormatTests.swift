import Foundation
import TestSupport
import Testing

/// `--log-format json`: each line of standard error is an object, also the last.
@Suite final class LogFormatTests: ToolSuite {
  private func lines(_ errors: String) throws -> [JSONLine] {
    try errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { try JSONLine(String($0)) }
  }

  @Test func aWorkersLogIsObjects() throws {
    let features = (1...3).map { Feeds.feature("us\($0)") } + [#"{"id": "us\u001b"}"#]
    let body = Array(Feeds.collection(features).utf8)
    let server = try ScriptedServer { request, client in
      if request.number == 1 { client.answer(200, ["ETag: \"v1\""], body) }
      if request.number == 2 { client.answer(304, [], []) }
      if request.number > 2 { client.answer(503, [], []) }
    }
    let run = try database.start(
      "quake-ingest",
      ["run", "--log-format", "json", "--verbose", "--every", "20ms", "--feed", server.url])
    try run.waitForError("HTTP status 503", count: 2)
    run.signal(SIGTERM)
    let outcome = try run.exit().expect(0, output: "")
    let lines = try lines(outcome.errors)
    #expect(lines.allSatisfy { $0.string("tool") == "quake-ingest" })
    let imported = try #require(lines.first { $0.integer("inserted") != nil })
    #expect(imported.string("level") == "info" && imported.string("feed") == "all_day")
    for (key, count) in [("seen", 4), ("inserted", 3), ("updated", 0), ("unchanged", 0)] {
      #expect(imported.integer(key) == count, "\(key)")
    }
    #expect(imported.integer("rejected") == 1)
    let rejected = try #require(lines.first { $0.string("message")?.contains("rejected") == true })
    #expect(rejected.string("level") == "warning" && rejected.integer("rejected") == 1)
    #expect(imported.integer("import") == Int(try database.value("select id from quake.import")))
    #expect(
      imported.string("token")
        == (try database.value("select token || '.' || nonce from quake.change_transaction")))
    #expect(try #require(imported.double("seconds")) > 0)
    #expect(lines.contains { $0.string("level") == "debug" && $0.string("feed") == "all_day" })
    let failed = try #require(lines.first { $0.integer("failures") == 1 })
    #expect(failed.string("level") == "warning" && failed.integer("status") == 69)
    #expect(lines.last?.string("message") == "stopped")
  }

  @Test(arguments: ["text", "json"])
  func linesForTheJournalHaveTheirPriority(_ format: String) throws {
    let features = [Feeds.feature("us1"), #"{"id": "us\u001b"}"#]
    let file = try folder.write("bad.geojson", Feeds.collection(features))
    func errors(_ stream: String) throws -> [String] {
      let options = "--log-format \(format) -d '\(database.conninfo)'"
      let command = "quake-ingest import '\(file)' /nothing \(options)"
      return try Tools.shell("JOURNAL_STREAM=\(stream) exec \(command)").errors
        .split(separator: "\n").map(String.init)
    }
    // The journal reads standard error if its device and inode are those that systemd names.
    let lines = try errors("$(stat --dereference --format %d:%i /dev/stderr)")
    #expect(!lines.isEmpty)
    for line in lines {
      let isError = line.contains("error: ") || line.contains("\"level\":\"error\"")
      let isWarning = line.contains("warning: ") || line.contains("\"level\":\"warning\"")
      if isError { #expect(line.hasPrefix("<3>"), "\(line)") }
      if isWarning { #expect(line.hasPrefix("<4>"), "\(line)") }
      #expect(line.wholeMatch(of: /<[3467]>.+/) != nil, "\(line)")
    }
    #expect(lines.contains { $0.hasPrefix("<4>") } && lines.contains { $0.hasPrefix("<3>") })
    #expect(try !errors("1:1").contains { $0.hasPrefix("<") })
  }

  @Test func theLastErrorIsAnObjectToo() throws {
    let bad = try folder.write("bad.geojson", "<html>")
    let secret = "postgresql://me:swordfish@127.0.0.1:1/quake"
    for (tool, arguments, status) in [
      ("quake-ingest", ["import", bad] + database.option, 65),
      ("quake-ingest", ["run", "--no-such-option"], 64),
      ("quake-ingest", ["run", "--feed", "all_hour", "-d", secret], 69),
      ("quake-watch", ["-d", secret, "--no-follow"], 69),
      ("quake-watch", ["--after", "nonsense"] + database.option, 65),
      ("quake-query", ["list", "-d", secret], 69), ("quake-admin", ["status", "-d", secret], 69),
      ("quake-admin", [], 64),
    ] as [(String, [String], Int32)] {
      let outcome = try Tools.run(tool, arguments + ["--log-format", "json"])
      #expect(outcome.status == status, "\(tool) \(arguments): \(outcome.errors)")
      let last = try #require(try lines(outcome.errors).last)
      #expect(last.string("level") == "error" && last.string("tool") == tool)
      #expect(last.integer("status") == Int(status), "\(last.text)")
      #expect(!outcome.errors.contains("swordfish"))
    }
  }
}
