import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin consumers`, and where else an operator meets consumers. The rows are those that a process would write.
@Suite struct ConsumersCommandTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  /// The tokens of the transactions, the oldest first.
  private let tokens: [String]

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    for number in 1...6 {
      try database.psql(
        """
        insert into quake.quake (code, net, net_code, "time", longitude, latitude, magnitude)
        values ('us\(number)', 'us', '\(number)', now(), 20, 38, 5);
        """)
    }
    tokens = try database.tokens()
    try #require(tokens.count == 6)
  }

  /// Makes a consumer that is at the last transaction but two.
  private func add(
    _ name: String, isAlerting: Bool = false, seenAgo: String = "0 s",
    sink: String = "webhook https://hooks.example.org"
  ) throws {
    let words = tokens[3].split(separator: ".")
    try database.psql(
      """
      insert into quake.watcher (name, holder, token, nonce, seen_at)
      values ('\(name)', 'x', \(words[0]), '\(words[1])', now() - interval '\(seenAgo)');
      insert into quake.consumer (name, sink, alert)
      values ('\(name)', '\(sink)', \(isAlerting));
      """)
  }

  /// Makes a message that a consumer owes about a transaction.
  private func owe(
    _ name: String, transaction: Int, parked: Bool = false, waits: Bool = false
  ) throws {
    try database.psql(
      """
      insert into quake.delivery (consumer, id, subject, kind, token, made_at, attempts, due_at, parked_at,
                                  reason, variables, data)
      values ('\(name)', '\(tokens[transaction - 1])-0', 'us\(transaction)', 'change',
              '\(tokens[transaction - 1])', now() - interval '2 h', \(parked ? 9 : 0),
              \(waits ? "now() + interval '5 min'" : "null"),
              \(parked ? "now() - interval '1 min'" : "null"),
              \(parked ? "'HTTP status 500'" : "null"),
              E'QUAKE_CODE=us\(transaction)\\nQUAKE_TEXT=M 5.0 of us\(transaction)\\nQUAKE_OP=insert', '{}');
      """)
  }

  private func run(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["consumers"] + arguments)
  }

  private func json(_ name: String) throws -> JSONLine {
    let outcome = try run("show", name, "--json")
    return try JSONLine(try #require(outcome.lines.first, "\(outcome.errors)"))
  }

  private func changedAt(_ name: String) throws -> String {
    try database.value("select changed_at from quake.consumer where name = '\(name)'")
  }

  /// Runs a command that changes a consumer, whose process learns of it by `changed_at`.
  @discardableResult
  private func change(_ name: String, _ arguments: String...) throws -> ToolProcess.Outcome {
    let before = try changedAt(name)
    let outcome = try database.run("quake-admin", ["consumers"] + arguments).expect(
      0, with: arguments)
    #expect(try changedAt(name) != before, "\(arguments)")
    return outcome
  }

  // MARK: - Reading

  @Test func theListSaysWhatIsOwedAndHowTheReceiverAnswers() throws {
    #expect(try run().output.isEmpty)
    try add("pager")
    try owe("pager", transaction: 3)
    try owe("pager", transaction: 4, waits: true)
    try owe("pager", transaction: 2, parked: true)
    try database.psql(
      """
      update quake.consumer
         set delivered = 41, rate = 12, delivered_at = now() - interval '1 h', failed_at = now(),
             error = 'HTTP status 500';
      """)
    let line = try JSONLine(try #require(run("list", "--json").lines.first))
    #expect(
      line.keys == [
        "name", "sink", "alert", "state", "running", "paused_at", "token", "changes",
        "tokens_behind", "lag_seconds", "owed", "oldest_owed_at", "parked", "delivered",
        "messages_per_hour", "held_back", "delivered_at", "failed_at", "error", "role", "made_at",
        "moved_at", "seen_at", "expired",
      ], "\(line.text)")
    #expect(line.string("state") == "failing" && line.integer("tokens_behind") == 2)
    #expect(line.integer("owed") == 2 && line.integer("parked") == 1)
    #expect(try #require(line.double("lag_seconds")) >= 7200)
    // Twelve an hour an hour ago, and none since.
    #expect(abs(try #require(line.double("messages_per_hour")) - 12 / M_E) < 0.1)
    try run().expect(
      0, printing: "pager     failing       2", "changes to webhook https://hooks.example.org",
      "HTTP status 500")
  }

  @Test func aConsumerIsShownWithTheMessagesThatItOwes() throws {
    try add("pager", seenAgo: "3 h")
    try owe("pager", transaction: 2)
    try owe("pager", transaction: 3, parked: true)
    try run("show", "pager").expect(
      0, printing: "no process runs it", "\(tokens[2])-0 (change): parked 1m 0",
      "9 attempts failed",
      "HTTP status 500", "M 5.0 of us3", "\(tokens[1])-0 (change): owed, made 2h")
    #expect(try run("show", "pager", "--limit", "1").output.contains("and 1 message more"))
    let messages = try #require(json("pager").objects("messages"))
    #expect(messages.map { $0.string("id") } == ["\(tokens[2])-0", "\(tokens[1])-0"])
    #expect(messages[0].string("text") == "M 5.0 of us3")
    #expect(messages[0].string("reason") == "HTTP status 500")
    #expect(try json("pager").string("state") == "not running")
    try run("show", "pagr").expect(1, "Did you mean \"pager\"?")
  }

  // MARK: - Changing

  @Test func aConsumerIsPausedAndResumed() throws {
    try add("pager", seenAgo: "3 h")
    #expect(try change("pager", "pause", "pager").errors.contains("paused consumer pager"))
    #expect(try json("pager").string("state") == "paused")
    #expect(try change("pager", "pause", "pager").errors.contains("already paused since"))
    let resumed = try change("pager", "resume", "pager")
    #expect(resumed.errors.contains("resumed consumer pager"))
    #expect(resumed.errors.contains("no process runs consumer \"pager\""), "\(resumed.errors)")
    #expect(try change("pager", "resume", "pager").errors.contains("is not paused"))
    // All or none.
    #expect(try run("pause", "pager", "other").status == 1)
    #expect(try json("pager").isNull("paused_at"))
  }

  @Test func aRewoundConsumerReadsAgainAndForgetsWhatBeganLater() throws {
    try add("pager")
    try owe("pager", transaction: 2)
    try owe("pager", transaction: 4)
    try owe("pager", transaction: 5)
    #expect(try run("rewind", "pager", "--to", tokens[1]).status == 64)
    let outcome = try change("pager", "rewind", "pager", "--to", tokens[1], "--yes")
    #expect(
      outcome.errors.contains(
        "moved consumer pager from \(tokens[3]) to \(tokens[1]): it reads 2 transactions again; "
          + "2 messages of later changes deleted"), "\(outcome.errors)")
    #expect(try database.column("select id from quake.delivery") == ["\(tokens[1])-0"])
    #expect(
      try database.value(
        "select format('%s.%s %s %s', token, nonce, changes, holder is null) from quake.watcher")
        == "\(tokens[1]) 0 t")
    // A number, a time before everything, and a place ahead.
    try change("pager", "rewind", "pager", "--to", "1", "--yes")
    #expect(try json("pager").string("token") == tokens[0])
    try change("pager", "rewind", "pager", "--to", "2000-01-01T00:00:00Z", "--yes")
    #expect(try json("pager").string("token") == "0")
    let ahead = try change("pager", "rewind", "pager", "--to", tokens[5], "--yes")
    #expect(ahead.errors.contains("it leaves out 6 transactions"), "\(ahead.errors)")
    try run("rewind", "pager", "--to", "3.00000000", "--yes").expect(65, "diverged")
  }

  @Test func parkedMessagesAreTriedAgainOrDiscarded() throws {
    try add("pager")
    try owe("pager", transaction: 1, parked: true)
    try owe("pager", transaction: 2, parked: true)
    try owe("pager", transaction: 3, waits: true)
    try owe("pager", transaction: 4)
    let one = try change("pager", "retry", "pager", "\(tokens[0])-0")
    #expect(one.errors.contains("tries 1 message again now"))
    // The time until it is parked again begins anew.
    #expect(
      try database.value(
        """
        select format('%s %s %s', parked_at is null, attempts, made_at > now() - interval '1 h')
          from quake.delivery order by number limit 1
        """) == "t 0 t")
    #expect(try change("pager", "retry", "pager").errors.contains("tries 2 messages again now"))
    #expect(
      try database.value("select count(*) from quake.delivery where due_at is not null") == "0")
    try run("retry", "pager", "\(tokens[0])-0", "9.00000000-0").expect(1, "only 1 of these 2")

    try database.psql("update quake.delivery set parked_at = now() where id like '\(tokens[0])%';")
    #expect(try run("discard", "pager").status == 64)
    #expect(
      try change("pager", "discard", "pager", "--yes").errors.contains("discarded 1 message"))
    #expect(try run("discard", "pager", "x", "--all", "--yes").status == 64)
    try change("pager", "discard", "pager", "\(tokens[1])-0", "--yes")
    #expect(
      try change("pager", "discard", "pager", "--all", "--yes").errors.contains(
        "discarded 2 messages"))
    #expect(try database.count("quake.delivery") == 0)
  }

  @Test func aCommandThatADeadlockEndsIsTriedAgain() throws {
    for name in ["a", "b", "c"] { try add(name) }
    func lock(_ name: String, _ connection: Connection) throws {
      try connection.run("select from quake.consumer where name = '\(name)' for update")
    }
    let first = try database.connect()
    try first.begin()
    try lock("b", first)
    let (hasLocked, mayWait) = (Event(), Event())
    let other = BackgroundThread { [database] in
      let other = try database.connect(applicationName: "other")
      try other.begin()
      // The command finds the deadlock.
      try other.run("set local deadlock_timeout = '1h'")
      try other.run("select from quake.consumer where name = 'c' for update")
      hasLocked.happen()
      try mayWait.require("the command has the first lock")
      try other.run("select from quake.consumer where name = 'a' for update")
      try other.commit()
    }
    try hasLocked.require("the other one has its lock")
    let command = try database.start(
      "quake-admin", ["consumers", "pause", "a", "b", "c", "--verbose"])
    try database.waitForLock(of: "quake-admin")
    mayWait.happen()
    try database.waitForLock(of: "other")
    try first.commit()
    try other.join()
    let outcome = try command.exit().expect(0, "trying again: deadlock detected")
    #expect(
      try database.value("select count(paused_at) from quake.consumer") == "3", "\(outcome.errors)")
  }

  @Test func aRemovedConsumerLeavesNothing() throws {
    try add("pager", isAlerting: true)
    try owe("pager", transaction: 1)
    let listed = try database.run("quake-admin", ["watchers", "--json"])
    #expect(try JSONLine(try #require(listed.lines.first)).bool("consumer") == true)
    #expect(try database.run("quake-admin", ["watchers"]).output.contains("  consumer\n"))
    #expect(try run("remove", "pager").status == 64)
    #expect(try run("remove", "pager", "--yes").errors.contains("removed consumer pager"))
    for table in ["watcher", "consumer", "delivery"] {
      #expect(try database.count("quake.\(table)") == 0, "\(table)")
    }
    #expect(try run("remove", "pager", "--yes").status == 1)
  }

  // MARK: - Status, metrics, doctor

  @Test func statusAndDoctorNameTheProblemsOfConsumers() throws {
    func status(_ arguments: String...) throws -> ToolProcess.Outcome {
      try database.run("quake-admin", ["status"] + arguments)
    }
    func check() throws -> JSONLine {
      let lines = try database.run("quake-admin", ["doctor", "--json"]).lines
      return try #require(
        try lines.map { try JSONLine($0) }.first { $0.string("check") == "consumers" })
    }
    #expect(try !status().output.contains("consumers"))
    #expect(try check().string("found") == "there is none")
    try add("calm")
    #expect(try status().status == 0)
    #expect(try check().string("state") == "ok")
    try add("pager", seenAgo: "2 h")
    try owe("pager", transaction: 1)
    try owe("pager", transaction: 2, parked: true)
    try status().expect(
      1, "no process has run consumer pager for 2h", "consumer pager has parked 1 message",
      "consumer pager owes 1 message, the oldest for 2h",
      printing: "consumers           1 running, 1 not running; 1 message owed, 1 parked;")
    #expect(try check().string("state") == "problem")
    try add("map", seenAgo: "2 h", sink: "program map 1.0")
    #expect(try status().errors.contains("Start program \"map 1.0\"."))
    try database.psql("delete from quake.watcher where name = 'map'")
    // A pause is meant; but messages that are parked stay a problem.
    try change("pager", "pause", "pager")
    let paused = try status().expect(1)
    #expect(!paused.errors.contains("no process has run"), "\(paused.errors)")
    try change("pager", "discard", "pager", "--yes")
    #expect(try status().status == 0)
    #expect(try check().string("state") == "warning")

    let metrics = try PrometheusText(status("--prometheus").output)
    for (name, value) in [
      ("owed", 1), ("parked", 0), ("paused", 1), ("running", 0), ("failing", 0),
      ("delivered_total", 0), ("held_back_total", 0),
    ] {
      #expect(
        metrics.value("quake_consumer_" + name, ["consumer": "pager"]) == Double(value), "\(name)")
    }
    #expect(
      try #require(metrics.value("quake_consumer_lag_seconds", ["consumer": "pager"])) >= 7200)
    let object = try JSONLine(try #require(status("--json", "-q").lines.first))
    #expect(object.objects("consumers")?.count == 2)
  }
}
