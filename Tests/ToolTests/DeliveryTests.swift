import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-watch` where the server cannot notify it, or no process reads its output.
@Suite struct DeliveryTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private func insert(_ code: String) throws {
    try database.psql("insert into quake.quake (code, time) values ('\(code)', now());")
  }

  private static let pooler = Pooler.program != nil

  // MARK: Poolers

  @Test(.enabled(if: pooler, "pgbouncer is not installed"))
  func behindATransactionPoolItPollsAndSaysSoOnce() throws {
    let pool = try Pooler("transaction", for: database)
    let file = folder.path + "/cursor"
    let watch = try Tools.start(
      "quake-watch",
      ["--database", pool.conninfo, "--json", "--from-start", "--state", file])
    try watch.waitForError("behind a pooler that lends sessions for a transaction")
    for round in 1...3 {
      // Others use the pool at the same time: sessions go from hand to hand.
      let conninfo = pool.conninfo
      try BackgroundThread.run(4) { number in
        let writer = try Connection(
          ConnectionSettings(conninfo, applicationName: "writer"))
        for change in 0..<5 {
          try writer.execute(
            "insert into quake.quake (code, time) values ($1, now())",
            [.text("\(round)-\(number)-\(change)")])
        }
      }
      let received = try watch.lines(20).map { try JSONLine($0).change }
      #expect(try received == Array(database.history().suffix(20)))
    }
    // The server's end of it goes away, as when it is restarted.
    try database.psql(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid();
      """)
    try insert("last")
    #expect(try JSONLine(watch.line()).string("code") == "last")
    watch.signal(SIGTERM)
    let outcome = try watch.exit()
    #expect(outcome.status == 0)
    #expect(outcome.errors.components(separatedBy: "lends sessions").count == 2)
    let rest = try Tools.run(
      "quake-watch", ["--database", pool.conninfo, "--json", "--no-follow", "--state", file])
    #expect(rest.status == 0 && rest.output.isEmpty, "\(rest.errors)")
    try pool.stop()
  }

  @Test(.enabled(if: pooler, "pgbouncer is not installed"))
  func behindASessionPoolItListens() throws {
    let pool = try Pooler("session", for: database)
    let watch = try Tools.start(
      "quake-watch", ["--database", pool.conninfo, "--json", "--from-start"])
    for round in 1...3 {
      try insert("\(round)")
      #expect(try JSONLine(watch.line()).string("code") == "\(round)")
    }
    // Who polls would have asked again by then.
    #expect(
      try database.connect().eventually(
        """
        exists (select from pg_stat_activity
                 where application_name = 'quake-watch' and state = 'idle'
                   and datname = current_database()
                   and clock_timestamp() - state_change > interval '2 s')
        """))
    #expect(watch.errorText.isEmpty)
    watch.signal(SIGTERM)
    #expect(try watch.exit().status == 0)
    try pool.stop()
  }

  // MARK: Hot standby

  @Test func onAHotStandbyItPollsUntilThatIsPromoted() throws {
    let servers = try ReplicatedServers()
    func insert(_ code: String) throws {
      try servers.ask(
        servers.primary, "insert into quake.quake (code, time) values ('\(code)', now())")
    }
    try insert("a")
    let watch = try Tools.start(
      "quake-watch", ["--database", servers.standby.conninfo, "--json", "--from-start"])
    try watch.waitForError("a hot standby cannot notify of changes (LISTEN)")
    #expect(try JSONLine(watch.line()).string("code") == "a")
    for code in ["b", "c"] {
      try insert(code)
      #expect(try JSONLine(watch.line()).string("code") == code)
    }
    // A cursor in the database cannot be kept there.
    let named = try Tools.run(
      "quake-watch",
      ["--database", servers.standby.conninfo, "--name", "n", "--no-follow", "--from-start"])
    #expect(named.status == 77 && named.errors.contains("read-only"), "\(named.errors)")

    // Nor can anything be imported.
    let run = try Tools.run(
      "quake-ingest", ["run", "--database", servers.standby.conninfo, "--feed", "all_day"])
    #expect(run.status == 77 && run.errors.contains("into a hot standby"), "\(run.errors)")

    // What the primary has told is waited for here.
    try servers.ask(servers.standby, "select pg_wal_replay_pause()")
    try eventually("the replay has paused") {
      try servers.ask(servers.standby, "select pg_get_wal_replay_pause_state()") == "paused"
    }
    try insert("d")
    let newest = try servers.ask(servers.primary, "select quake.latest_token()")
    let ahead = try Tools.start(
      "quake-watch", ["--database", servers.standby.conninfo, "--json", "--after", newest])
    try ahead.waitForError("Waiting for the standby to come there")
    // A snapshot of the standby's would be older than that.
    let file = try TemporaryFolder()
    try file.write("cursor", newest + "\n")
    let patient = try Tools.start(
      "quake-watch",
      [
        "--database", servers.standby.conninfo, "--json", "--state", file.path + "/cursor",
        "--on-expired", "snapshot",
      ])
    try patient.waitForError("Waiting for the standby to come there")
    try servers.ask(servers.standby, "select pg_wal_replay_resume()")
    #expect(try JSONLine(watch.line()).string("code") == "d")
    try insert("e")
    #expect(try JSONLine(ahead.line()).string("code") == "e")
    #expect(try JSONLine(patient.line()).string("code") == "e")
    #expect(try JSONLine(watch.line()).string("code") == "e")

    // The primary dies, the standby takes its place.
    try servers.primary.stop(mode: .immediate)
    try servers.ask(servers.standby, "select pg_promote()")
    try watch.waitForError("listening for notifications again")
    try servers.ask(
      servers.standby, "insert into quake.quake (code, time) values ('f', now())")
    #expect(try JSONLine(watch.line()).string("code") == "f")
    watch.signal(SIGTERM)
    let outcome = try watch.exit()
    #expect(outcome.status == 0 && outcome.output.isEmpty)
    #expect(outcome.errors.components(separatedBy: "a hot standby cannot notify").count == 2)
  }

  // MARK: Slow consumers

  /// No process reads the pipe: the server must not notice.
  @Test func aConsumerThatDoesNotReadHoldsNothingBack() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || n, now(), repeat('x', 300) from generate_series(1, 20000) n;
      """)
    let watch = try Tools.start(
      "quake-watch", database.option + ["--json", "--from-start", "--heartbeat", "10m"])
    // Its pipe is full now; it takes 250 ms to see that no process reads it.
    let observer = try database.connect()
    let quiet = """
      exists (select from pg_stat_activity
           where datname = current_database() and application_name = 'quake-watch'
                 and state = 'idle' and query like 'unlisten%')
      """
    #expect(try observer.eventually(quiet))
    let memory = try ProcessMemory.peak(of: watch.pid)
    // Notifications for 20,000 commits would fill its socket many times over.
    try database.psql(
      """
      do $$ begin
        for n in 1..20000 loop
          update quake.quake set sig = n where code = 'e' || (n % 100); commit;
        end loop;
      end $$;
      """)
    #expect(try observer.eventually("pg_notification_queue_usage() = 0"))
    #expect(
      try observer.ask(
        """
        select (count(*) = 1 and bool_and(backend_xmin is null and xact_start is null
                                          and state = 'idle'))::text
          from pg_stat_activity
           where datname = current_database() and application_name = 'quake-watch'
        """) == "true")
    let later = try ProcessMemory.peak(of: watch.pid)
    #expect(later <= memory + 1024, "\(later) after \(memory)")
    #expect(later < 24 * 1024)
    // When somebody reads, all of it is there.
    let history = try database.history()
    for change in history {
      #expect(try JSONLine(watch.line()).change == change)
    }
    // And it is notified again.
    try insert("after")
    #expect(try JSONLine(watch.line()).string("code") == "after")
    #expect(try observer.ask("select (\(quiet))::text") == "false")
  }
}
