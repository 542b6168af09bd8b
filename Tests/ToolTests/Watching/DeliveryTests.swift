import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-watch` where the server cannot notify it, or no process reads its output.
@Suite final class DeliveryTests: ToolSuite {
  private static let pooler = Pooler.program != nil

  // MARK: Poolers

  @Test(.enabled(if: pooler, "pgbouncer is not installed"))
  func behindATransactionPoolItPollsAndSaysSoOnce() throws {
    let pool = try Pooler("transaction", for: database)
    let file = folder.path + "/cursor"
    let watch = try Tools.start(
      "quake-watch",
      ["--database", pool.conninfo, "--json", "--from-start", "--state", file])
    try watch.waitForError("the pooler shares sessions between clients")
    for round in 1...2 {
      // Other clients use the pool at the same time, so that sessions change between clients.
      let conninfo = pool.conninfo
      try BackgroundThread.run(4) { number in
        var settings = ConnectionSettings(conninfo, applicationName: "writer")
        settings.connectTimeout = ToolProcess.patience
        let writer = try Connection(settings)
        for change in 0..<5 {
          try writer.execute(
            "insert into quake.quake (code, time) values ($1, now())",
            [.text("\(round)-\(number)-\(change)")])
        }
      }
      let received = try watch.lines(20).map { try JSONLine($0).change }
      #expect(try received == Array(database.history().suffix(20)))
    }
    // End the server's sessions, as a restart does.
    try database.psql(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid();
      """)
    try database.insert("last")
    #expect(try JSONLine(watch.line()).string("code") == "last")
    let outcome = try watch.end()
    #expect(outcome.errors.components(separatedBy: "shares sessions").count == 2)
    try Tools.run(
      "quake-watch", ["--database", pool.conninfo, "--json", "--no-follow", "--state", file]
    ).expect(0, output: "")
    try pool.stop()
  }

  // MARK: Lost connections

  private func watch(_ arguments: [String]) throws -> ToolProcess {
    try database.start(
      "quake-watch", ["--name", "n", "--no-witness"] + arguments, folder: folder.path)
  }

  private func expectStored(_ token: String) throws {
    let connection = try database.connect()
    try eventually("the cursor is stored") {
      try connection.table("select token || '.' || nonce from quake.watcher") == [token]
    }
  }

  @Test func aCursorThatCouldNotBeStoredIsStoredOverTheNextConnection() throws {
    let gate = try Gate(folder.path + "/gate")
    let watch = try watch(["--exec", "touch begun; read line < gate"])
    try watch.waitForError("watching after")
    try database.insert("a")
    try eventually("the command runs") {
      FileManager.default.fileExists(atPath: folder.path + "/begun")
    }
    try database.psql(
      """
      select pg_terminate_backend(pid, 60000) from pg_stat_activity
       where datname = current_database() and application_name = 'quake-watch';
      """)
    try gate.letOneThrough()
    try watch.waitForError("connected again")
    // Nothing else is committed.
    try expectStored(#require(database.tokens().last))
    try watch.end()
  }

  @Test func theFirstCursorIsStoredAlthoughTheConnectionWasLostMeanwhile() throws {
    try database.insert("a")
    try database.psql(
      """
      create sequence public.attempt;
      create function public.lose() returns trigger language plpgsql as $$
      begin
        if nextval('public.attempt') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
        return new;
      end $$;
      create trigger lose before insert on quake.watcher for each row execute function public.lose();
      """)
    let watch = try watch(["--json"])
    try watch.waitForError("connected again")
    try expectStored(#require(database.tokens().last))
    try database.insert("b")
    #expect(try JSONLine(watch.line()).string("code") == "b")
    try watch.end()
  }

  @Test func aConsumerIsNoWatcher() throws {
    try database.psql(
      """
      insert into quake.watcher (name, holder, token, nonce, changes) values ('n', 'run', 0, null, 0);
      insert into quake.consumer (name, sink) values ('n', 'exec siren');
      """)
    try database.insert("a")
    try watch(["--json", "--no-follow"]).exit().expectFailure(
      1, "\"n\" is a consumer, and no watcher")
    #expect(try database.value("select holder from quake.watcher") == "run")
  }

  @Test func aStateFileThatCannotBeWrittenIsAnErrorBeforeAnythingIsHandedOver() throws {
    try database.insert("a")
    let file = try folder.write("state", "0\n")
    // Root may write to any folder, but not beyond this limit.
    let options = database.option.map { "'\($0)'" }.joined(separator: " ")
    try Tools.shell(
      "trap '' XFSZ; ulimit -f 0; exec quake-watch \(options) --state '\(file)' --json --no-follow"
    ).expectFailure(1, "could not write state file")
  }

  // MARK: Hot standby

  @Test func onAHotStandbyItPollsUntilThatIsPromoted() throws {
    let servers = try ReplicatedServers()
    try servers.primary.insert("a")
    let watch = try Tools.start(
      "quake-watch", ["--database", servers.standby.conninfo, "--json", "--from-start"])
    try watch.waitForError("a hot standby cannot notify of changes (LISTEN)")
    #expect(try JSONLine(watch.line()).string("code") == "a")
    for code in ["b", "c"] {
      try servers.primary.insert(code)
      #expect(try JSONLine(watch.line()).string("code") == code)
    }
    try eventually("the watcher asks for the position of the replay and does not read the history")
    {
      try servers.ask(
        servers.standby,
        """
        select count(*) from pg_stat_activity
         where application_name = 'quake-watch' and query like '%pg_last_wal_replay_lsn%'
        """) == "1"
    }
    // A hot standby cannot store a durable cursor.
    try Tools.run(
      "quake-watch",
      ["--database", servers.standby.conninfo, "--name", "n", "--no-follow", "--from-start"]
    ).expect(77, "read-only")

    // A hot standby cannot store an import either.
    try Tools.run(
      "quake-ingest", ["run", "--database", servers.standby.conninfo, "--feed", "all_day"]
    ).expect(77, "into a hot standby")

    // A watcher with a newer token of the primary waits until the standby has replayed it.
    try servers.ask(servers.standby, "select pg_wal_replay_pause()")
    try eventually("the replay has paused") {
      try servers.ask(servers.standby, "select pg_get_wal_replay_pause_state()") == "paused"
    }
    try servers.primary.insert("d")
    let newest = try servers.ask(servers.primary, "select quake.latest_token()")
    let ahead = try Tools.start(
      "quake-watch", ["--database", servers.standby.conninfo, "--json", "--after", newest])
    try ahead.waitForError("Waiting for the standby to catch up")
    // With --on-expired snapshot it waits, too: a snapshot of the standby would be older than the
    // cursor.
    let file = try TemporaryFolder()
    try file.write("cursor", newest + "\n")
    let patient = try Tools.start(
      "quake-watch",
      [
        "--database", servers.standby.conninfo, "--json", "--state", file.path + "/cursor",
        "--on-expired", "snapshot",
      ])
    try patient.waitForError("Waiting for the standby to catch up")
    try servers.ask(servers.standby, "select pg_wal_replay_resume()")
    #expect(try JSONLine(watch.line()).string("code") == "d")
    try servers.primary.insert("e")
    #expect(try JSONLine(ahead.line()).string("code") == "e")
    #expect(try JSONLine(patient.line()).string("code") == "e")
    #expect(try JSONLine(watch.line()).string("code") == "e")

    // The primary fails, and the standby is promoted.
    try servers.primary.stop(mode: .immediate)
    try servers.ask(servers.standby, "select pg_promote()")
    try watch.waitForError("listening for notifications again")
    try servers.standby.insert("f")
    #expect(try JSONLine(watch.line()).string("code") == "f")
    watch.signal(SIGTERM)
    let outcome = try watch.exit().expect(0, output: "")
    #expect(outcome.errors.components(separatedBy: "a hot standby cannot notify").count == 2)
  }

  // MARK: Slow consumers

  /// No process reads the pipe: the server must not have to keep anything for the watcher.
  @Test func aConsumerThatDoesNotReadCostsTheServerNothing() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || n, now(), repeat('x', 300) from generate_series(1, 2000) n;
      """)
    let watch = try database.start("quake-watch", ["--json", "--from-start", "--heartbeat", "10m"])
    // Its pipe is full now; it takes 250 ms to see that no process reads it.
    let observer = try database.connect()
    let quiet = """
      exists (select from pg_stat_activity
           where datname = current_database() and application_name = 'quake-watch'
                 and state = 'idle' and query like 'unlisten%')
      """
    #expect(try observer.eventually(quiet))
    let memory = try ProcessMemory.peak(of: watch.pid)
    // Notifications for 4,000 commits, about 130 bytes each, would fill its socket twice over.
    try database.psql(
      """
      do $$ begin
        for n in 1..4000 loop
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
    // When the pipe is read, it has all changes.
    let history = try database.history()
    for change in history {
      #expect(try JSONLine(watch.line()).change == change)
    }
    // The watcher listens again.
    try database.insert("after")
    #expect(try JSONLine(watch.line()).string("code") == "after")
    #expect(try observer.ask("select (\(quiet))::text") == "false")
  }
}
