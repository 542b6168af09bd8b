import Foundation
import TestSupport
import Testing

/// Input from servers, feeds and users that is malicious, or as harmful as that.
@Suite struct HostileInputTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  @Test func anAnswerWithoutContentIsAnImportOfNothing() throws {
    let server = try ScriptedServer(204, body: [])
    let outcome = try Tools.succeed(
      "quake-ingest", ["import", "--json", server.url, "--database", database.conninfo])
    #expect(try JSONLine(outcome.lines[0]).integer("seen") == 0)
    #expect(try database.value("select http_status from quake.import") == "204")
  }

  @Test(arguments: ["Last-Modified", "Expires", "Date"])
  func datesAfterTheYear9999DoNoHarm(header: String) throws {
    let server = try ScriptedServer(
      200, ["\(header): Sat, 01 Jan 300000 00:00:00 GMT"],
      body: Array(Feeds.collection(count: 2).utf8))
    try Tools.succeed(
      "quake-ingest", ["import", server.url, "--database", database.conninfo])
    #expect(try database.count("quake.quake") == 2)
  }

  @Test func aRejectedRecordCannotControlTheTerminal() throws {
    let row = Feeds.row("us2").replacing("2.5,ml", with: "\u{1B}]0;x\u{07}\u{1B}[31m,ml")
    let file = try folder.write(
      "escapes.csv", [Feeds.csvHeader, Feeds.row("us1"), row, ""].joined(separator: "\n"))
    let outcome = try Tools.succeed(
      "quake-ingest", ["import", file, "--database", database.conninfo])
    #expect(outcome.errors.contains("1 record was rejected"))
    #expect(!outcome.errors.contains("\u{1B}"))
    #expect(!outcome.errors.contains("\u{07}"))
  }

  @Test func aPasswordIsNotSeenInTheProcessList() throws {
    let url = database.conninfo + " password=s3cret-word"
    let watch = try Tools.start("quake-watch", ["--verbose", "--database", url, "--json"])
    // It has connected, so it has read its arguments.
    try watch.waitForError("watching after ")
    let line = try String(contentsOfFile: "/proc/\(watch.pid)/cmdline", encoding: .utf8)
    #expect(line.contains("--database"))
    #expect(!line.contains("s3cret-word"))
    watch.signal(SIGTERM)
    #expect(try watch.exit().status == 0)
  }

  @Test func waitingForAPipeCanBeInterrupted() throws {
    let pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    // Open at both ends, so that the tool neither waits for a writer nor sees the end.
    let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    let before = try database.contents()
    let tool = try Tools.start("quake-ingest", ["import", pipe, "--database", database.conninfo])
    // It has opened the pipe, so it is about to wait for data.
    try eventually("the pipe is open") {
      let folder = "/proc/\(tool.pid)/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0)) == pipe
      }
    }
    tool.signal(SIGTERM)
    let outcome = try tool.exit()
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("interrupted"))
    #expect(try database.contents() == before)
  }

  /// As on 7 October 2024: no record is valid, and the error has their number.
  @Test func aFeedWithoutValidRecordsIsCountedAndRefused() throws {
    let rows = (1...3).map {
      Feeds.row("us\($0)").replacing("2023-11-14T22:13:20.000Z", with: "1970-01-01T00:00:02.-1Z")
    }
    let file = try folder.write("g.csv", ([Feeds.csvHeader] + rows + [""]).joined(separator: "\n"))
    let before = try database.contents()
    let outcome = try Tools.run(
      "quake-ingest", ["import", "--json", file, "--database", database.conninfo])
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("all 3 records were rejected"))
    let line = try JSONLine(try #require(outcome.lines.first))
    #expect(line.integer("seen") == 3)
    #expect(line.integer("rejected") == 3)
    #expect(line.isNull("import"))
    #expect(try database.contents() == before)
  }

  @Test func standardInputIsNotPolled() throws {
    let outcome = try Tools.run(
      "quake-ingest", ["run", "--feed", "-", "--database", database.conninfo])
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("--once"))
  }
}
