import Foundation
import Postgres
import TestSupport
import Testing

/// The tools' messages, and their end at SIGTERM, while another session holds a lock that they
/// need.
@Suite final class LockWaitTests: ToolSuite {
  private func lock(_ statement: String) throws -> Connection {
    let holder = try database.connect(applicationName: "the holder")
    try holder.begin()
    try holder.run(statement)
    return holder
  }

  private func importFeed() throws -> [String] {
    ["import", try folder.write("a.geojson", Feeds.collection(count: 3))]
  }

  /// Waits until a tool has reported that it waits, and for which lock holder.
  private func expectReport(
    _ tool: ToolProcess, _ object: String, by holder: Connection
  ) throws {
    try tool.waitForError("for \(object)")
    try tool.waitForError("process \(holder.serverProcessID) (role quake, application the holder")
    #expect(tool.errorText.contains("idle in transaction for "), "\(tool.errorText)")
    #expect(
      tool.errorText.contains("pg_terminate_backend(\(holder.serverProcessID))"),
      "\(tool.errorText)")
  }

  /// Stops a tool that waits. Its transaction must be rolled back, and its sessions must end.
  private func expectEndAtSIGTERM(_ tool: ToolProcess, status: Int32) throws {
    tool.signal(SIGTERM)
    // The lock is still held.
    let outcome = try tool.exit().expect(status, "stopped while waiting ", "is rolled back")
    #expect(!outcome.errors.contains("is not known"), "\(outcome.errors)")
    #expect(
      try database.connect().eventually(
        """
        not exists (select from pg_stat_activity
                     where datname = current_database() and application_name like 'quake-%')
        """))
  }

  // MARK: Waiting, and SIGTERM

  @Test(arguments: ["import", "backfill", "purge"])
  func aWaitingToolSaysSoAndEndsAtSIGTERM(_ what: String) throws {
    let arguments: [String]
    var (tool, table) = ("quake-ingest", "quake.quake")
    switch what {
    case "import": arguments = try importFeed()
    case "backfill":
      try folder.write("a.geojson", Feeds.collection(count: 3))
      arguments = ["backfill", folder.path]
    default:
      try database.insert("a")
      (tool, table) = ("quake-admin", "quake.history_floor")
      arguments = ["history", "purge", "--yes", "--before", "1s"]
    }
    let before = try database.contents()
    let holder = try lock("lock table \(table) in access exclusive mode")
    let process = try database.start(tool, arguments)
    try expectReport(process, "a lock on \(table)", by: holder)
    try expectEndAtSIGTERM(process, status: 75)
    try holder.rollback()
    if what != "backfill" { #expect(try database.contents() == before) }
    #expect(try database.count("quake.quake") == (what == "purge" ? 1 : 0))
  }

  /// The poll is not recorded, not even as a failure of the feed.
  @Test func aWaitingWorkerEndsWithStatus0AndLeavesThePollToTheNext() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    let holder = try lock("lock table quake.quake in exclusive mode")
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(server.url)@1h"])
    try expectReport(worker, "a lock on quake.quake", by: holder)
    try expectEndAtSIGTERM(worker, status: 0)
    try holder.rollback()
    #expect(try database.count("quake.quake") == 0 && database.count("quake.import") == 0)
    #expect(try database.value("select sum(failures) from quake.feed") == "0")
  }

  /// A transaction gets its token during its commit, and may have to wait then.
  @Test func aWaitDuringCommitIsReportedAndRolledBack() throws {
    let owner = try database.connect()
    try owner.run(
      """
      create function public.at_commit() returns trigger language plpgsql as
      $$ begin perform from quake.feed for update; return null; end $$
      """,
      """
      create constraint trigger at_commit after insert on quake.quake deferrable initially deferred
      for each row execute function public.at_commit()
      """, "insert into quake.feed (name, url) values ('all_day', 'x')")
    let holder = try lock("update quake.feed set failures = 1")
    let before = try database.contents()
    let process = try database.start("quake-ingest", try importFeed())
    try expectReport(process, "a row of quake.feed, and so for the end of transaction", by: holder)
    try expectEndAtSIGTERM(process, status: 75)
    try holder.rollback()
    #expect(try database.contents() == before)
    try database.succeed("quake-ingest", try importFeed())
    #expect(try database.count("quake.quake") == 3)
  }

  /// The import writes over several connections, each on a thread of its own, and with COPY.
  @Test func everyConnectionOfAnImportEnds() throws {
    let holder = try lock("insert into quake.quake (code, time) values ('us30000', now())")
    let file = try folder.write("large.geojson", Feeds.collection(count: 45_000))
    let process = try database.start(
      "quake-ingest", ["import", file, "--jobs", "3", "--commit-every", "5000"])
    try expectReport(process, "the end of transaction", by: holder)
    try expectEndAtSIGTERM(process, status: 75)
    try holder.rollback()
  }

  /// Readers wait for DDL only.
  @Test func waitingReadersSaySoToo() throws {
    let holder = try lock("lock table quake.quake in access exclusive mode")
    let query = try database.start("quake-query", ["list"])
    let watch = try database.start("quake-watch", ["--snapshot"])
    try expectReport(query, "a lock on quake.quake", by: holder)
    try expectReport(watch, "a lock on quake.quake", by: holder)
    try watch.end()
    try holder.rollback()
    #expect(try query.exit().status == 0)
  }

  @Test func aWaitingMigrationEndsAtSIGTERM() throws {
    let empty = try TestDatabase.empty()
    let other = try empty.connect(applicationName: "the holder")
    try other.begin()
    try other.run("create schema quake")
    let process = try empty.start("quake-admin", ["migrate"])
    try process.waitForError("process \(other.serverProcessID) (role quake, application the holder")
    process.signal(SIGTERM)
    try process.exit().expect(75, "stopped while ")
    try other.rollback()
    try empty.succeed("quake-admin", ["migrate"])
  }

  @Test func aStatusThatMustWaitItselfEndsWithStatus75() throws {
    let holder = try lock("lock table quake.quake in access exclusive mode")
    // It waits for five seconds and reports that after three: on a busy machine the report may come too late.
    var last: ToolProcess.Outcome?
    try eventually("a status reports that it waits") {
      let outcome = try database.run("quake-admin", ["status", "--prometheus"]).expect(75)
      last = outcome
      return outcome.errors.contains("for a lock on quake.quake")
    }
    let outcome = try #require(last)
    for words in [
      "process \(holder.serverProcessID) (role quake, application the holder",
      "idle in transaction for ", "pg_terminate_backend(\(holder.serverProcessID))",
    ] {
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
    #expect(outcome.errors.contains("could not read the status"), "\(outcome.errors)")
    #expect(
      outcome.output.contains("quake_up 1\n") && outcome.output.contains("quake_problems 1\n"))
    try holder.rollback()
  }

  /// Any role that may connect can take an advisory lock. Only a role that may write backfills
  /// counts.
  @Test func aForeignSessionCannotBlockABackfill() throws {
    let role = "outsider_\(database.name)"
    try database.connect().run("create role \(role) login")
    try folder.write("a.geojson", Feeds.collection(count: 3))
    let arguments = ["backfill", folder.path] + database.option
    try Tools.succeed("quake-ingest", arguments)
    try database.psql("update quake.backfill set finished_at = null;")
    let key = try database.value("select lock_key from quake.backfill")
    var settings = ConnectionSettings(
      "\(database.conninfo) user=\(role)", applicationName: "tests")
    settings.connectTimeout = ToolProcess.patience
    let foreign = try Connection(settings)
    try foreign.run("select pg_advisory_lock(\(key))")
    try Tools.succeed("quake-ingest", arguments)
    #expect(try database.value("select lock_key from quake.backfill") != key)
    #expect(try database.count("quake.backfill") == 1)
    // A session that may write backfills is another process at work.
    try database.psql("update quake.backfill set finished_at = null;")
    let writer = try database.connect(applicationName: "another")
    try writer.run("select pg_advisory_lock(lock_key) from quake.backfill")
    try Tools.run("quake-ingest", arguments).expect(
      75, "another process is working on this backfill", "\(writer.serverProcessID)")
  }
}
