import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin doctor`: what each check finds, and the exit status.
@Suite(.serialized) struct DoctorTests {
  /// What the checks found, by their names.
  private struct Findings {
    let status: Int32
    let states: [String: String]
    let found: [String: String]
    let next: [String: String]
    let errors: String

    init(_ conninfo: String, _ arguments: [String] = []) throws {
      let outcome = try Tools.run(
        "quake-admin", ["doctor", "--json", "--database", conninfo] + arguments)
      (status, errors) = (outcome.status, outcome.errors)
      let lines = try outcome.lines.map { try JSONLine($0) }
      var states: [String: String] = [:]
      var found: [String: String] = [:]
      var next: [String: String] = [:]
      for line in lines {
        let check = try #require(line.string("check"))
        #expect(line.keys == ["check", "state", "found", "next"])
        #expect((line.string("state") == "ok") == line.isNull("next"), "\(line.text)")
        states[check] = line.string("state")
        found[check] = line.string("found")
        next[check] = line.string("next")
      }
      (self.states, self.found, self.next) = (states, found, next)
    }

    /// The statements and commands that a check advises.
    func advice(_ check: String) -> [String] {
      next[check, default: ""].matches(of: /"([^"]+)"/).map { String($0.1) }
    }

    func expect(
      _ check: String, _ state: String, _ words: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        states[check] == state && found[check]?.contains(words) == true,
        "\(check) is \(states[check] ?? "missing"): \(found[check] ?? "")\(errors)",
        sourceLocation: sourceLocation)
    }
  }

  private static let checks = [
    "version", "settings", "extensions", "connections", "pooler", "TLS", "clock", "disk", "standby",
    "slots", "region", "WAL archive", "notification queue", "long transactions",
    "prepared transactions",
    "schema", "privileges", "constraints", "indexes", "encoding", "collations",
    "bloat",
    "transaction ids", "feeds and watchers", "consumers",
  ]

  // MARK: - Healthy databases

  @Test func nothingIsFoundInAFreshEmbeddedServer() throws {
    let folder = try TemporaryFolder()
    let home = ["QUAKE_SERVER_HOME": folder.path + "/server"]
    try Tools.run("quake-admin", ["doctor"], environment: home).expect(69, "no database here yet")
    defer { _ = try? Tools.run("quake-admin", ["server", "stop"], environment: home) }
    try Tools.succeed("quake-admin", ["server", "start"], environment: home)
    try Tools.succeed("quake-admin", ["migrate"], environment: home)
    let outcome = try Tools.run("quake-admin", ["doctor"], environment: home)
    let lines = outcome.lines
    #expect(lines.first?.hasPrefix("\(Self.checks.count) checks: ") == true, "\(outcome.output)")
    for check in Self.checks {
      // How full the disk of this machine is, the test does not decide.
      let state = check == "disk" ? "" : "ok: "
      #expect(lines.contains { $0.contains("\(state)\(check): ") }, "\(check): \(outcome.output)")
    }
    let onlyTheDisk = lines.contains { $0.contains(/^(warning|problem): disk/) } ? 1 : 0
    #expect(outcome.status == Int32(onlyTheDisk))
    let quiet = try Tools.run("quake-admin", ["doctor", "--quiet"], environment: home)
    #expect(!quiet.output.contains("\nok: "))
  }

  @Test(arguments: ServerVersion.usual)
  func theMonitorSeesAllAndAStrangerSaysWhatItDoesNotSee(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let prefix = database.name + "_"
    try database.succeed("quake-admin", ["roles", "create", "--prefix", prefix])
    try database.psql(
      "create role \(prefix)stranger login; grant connect on database \(database.name) to \(prefix)stranger;"
    )
    defer {
      _ = try? database.psql("drop owned by \(prefix)stranger; drop role \(prefix)stranger;")
      _ = try? database.run("quake-admin", ["roles", "drop", "--yes", "--prefix", prefix])
    }
    let monitor = try Findings(
      database.conninfo + " user=\(prefix)monitor", ["--prefix", prefix])
    #expect(Set(monitor.states.keys) == Set(Self.checks))
    #expect(!monitor.states.values.contains("not seen"), "\(monitor.states)")
    monitor.expect("privileges", "ok", "as they should be")
    monitor.expect("schema", "ok", "that of this program")
    // The tests' server does not survive a power failure.
    monitor.expect("settings", "problem", "fsync is off")

    let stranger = try Findings(
      database.conninfo + " user=\(prefix)stranger", ["--prefix", prefix])
    #expect(stranger.states.count == Self.checks.count)
    for check in ["schema", "feeds and watchers", "long transactions", "TLS", "disk"] {
      #expect(stranger.states[check] == "not seen", "\(check): \(stranger.states)")
    }
  }

  // MARK: - Faults

  @Test(arguments: ServerVersion.usual)
  func faultsOfADatabaseAreFound(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    func expect(
      _ check: String, _ state: String, _ words: String, after script: String,
      _ arguments: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      try database.psql(script)
      let findings = try Findings(database.conninfo, arguments)
      #expect(findings.status == 1)
      findings.expect(check, state, words, sourceLocation: sourceLocation)
    }
    try expect("privileges", "warning", "none of Quake's roles", after: "select;")
    let prefix = database.name + "_"
    try database.succeed("quake-admin", ["roles", "create", "--prefix", prefix])
    defer { _ = try? database.run("quake-admin", ["roles", "drop", "--yes", "--prefix", prefix]) }
    try expect(
      "privileges", "problem", "1 too many", after: "grant delete on quake.quake to public;",
      ["--prefix", prefix])
    try expect(
      "constraints", "warning", "not validated: late on quake.feed",
      after: "alter table quake.feed add constraint late check (true) not valid;")
    try expect(
      "indexes", "problem", "not valid: quake.broken",
      after: """
        create index broken on quake.feed (name);
        update pg_index set indisvalid = false where indexrelid = 'quake.broken'::regclass;
        """)
    let broken = try Findings(database.conninfo, ["--prefix", prefix])
    #expect(broken.advice("privileges") == ["quake-admin roles check --prefix \(prefix)"])
    for check in ["constraints", "indexes"] {
      for statement in broken.advice(check) { try database.psql(statement + ";") }
    }
    let mended = try Findings(database.conninfo, ["--prefix", prefix])
    #expect(mended.states["constraints"] == "ok" && mended.states["indexes"] == "ok")
    try expect(
      "feeds and watchers", "problem", "no worker polls feed late",
      after: "insert into quake.feed (name, url) values ('late', 'https://example.org/late');")
    try expect(
      "schema", "problem", "trigger quake_20_record_insert of table quake.quake has state disabled",
      after: "alter table quake.quake disable trigger quake_20_record_insert;")
  }

  @Test(arguments: ServerVersion.usual)
  func whatKeepsProgramsFromWritingIsNamedWithTheStatementThatUndoesIt(
    _ version: ServerVersion
  ) throws {
    let database = try TestDatabase(on: version.server)
    let (name, prefix) = (database.name, database.name + "_")
    try database.succeed("quake-admin", ["roles", "create", "--prefix", prefix])
    defer { _ = try? database.run("quake-admin", ["roles", "drop", "--yes", "--prefix", prefix]) }
    try database.psql(
      """
      alter role \(prefix)writer set default_transaction_read_only = on;
      alter role \(prefix)watcher in database \(name) set default_transaction_read_only = true;
      alter role \(prefix)editor set default_transaction_read_only = off;
      alter role \(prefix)reader set default_transaction_read_only = on;
      alter database \(name) set default_transaction_read_only = on;
      """)
    let folder = try TemporaryFolder()
    let file = try folder.write("a.geojson", Feeds.collection(count: 1))
    try database.run("quake-ingest", ["run", "--once", "--feed", file]).expect(77, "doctor")
    let findings = try Findings(database.conninfo)
    #expect(findings.status == 1)
    for target in [
      "database \(name)", "role \(prefix)writer", "role \(prefix)watcher in database \(name)",
    ] {
      findings.expect("settings", "problem", " for \(target): quake-ingest run, named watchers")
    }
    for role in ["editor", "reader"] {
      #expect(findings.found["settings"]?.contains("\(prefix)\(role)") == false)
    }
    for statement in findings.advice("settings") where statement.contains("read_only") {
      try database.psql(statement + ";")
    }
    #expect(try Findings(database.conninfo).found["settings"]?.contains("read_only") == false)
    let own = try Findings(database.conninfo + " options='-c default_transaction_read_only=on'")
    own.expect("settings", "problem", "default_transaction_read_only is on: quake-ingest run")
    #expect(own.next["settings"]?.contains("Remove it from the URL of this connection") == true)
  }

  @Test(arguments: ServerVersion.usual)
  func anEncodingInWhichTextsAreNotCheckedOrGetLostIsNamed(_ version: ServerVersion) throws {
    let administrator = try TestDatabase.empty(on: version.server)
    for (encoding, state, words) in [
      ("SQL_ASCII", "warning", "the server checks no text"),
      ("LATIN1", "problem", "lacks characters"),
    ] {
      let name = "\(administrator.name)_\(encoding.lowercased())"
      try administrator.psql(
        "create database \(name) encoding '\(encoding)' locale 'C' template template0;")
      defer { _ = try? administrator.psql("drop database \(name) with (force);") }
      let findings = try Findings(administrator.conninfo + " dbname=\(name)")
      findings.expect("encoding", state, words)
      #expect(findings.advice("encoding").first?.hasPrefix("createdb --encoding UTF8") == true)
    }
  }

  @Test func aMissingSchemaAndThatOfAnotherProgramAreStatus78() throws {
    let database = try TestDatabase.empty()
    let missing = try Findings(database.conninfo)
    #expect(missing.status == 78)
    missing.expect("schema", "problem", "there is none")
    missing.expect("privileges", "not seen", "schema")
    missing.expect("version", "ok", "PostgreSQL")
    try database.psql("create schema quake; create table quake.migration (id int, name text);")
    let findings = try Findings(database.conninfo)
    #expect(findings.status == 78)
    findings.expect("schema", "problem", "is not that of Quake")
    #expect(findings.advice("schema") == ["alter schema quake rename to NAME"])
    for (tool, command) in [("quake-admin", "migrate"), ("quake-query", "list")] {
      try database.run(tool, [command]).expect(78, "is not that of Quake", with: command)
    }
  }

  @Test func whatCannotBeExaminedIsNoSuccess() throws {
    let database = try TestDatabase()
    let other = try database.connect()
    try other.run("begin")
    try other.run("lock table quake.delivery")
    // Long enough for the other statements on a busy machine.
    try database.psql("alter database \(database.name) set statement_timeout = '3s';")
    let findings = try Findings(database.conninfo)
    #expect(findings.status == 1)
    findings.expect("schema", "warning", "could not be examined: canceling statement")
  }

  @Test func aCollationOfAnotherVersionIsFound() throws {
    // To index a database anew locks the catalogs that all databases share: on a common server that would be a deadlock
    // with other tests.
    let server = try ToolServer(isInitialised: true)
    try server.embedded.start()
    let conninfo = server.embedded.conninfo
    try Tools.succeed("quake-admin", ["migrate", "--database", conninfo])
    let connection = try Connection(ConnectionSettings(conninfo, applicationName: "tests"))
    try connection.run(
      "create collation public.german (provider = icu, locale = 'de')",
      "create table public.sorted (name text collate public.german primary key)")
    try Findings(conninfo).expect("collations", "ok", "as when")
    try connection.run("update pg_collation set collversion = '0' where collname = 'german'")
    let changed = try Findings(conninfo)
    changed.expect("collations", "problem", "collation public.german")
    let advice = changed.advice("collations")
    #expect(advice.first == "reindex database quake")
    for statement in advice { try connection.run(statement) }
    #expect(try Findings(conninfo).states["collations"] == "ok")
  }

  @Test(arguments: ServerVersion.usual)
  func sessionsAndSlotsThatHoldBackTheServerAreFound(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let session = try database.connect(applicationName: "forgotten")
    try session.execute("begin")
    try session.execute("select pg_current_xact_id()")
    let long = try Findings(database.conninfo, ["--max-transaction", "0s"])
    #expect(long.states["long transactions"] == "warning")
    try session.execute("rollback")
    let slot = database.name
    try database.psql("select pg_create_physical_replication_slot('\(slot)', true);")
    defer { _ = try? database.psql("select pg_drop_replication_slot('\(slot)');") }
    try Findings(database.conninfo).expect("slots", "warning", "nobody reads slot")
    try database.psql("begin; create table public.t (); prepare transaction '\(slot)';")
    defer { _ = try? database.psql("rollback prepared '\(slot)';") }
    try Findings(database.conninfo, ["--max-transaction", "0s"])
      .expect("prepared transactions", "problem", "transaction")
  }

  @Test func aStandbyIsExaminedOnBothSides() throws {
    let servers = try ReplicatedServers()
    try eventually("the standby streams") {
      try Findings(servers.primary.conninfo).found["standby"] == "1 standby streaming"
    }
    try eventually("the standby receives") {
      try Findings(servers.standby.conninfo).states["standby"] == "ok"
    }
    let standby = try Findings(servers.standby.conninfo)
    standby.expect("bloat", "not seen", "which the primary counts")
    // `quake-admin status` misses no worker there, where none can be.
    try servers.ask(
      servers.primary,
      """
      insert into quake.feed (name, url, every, polled_at, succeeded_at)
      values ('all_hour', 'https://example.org', '1 min', now(), now())
      """)
    try eventually("the standby has the feed") {
      try servers.ask(servers.standby, "select count(*) from quake.feed") == "1"
    }
    // What writes is not allowed there, and what only reads is.
    for command in [["imports", "discard", "1", "--yes"], ["roles", "create"]] {
      try Tools.run("quake-admin", command + ["-d", servers.standby.conninfo]).expect(
        77, "name the primary")
    }
    try Tools.succeed("quake-admin", ["associations", "settings", "-d", servers.standby.conninfo])
    let status = try Tools.succeed("quake-admin", ["status", "-d", servers.standby.conninfo])
    #expect(status.output.contains("hot standby") && status.output.contains("not known here"))
    try servers.ask(
      servers.primary, "alter table quake.feed add constraint late check (true) not valid")
    try eventually("the standby sends the administrator to the primary") {
      try Findings(servers.standby.conninfo).next["constraints"]?.contains(
        "validate constraint late\" on the primary;") == true
    }
    try servers.ask(servers.standby, "select pg_wal_replay_pause()")
    try servers.ask(servers.primary, "update quake.feed set name = name; select pg_switch_wal()")
    try eventually("the standby is late") {
      let late = try Findings(servers.standby.conninfo, ["--max-standby-lag", "1ms"])
      return late.states["standby"] == "warning"
        && late.next["standby"]?.contains("select pg_wal_replay_resume()") == true
    }
    try servers.ask(servers.standby, "select pg_wal_replay_resume()")
    try servers.ask(servers.primary, "alter system set archive_mode = on")
    try servers.ask(servers.primary, "alter system set default_transaction_read_only = on")
    try servers.primary.stop(mode: .immediate)
    try eventually("the standby misses its primary") {
      try Findings(servers.standby.conninfo).found["standby"]
        == "this hot standby is not connected to its primary"
    }
    try servers.primary.start()
    try servers.standby.stop(mode: .immediate)
    let primary = try Findings(servers.primary.conninfo)
    primary.expect("WAL archive", "problem", "archive_command is empty: WAL stays on the disk")
    primary.expect("settings", "problem", "default_transaction_read_only is on: quake-ingest run")
    for statement in primary.advice("settings") where !statement.contains("fsync") {
      try servers.ask(servers.primary, statement)
    }
    try eventually("the server accepts writes") {
      try Findings(servers.primary.conninfo).found["settings"]?.contains("read_only") == false
    }
    try servers.ask(servers.primary, "alter system set synchronous_standby_names = 'none'")
    try servers.ask(servers.primary, "select pg_reload_conf()")
    try eventually("commits wait") {
      try Findings(servers.primary.conninfo).found["standby"]?.hasPrefix("commits wait") == true
    }
  }

  @Test(.enabled(if: Pooler.program != nil, "pgbouncer is not installed"))
  func aPoolerInTransactionModeIsFound() throws {
    let database = try TestDatabase()
    let pool = try Pooler("transaction", for: database)
    try Findings(pool.conninfo).expect("pooler", "warning", "no notifications")
    try pool.stop()
  }
}
