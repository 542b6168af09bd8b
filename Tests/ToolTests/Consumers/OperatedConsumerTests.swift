import Foundation
import TestSupport
import Testing

/// A consumer of `quake-watch run` that an operator pauses, rewinds and helps with `quake-admin consumers` while it runs.
@Suite struct OperatedConsumerTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private func insert(_ code: String) throws {
    try database.psql(
      "insert into quake.quake (code, time, magnitude) values ('\(code)', now(), 5);")
  }

  /// Starts a consumer that delivers while the file "ok" exists, to the file "out".
  private func start() throws -> ToolProcess {
    let configuration = try folder.write(
      "consumers.conf",
      """
      [consumer log]
      exec = cd '\(folder.path)' && test -e ok && echo "$QUAKE_CODE" >> out
      from = start
      """)
    return try Tools.start("quake-watch", ["run", "--config", configuration] + database.option)
  }

  private func accept(_ accepts: Bool) throws {
    let path = folder.path + "/ok"
    if accepts {
      try folder.write("ok", "")
    } else {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  private var delivered: [String] {
    let text = (try? String(contentsOfFile: folder.path + "/out", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  private func expect(_ codes: [String]) throws {
    try eventually("\(codes) are delivered, not \(delivered)") { delivered == codes }
  }

  private func consumers(_ arguments: String...) throws {
    try Tools.succeed("quake-admin", ["consumers"] + arguments + database.option)
  }

  private func value(_ expression: String, from table: String = "quake.delivery") throws -> String {
    try database.value("select \(expression) from \(table)")
  }

  @Test func theRunningConsumerObeysTheOperator() throws {
    try accept(true)
    try insert("a")
    let process = try start()
    try insert("b")
    try expect(["a", "b"])

    // What it owes is recorded meanwhile.
    try consumers("pause", "log")
    try eventually("it has noticed the pause") {
      try insert("p" + value("count(*)", from: "quake.quake"))
      return Int(try value("count(*)")) ?? 0 >= 3
    }
    try consumers("resume", "log")
    let all = try database.column("select code from quake.change order by token_number, version")
    try expect(all)

    // It delivers again from a place on.
    let place = try database.value(
      "select token || '.' || nonce from quake.change_transaction order by token limit 1")
    try consumers("rewind", "log", "--to", place, "--yes")
    try expect(all + all.dropFirst())

    // A message waits for its next attempt, and the operator does not.
    try accept(false)
    try insert("c")
    try eventually("attempts fail") { try value("coalesce(max(attempts), 0)") >= "4" }
    let listed = try Tools.run("quake-admin", ["consumers", "--json"] + database.option)
    let line = try JSONLine(try #require(listed.lines.first))
    #expect(line.string("state") == "failing" && line.integer("owed") == 1)
    try accept(true)
    try consumers("retry", "log")
    let again = all + all.dropFirst() + ["c"]
    try expect(again)

    // Nor does a message that was discarded come.
    try accept(false)
    try insert("d")
    try eventually("attempts fail") { try value("coalesce(max(attempts), 0)") >= "2" }
    try consumers("discard", "log", "--all", "--yes")
    try insert("e")
    try accept(true)
    try expect(again + ["e"])
    try eventually("the rate is counted") {
      try value("rate > 3 and delivered > 5", from: "quake.consumer") == "t"
    }

    // A consumer that is removed ends, and the process goes on.
    try consumers("remove", "log", "--yes")
    try process.waitForError("log")
    process.signal(SIGTERM)
    #expect(try process.exit().ending == .exited(0))
  }
}
