import Foundation
import Postgres
import TestSupport
import Testing

/// What a consumer of `quake-watch run` keeps through lost connections, rewinds, refusals and restores, and how it obeys
/// `quake-admin consumers`.
@Suite final class ConsumerFaultTests: ToolSuite {
  private func insert(_ codes: String..., magnitude: Double = 5) throws {
    let rows = codes.map { "('\($0)', now(), \(magnitude))" }.joined(separator: ", ")
    try database.psql("insert into quake.quake (code, time, magnitude) values \(rows);")
  }

  /// Starts a consumer that takes messages while the file "ok" exists, and appends to the file "out".
  private func start(_ lines: String..., command: String = "exec = CD && echo $QUAKE_CODE >> out")
    throws -> ToolProcess
  {
    let exec = command.replacing("CD", with: "cd '\(folder.path)' && test -e ok")
    let configuration = try folder.write(
      "consumers.conf",
      (["[consumer log]", "from = start", exec] + lines).joined(separator: "\n") + "\n")
    return try database.start(
      "quake-watch", ["run", "--config", configuration, "--state", folder.path + "/witness"])
  }

  private func accept(_ accepts: Bool = true) throws {
    if accepts {
      try folder.write("ok", "")
    } else {
      try FileManager.default.removeItem(atPath: folder.path + "/ok")
    }
  }

  private var delivered: [String] {
    let text = (try? contents(of: folder.path + "/out")) ?? ""
    // A command may be in the middle of the last line.
    let whole = text.lastIndex(of: "\n").map { text[..<$0] } ?? ""
    return whole.split(separator: "\n").map(String.init)
  }

  private func consumers(_ arguments: String...) throws {
    try database.succeed("quake-admin", ["consumers"] + arguments)
  }

  private func expect(_ codes: [String]) throws {
    try eventually("\(codes) are delivered, not \(delivered)") { delivered == codes }
  }

  private func value(_ expression: String, from table: String = "quake.delivery") throws -> String {
    try database.value("select \(expression) from \(table)")
  }

  /// The server process of the program while it waits for a lock.
  private func waiter() throws -> String {
    var pid = ""
    try eventually("it waits for a lock") {
      pid = try database.value(
        """
        select coalesce(min(pid), 0) from pg_stat_activity
         where application_name = 'quake-watch' and wait_event_type = 'Lock'
           and datname = current_database()
        """)
      return pid != "0"
    }
    return pid
  }

  @Test func theRunningConsumerObeysTheOperator() throws {
    try accept()
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
    try consumers("rewind", "log", "--to", database.tokens()[0], "--yes")
    try expect(all + all.dropFirst())

    // A message waits for its next attempt, and the operator does not.
    try accept(false)
    try insert("c")
    try eventually("attempts fail") { try value("coalesce(max(attempts), 0)") >= "4" }
    let listed = try database.run("quake-admin", ["consumers", "--json"])
    let line = try JSONLine(try #require(listed.lines.first))
    #expect(line.string("state") == "failing" && line.integer("owed") == 1)
    try accept()
    try consumers("retry", "log")
    let again = all + all.dropFirst() + ["c"]
    try expect(again)

    // Nor does a message that was discarded come.
    try accept(false)
    try insert("d")
    try eventually("attempts fail") { try value("coalesce(max(attempts), 0)") >= "2" }
    try consumers("discard", "log", "--all", "--yes")
    try insert("e")
    try accept()
    try expect(again + ["e"])
    try eventually("the rate is counted") {
      try value("rate > 3 and delivered > 5", from: "quake.consumer") == "t"
    }

    // A consumer that is removed ends, and the process goes on.
    try consumers("remove", "log", "--yes")
    try process.waitForError("log")
    try process.end()
  }

  @Test func theSenderGetsWhatItAskedForOverTheNextConnection() throws {
    try insert("a")
    let process = try start()
    try eventually("an attempt has failed") {
      try value("coalesce(max(attempts), 0)") >= "1"
    }
    // The next attempt needs the contents, which nobody can read.
    let connection = try database.connect()
    try connection.transaction {
      try connection.execute("lock table quake.delivery in access exclusive mode")
      let pid = try waiter()
      try accept()
      try database.psql("select pg_terminate_backend(\(pid));")
      try process.waitForError("Trying again until the connection is restored")
    }
    try expect(["a"])
    try process.end()
  }

  @Test func aRewindWhileAConsumerCatchesUpLosesNothing() throws {
    for part in 0..<4 {
      try database.psql(
        """
        insert into quake.quake (code, time, magnitude)
        select 'e' || n, now(), 5 from generate_series(\(part * 600), \(part * 600 + 599)) n;
        """)
    }
    let connection = try database.connect()
    try connection.begin()
    try connection.execute("lock table quake.delivery in exclusive mode")
    let process = try start(
      "batch = 1000", command: "exec-batch = CD && cat >> out")
    // It writes the first page; the rewind comes between two pages, or after the last.
    _ = try waiter()
    let rewind = BackgroundThread { [database] in
      try database.succeed("quake-admin", ["consumers", "rewind", "log", "--to", "0", "--yes"])
    }
    try database.waitForLock(of: "quake-admin")
    try connection.commit()
    try rewind.join()
    try process.waitForError("continues after 0")
    try accept()
    try consumers("retry", "log")
    try eventually("all are delivered") {
      let codes = try delivered.map { try JSONLine($0).string("code") ?? "" }
      return Set(codes).count == 2400
    }
    try process.end()
  }

  @Test func whatIsParkedDoesNotFillTheBacklog() throws {
    let process = try start(
      "backlog = 2", "give-up = 1s",
      command: "exec = test $QUAKE_MAGNITUDE = 6.0 && CD && echo $QUAKE_CODE >> out")
    try accept()
    try insert("a", "b", "c", "d")
    try process.waitForError("owes 4 messages")
    try eventually("all are parked") {
      try database.value("select count(parked_at) from quake.delivery") == "4"
    }
    try insert("e", magnitude: 6)
    try expect(["e"])
    let listed = try database.run("quake-admin", ["consumers"])
    #expect(listed.output.contains("4 messages parked until"), "\(listed.output)")
    // None was parked after a single attempt.
    #expect(try database.value("select min(attempts) >= 2 from quake.delivery") == "t")
    try process.end()
  }

  @Test func whatWasToldIsCorrectedBeyondTheLimitOfTheRate() throws {
    try accept()
    let process = try start(
      "alert = true", "limit-rate = 1/d", "magnitude-step = 0.1",
      command: "exec = CD && echo $QUAKE_ALERT $QUAKE_CODE $QUAKE_MAGNITUDE >> out")
    try insert("a")
    try expect(["opened a 5.0"])
    try insert("b", magnitude: 6)
    try database.psql("update quake.quake set magnitude = magnitude + 1;")
    try eventually("only what was told is corrected") {
      delivered == ["opened a 5.0", "updated a 6.0"]
    }
    #expect(try database.value("select held_back from quake.consumer") == "2")
    try process.end()
  }

  @Test func aConsumerNamesTheDeliveredTransactionsThatAreLost() throws {
    try accept()
    let process = try start()
    try insert("a")
    try expect(["a"])
    try process.end()
    // As if another transaction had been delivered, and the database restored to before.
    let file = folder.path + "/witness"
    let text = try contents(of: file)
    let token = try database.value("select quake.latest_token()")
    #expect(text.contains("delivered \(token)\n"), "\(text)")
    try text.replacing("delivered \(token)\n", with: "delivered \(token) 999.0badcafe\n")
      .write(toFile: file, atomically: true, encoding: .utf8)
    let next = try start()
    try next.waitForError(
      "the history lacks 1 transaction of which consumers have delivered messages: 999.0badcafe")
    try insert("b")
    try expect(["a", "b"])
    #expect(
      try database.value("select error like '%999.0badcafe' from quake.consumer") == "t")
    try next.end()
    #expect(try contents(of: file).contains("999.0badcafe") == false)
  }

  @Test func aHeaderFileMayEndItsLinesAsWindowsDoes() throws {
    let server = try ScriptedServer { _, client in client.answer(200, [], "") }
    try insert("a")
    let file = try folder.write("headers", "Authorization: Bearer x\r\n\r\nX-Key: y\r\n")
    let process = try start(
      "header-file = \(file)", command: "webhook = http://127.0.0.1:\(server.port)/")
    try eventually("the message is delivered") {
      try value("coalesce(max(delivered), 0)", from: "quake.consumer") == "1"
    }
    let request = try #require(server.requests.first)
    #expect(request.headers["authorization"] == "Bearer x" && request.headers["x-key"] == "y")
    try process.end()
  }

  @Test func aClockThatIsPutBackHoldsNothingUp() throws {
    let process = try start()
    try insert("a")
    try eventually("an attempt has failed") {
      try value("coalesce(max(attempts), 0)") >= "1"
    }
    try process.end()
    // As if the server's clock had been a year ahead.
    try database.psql(
      """
      update quake.delivery set due_at = due_at + interval '1 year';
      update quake.consumer set delivered_at = now() + interval '1 year', rate = 3;
      """)
    try accept()
    let next = try start()
    try insert("b")
    try eventually("both are delivered") { Set(delivered) == ["a", "b"] }
    try eventually("both are counted") {
      try database.value("select delivered from quake.consumer") == "2"
    }
    #expect(try database.value("select rate between 2 and 5 from quake.consumer") == "t")
    try consumers("list")
    try next.end()
  }

  @Test func aWitnessThatCannotBeWrittenEndsNothing() throws {
    try accept()
    let process = try start()
    let file = folder.path + "/witness"
    func waitForWitness() throws {
      let token = try database.value("select quake.latest_token()")
      try eventually("the witness has \(token)") {
        (try? contents(of: file))?.contains(token) == true
      }
    }
    try insert("a")
    try expect(["a"])
    try waitForWitness()
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    try insert("b")
    try process.waitForError("could not write witness")
    try insert("c")
    try expect(["a", "b", "c"])
    try FileManager.default.removeItem(atPath: file)
    try waitForWitness()
    try process.end()
  }
}
