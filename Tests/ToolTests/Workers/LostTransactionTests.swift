import Foundation
import TestSupport
import Testing

/// A worker and a server whose database comes back without transactions that they have seen, as after a restore or a
/// failover that lost some: that is an error in their logs.
@Suite final class LostTransactionTests: ToolSuite {
  /// Puts another transaction in the place of the last one, and ends the sessions of a program.
  private func replaceLastTransaction(endingSessionsOf tool: String) throws {
    try database.psql(
      """
      begin;
      create temporary table lost on commit drop as
        select t.token, t.transaction_id from quake.change_transaction t order by t.token desc limit 1;
      delete from quake.quake_version v using lost where v.transaction_id = lost.transaction_id;
      delete from quake.change_transaction t using lost where t.token = lost.token;
      select setval('quake.token', greatest(token - 1, 1), token > 1) from lost;
      commit;
      """)
    try database.insert("other")
    try database.endSessions(of: tool)
  }

  private func error(in process: ToolProcess, with words: String) throws -> JSONLine {
    try process.waitForError(words)
    let lines = try process.errorText.split(separator: "\n").map { try JSONLine(String($0)) }
    return try #require(lines.first { $0.string("message")?.contains(words) == true })
  }

  @Test func aWorkerReportsThatItsPrimaryLostThem() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 2).utf8))
    let worker = try database.start(
      "quake-ingest", ["run", "--log-format", "json", "--feed", "\(server.url)@1h"])
    try worker.waitForError("2 inserted")
    let written = try database.value("select quake.latest_token()")
    try replaceLastTransaction(endingSessionsOf: "quake-ingest")
    let line = try error(in: worker, with: "has lost transactions")
    #expect(line.string("level") == "error")
    #expect(line.string("message")?.hasSuffix(": history diverged at token \(written)") == true)
    let there = try database.value("select quake.latest_token()")
    #expect(line.string("detail")?.contains(" is \(there) there.") == true, "\(line.text)")
    #expect(line.string("hint")?.contains("failover") == true)
    // It works on.
    try database.succeed("quake-admin", ["refresh", "all_day"])
    let outcome = try worker.end()
    #expect(outcome.errors.components(separatedBy: "has lost transactions").count == 2)
  }

  @Test func aWorkerReportsNothingAboutAnInterruption() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 2).utf8))
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(server.url)@1h"])
    try worker.waitForError("2 inserted")
    try database.insert("other")
    try database.endSessions(of: "quake-ingest")
    try worker.waitForError("connected to the database again")
    worker.signal(SIGTERM)
    #expect(try !worker.exit().errors.contains("error:"))
  }

  @Test func aServerReportsThatItsDatabaseLostThem() throws {
    try database.insert("a")
    try database.insert("b")
    let server = try ServerProcess(database, ["--log-format", "json"])
    try eventually("the streams follow") { try server.get("/readyz").status == 200 }
    let read = try database.value("select quake.latest_token()")
    try replaceLastTransaction(endingSessionsOf: "quake-serve")
    let line = try error(in: server.process, with: "The streams begin anew")
    #expect(line.string("level") == "error")
    #expect(line.string("message")?.contains("history diverged at token \(read)") == true)
    let there = try database.value("select quake.latest_token()")
    let places = "They had read up to \(read), and continue after \(there)."
    #expect(line.string("detail")?.contains(places) == true, "\(line.text)")
    #expect(line.string("hint")?.contains("quake-query verify") == true)
    try server.stop()
  }

  @Test func aServerReportsAGapInItsHistoryOnce() throws {
    for number in 1...9 { try database.insert("e\(number)") }
    let tokens = try database.tokens()
    try database.psql(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token between 4 and 6;
      delete from quake.change_transaction where token between 4 and 6;
      """)
    let server = try ServerProcess(database, ["--log-format", "json"])
    // A client's own wrong token is none of the operator's concern.
    for after in [tokens[0], tokens[1], "5.00000000"] {
      try Tools.run(
        "quake-watch", ["--url", server.url, "--after", after, "--json", "--no-follow"]
      ).expect(65)
    }
    try server.stop()
    let lines = try server.process.errorText.split(separator: "\n").map {
      try JSONLine(String($0))
    }.filter { $0.string("level") == "error" }
    try #require(lines.count == 1, "\(server.process.errorText)")
    #expect(
      lines[0].string("message")
        == "A client of the streams gets a reset: history diverged at token \(tokens[2])")
    #expect(lines[0].string("detail")?.contains(tokens[6]) == true)
  }
}
