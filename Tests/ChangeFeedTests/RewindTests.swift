import Basics
import EmbeddedPostgres
import Postgres
import QuakeModel
import TestSupport
import Testing

/// Databases that are not what a reader left: copies, restored ones, ones with another clock.
@Suite(.serialized) struct RewindTests {
  /// Some transactions, one after the other, each of two changes; the tokens.
  @discardableResult
  private func write(_ prefix: String, _ count: Int, over connection: Connection) throws -> [String]
  {
    try (1...count).map { number in
      try connection.execute(
        "insert into quake.quake (code, time) values ($1 || 'a', now()), ($1 || 'b', now())",
        [.text("\(prefix)\(number)")])
      return try connection.ask("select quake.latest_token()") ?? ""
    }
  }

  /// Whether the history after a token is what it should be; the tool's status and words otherwise.
  private func resume(_ conninfo: String, after token: String) throws -> String {
    let feed = try FeedProcess(conninfo, ["--no-follow", "--after", token])
    let outcome = try feed.end()
    guard outcome.status == 0 else { return "\(outcome.status): \(outcome.errors)" }
    var settings = ConnectionSettings(conninfo, applicationName: "tests")
    settings.connectTimeout = ToolProcess.patience
    let connection = try Connection(settings)
    let place = try #require(HistoryCursor(token))
    let verdict = ChangeOracle(try KnownHistory(over: connection))
      .judge(feed.recorder.lines, of: token, after: place)
    return verdict.violations.isEmpty ? "right" : verdict.violations.description
  }

  @Test func aDumpContinuesTheHistoryUpToItself() throws {
    let original = try TestDatabase()
    let before = try write("before", 5, over: original.connect())
    let copy = try TestDatabase.empty()
    let folder = try TemporaryFolder()
    let programs = try TestServer.shared.server.binDirectory
    for (program, arguments) in [
      ("pg_dump", ["-Fc", "-f", folder.path + "/dump", original.conninfo]),
      ("pg_restore", ["-d", copy.conninfo, "--exit-on-error", folder.path + "/dump"]),
    ] {
      let outcome = try ToolProcess(
        programs + "/" + program, arguments, environment: Tools.environment
      ).exit()
      try #require(outcome.status == 0, "\(program): \(outcome.errors)")
    }
    for token in before { #expect(try resume(copy.conninfo, after: token) == "right") }
    // What was committed after the dump is in the future of the copy, until the copy has as many
    // transactions of its own: then the histories have parted.
    let after = try write("after", 2, over: original.connect())
    for token in after {
      let said = try resume(copy.conninfo, after: token)
      #expect(said.hasPrefix("65:") && said.contains("in the future"), "\(said)")
    }
    let own = try write("own", 3, over: copy.connect())
    for token in after {
      let said = try resume(copy.conninfo, after: token)
      #expect(said.hasPrefix("65:") && said.contains("history diverged"), "\(said)")
    }
    for token in before + own { #expect(try resume(copy.conninfo, after: token) == "right") }
    for token in own.prefix(2) {
      let said = try resume(original.conninfo, after: token)
      #expect(said.hasPrefix("65:") && said.contains("history diverged"), "\(said)")
    }
    // Every value came along.
    #expect(
      try copy.column("select md5(s::text) from quake.as_of('\(before[4])') s order by code")
        == original.column("select md5(s::text) from quake.as_of('\(before[4])') s order by code"))
  }

  @Test func aClusterPutBackInTimeIsNoticed() throws {
    let server = try OwnServer(settings: ["shared_buffers": "16MB"])
    let before = try write("before", 3, over: server.connect())
    // A watcher that has seen what the copy will not have.
    let folder = try TemporaryFolder()
    let file = folder.path + "/cursor"
    try server.server.stop()
    let rewound = try OwnServer(settings: ["shared_buffers": "16MB"], copying: server)
    try server.server.start()
    let lost = try write("lost", 3, over: server.connect())
    let watcher = try FeedProcess(
      server.conninfo, ["--from-start", "--state", file, "--no-follow"])
    #expect(try watcher.end().status == 0)
    #expect(watcher.recorder.lineCount == 12)

    let conninfo = rewound.conninfo
    for token in before { #expect(try resume(conninfo, after: token) == "right") }
    let ahead = try resume(conninfo, after: lost[0])
    #expect(ahead.hasPrefix("65:") && ahead.contains("in the future"), "\(ahead)")
    try write("other", 4, over: rewound.connect())
    for token in lost {
      let said = try resume(conninfo, after: token)
      #expect(said.hasPrefix("65:") && said.contains("history diverged"), "\(said)")
    }
    // The watcher's own place says so, too; it is told, and may begin again with a snapshot.
    let stopped = try FeedProcess(conninfo, ["--state", file])
    #expect(try stopped.end().status == 65)
    #expect(stopped.recorder.lineCount == 0)
    let reset = try FeedProcess(
      conninfo, ["--state", file, "--on-expired", "snapshot", "--no-follow"])
    #expect(try reset.end().status == 0)
    let kinds = reset.recorder.lines.map(\.kind)
    #expect(kinds == [.reset] + Array(repeating: .snapshot, count: 14))
    #expect(reset.recorder.valueFaults.isEmpty)
    let again = try FeedProcess(conninfo, ["--state", file, "--no-follow"])
    #expect(try again.end().status == 0)
    #expect(again.recorder.lineCount == 0)
  }

  /// What is committed between two subscriptions is missing if the second one copies nothing.
  @Test func aSubscriptionMadeAnewWithoutACopyIsNoticed() throws {
    let publisher = try OwnServer(settings: ["shared_buffers": "16MB", "wal_level": "logical"])
    let subscriber = try OwnServer(settings: ["shared_buffers": "16MB"])
    let (source, copy) = (try publisher.connect(), try subscriber.connect())
    try source.run(
      "create publication history for table quake.quake, quake.change_transaction, quake.quake_version"
    )
    func subscribe(_ options: String) throws {
      let conninfo = "'\(publisher.conninfo.replacing("'", with: "''"))'"
      try copy.run(
        "create subscription history connection \(conninfo) publication history \(options)")
    }
    func waitForCopy() throws {
      let newest = try source.ask("select quake.latest_token()") ?? ""
      try eventually("the subscriber has everything") {
        try copy.ask("select quake.latest_token()") == newest
          && copy.ask(
            "select count(*) from quake.change_transaction t join quake.quake_version v using (transaction_id) where t.token || '.' || t.nonce = '\(newest)'"
          ) == "2"
      }
    }
    var tokens = try write("first", 3, over: source)
    try subscribe("")
    try waitForCopy()
    tokens += try write("second", 3, over: source)
    try waitForCopy()
    #expect(try resume(subscriber.conninfo, after: "0") == "right")
    try copy.run("drop subscription history")
    tokens += try write("between", 5, over: source)
    try subscribe("with (copy_data = false)")
    tokens += try write("third", 3, over: source)
    try waitForCopy()

    let gap =
      "The next transaction here, \(tokens[11]), names \(tokens[10]) as the one before it."
    let said = try resume(subscriber.conninfo, after: "0")
    #expect(
      said.hasPrefix("65:") && said.contains("history diverged at token \(tokens[5])"), "\(said)")
    #expect(said.contains(gap), "\(said)")
    let verify = try Tools.run("quake-query", ["verify", "--database", subscriber.conninfo])
    #expect(
      verify.status == 65 && verify.output.contains("after \(tokens[5]): "), "\(verify.output)")
    #expect(try resume(subscriber.conninfo, after: tokens[11]) == "right")
    try copy.run("drop subscription history")
  }

  /// After a crash, numbers have a gap, and a transaction that was under way has none.
  @Test func aCrashLeavesAWholeHistory() throws {
    let server = try OwnServer(settings: ["shared_buffers": "16MB"])
    var tokens = try write("start", 2, over: server.connect())
    for level in ["read committed", "serializable"] {
      let open = try server.connect()
      try open.run(
        "begin", "set constraints all immediate",
        "insert into quake.quake (code, time) values ('lost', now())")
      try server.crash()
      let connection = try server.connect()
      try connection.run("set default_transaction_isolation = '\(level)'")
      tokens += try write(level, 2, over: connection)
    }
    let numbers = tokens.compactMap { ChangeToken($0)?.number }
    #expect(zip(numbers, numbers.dropFirst()).contains { $1 > $0 + 1 }, "\(numbers)")
    for token in tokens { #expect(try resume(server.conninfo, after: token) == "right") }
    let verify = try Tools.run("quake-query", ["verify", "--database", server.conninfo])
    #expect(verify.status == 0, "\(verify.output)\(verify.errors)")
    #expect(verify.output.hasPrefix("checked 6 transactions "), "\(verify.output)")
    #expect(verify.output.hasSuffix(": nothing is missing\n"), "\(verify.output)")
  }

  /// The time is only a member of a transaction; nothing is ordered by it.
  @Test func aClockThatIsSetBackDoesNotTouchTheOrder() throws {
    let database = try TestDatabase()
    try SQLMutation(
      name: "a clock that goes backwards",
      edits: [
        .init(
          function: "quake.change_pending__number", text: "clock_timestamp()",
          replacement: "'2030-01-01Z'::timestamptz - currval('quake.token') * interval '1 hour'")
      ]
    ).apply(to: database)
    let late = try LateCommitCheck.run(rounds: 20, in: database)
    #expect(late.isEmpty, "\(late)")
    let connection = try database.connect()
    #expect(
      try connection.ask(
        "select bool_and(at < before) from (select at, lag(at) over (order by token) as before from quake.change_transaction) t"
      )
        == "t")
    for token in try connection.table(
      """
      select token || '.' || nonce from quake.change_transaction where token % 12 = 0 order by token
      """)
    {
      #expect(try resume(database.conninfo, after: token) == "right")
    }
  }
}
