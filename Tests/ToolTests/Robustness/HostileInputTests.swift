import Foundation
import TestSupport
import Testing

/// Input from servers, feeds and users that is malicious, or as harmful as that.
@Suite final class HostileInputTests: ToolSuite {
  @Test func datesAfterTheYear9999DoNoHarm() throws {
    let server = try ScriptedServer(
      200,
      ["Last-Modified", "Expires", "Date"].map { "\($0): Sat, 01 Jan 300000 00:00:00 GMT" },
      body: Array(Feeds.collection(count: 2).utf8))
    try database.succeed("quake-ingest", ["import", server.url])
    #expect(try database.count("quake.quake") == 2)
  }

  @Test func aRejectedRecordCannotControlTheTerminal() throws {
    let row = Feeds.row("us2").replacing("2.5,ml", with: "\u{1B}]0;x\u{07}\u{1B}[31m,ml")
    let file = try folder.write(
      "escapes.csv", [Feeds.csvHeader, Feeds.row("us1"), row, ""].joined(separator: "\n"))
    let outcome = try database.succeed("quake-ingest", ["import", file])
    #expect(outcome.errors.contains("1 record was rejected"))
    #expect(!outcome.errors.contains("\u{1B}"))
    #expect(!outcome.errors.contains("\u{07}"))
  }

  /// As on 7 October 2024: no record is valid, and the error has their number.
  @Test func aFeedWithoutValidRecordsIsCountedAndRefused() throws {
    let rows = (1...3).map {
      Feeds.row("us\($0)").replacing("2023-11-14T22:13:20.000Z", with: "1970-01-01T00:00:02.-1Z")
    }
    let file = try folder.write("g.csv", ([Feeds.csvHeader] + rows + [""]).joined(separator: "\n"))
    let before = try database.contents()
    let outcome = try database.run("quake-ingest", ["import", "--json", file]).expect(
      65, "all 3 records were rejected")
    let line = try JSONLine(try #require(outcome.lines.first))
    #expect(line.integer("seen") == 3)
    #expect(line.integer("rejected") == 3)
    #expect(line.isNull("import"))
    #expect(try database.contents() == before)
  }

  // MARK: Endless answers

  /// The outcome of an import from a server that sends the start, and the rest again and again.
  private func outcome(_ start: String, _ rest: [UInt8]) throws -> ToolProcess.Outcome {
    let server = try ScriptedServer { _, client in
      client.send(start)
      while client.send(rest) {}
    }
    defer { server.stop() }
    return try database.run("quake-ingest", ["import", server.url])
  }

  private static let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"

  @Test func nothingButSpacesEndsWithASentence() throws {
    try outcome(Self.head, [UInt8](repeating: 0x20, count: 1 << 20)).expect(
      65, "has no event in 64 MiB")
  }

  @Test func nothingButEmptyMembersEndsWithASentence() throws {
    let member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    try outcome(Self.head, Array(repeating: member, count: 10_000).flatMap { $0 }).expect(
      65, "does not become a feed")
  }

  @Test func nothingButInterimAnswersEndsWithASentence() throws {
    try outcome("", Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)).expect(
      69, "more than 100 interim answers")
  }

  // MARK: Descriptors

  /// What is printed must not get into the connection, which would have the number of a descriptor that the caller has
  /// closed.
  @Test func closedDescriptorsAreNoneOfTheDatabases() throws {
    try database.psql(
      "insert into quake.quake (code, time) select 'e' || n, now() from generate_series(1, 20000) n"
    )
    for command in [
      "quake-query list --json", "quake-watch --from-start --no-follow --json",
      "quake-admin status",
    ] {
      let outcome = try Tools.shell(
        "\(command) >&-", environment: ["DATABASE_URL": database.conninfo]
      ).expect(1, "could not write", with: command)
      #expect(!outcome.errors.contains("connection"), "\(command): \(outcome.errors)")
    }
    for redirection in ["2>&-", "<&- 2>&-"] {
      let outcome = try Tools.shell(
        "quake-query list --codes --verbose \(redirection)",
        environment: ["DATABASE_URL": database.conninfo]
      ).expect(0, with: redirection)
      #expect(outcome.lines.count == 20_000, "\(redirection)")
    }
    let input = try Tools.shell(
      "quake-query list --codes --code - <&-", environment: ["DATABASE_URL": database.conninfo])
    #expect(input.status != 0)
    #expect(input.errors.contains("could not read the codes"), "\(input.errors)")
  }
}
