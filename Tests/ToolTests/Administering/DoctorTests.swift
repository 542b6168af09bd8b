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
    let errors: String

    init(_ conninfo: String, _ arguments: [String] = []) throws {
      let outcome = try Tools.run(
        "quake-admin", ["doctor", "--json", "--database", conninfo] + arguments)
      (status, errors) = (outcome.status, outcome.errors)
      let lines = try outcome.lines.map { try JSONLine($0) }
      var states: [String: String] = [:]
      var found: [String: String] = [:]
      for line in lines {
        let check = try #require(line.string("check"))
        #expect(line.keys == ["check", "state", "found", "next"])
        #expect((line.string("state") == "ok") == line.isNull("next"), "\(line.text)")
        states[check] = line.string("state")
        found[check] = line.string("found")
      }
      (self.states, self.found) = (states, found)
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
    "slots", "WAL archive", "notification queue", "long transactions", "prepared transactions",
    "schema", "privileges", "constraints", "indexes", "collations", "bloat", "transaction ids",
    "feeds and watchers", "consumers",
  ]

  // MARK: - Healthy databases

  @Test func nothingIsFoundInAFreshEmbeddedServer() throws {
    let folder = try TemporaryFolder()
    let home = ["QUAKE_SERVER_HOME": folder.path + "/server"]
    let none = try Tools.run("quake-admin", ["doctor"], environment: home)
    #expect(none.status == 69 && none.errors.contains("no database here yet"), "\(none.errors)")
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

  @Test(arguments: ServerVersion.present)
  func theMonitorSeesAllAndAStrangerSaysWhatItDoesNotSee(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let prefix = database.name + "_"
    try Tools.succeed("quake-admin", ["roles", "create", "--prefix", prefix] + database.option)
    try database.psql(
      "create role \(prefix)stranger login; grant connect on database \(database.name) to \(prefix)stranger;"
    )
    defer {
      _ = try? database.psql("drop owned by \(prefix)stranger; drop role \(prefix)stranger;")
      _ = try? Tools.run(
        "quake-admin", ["roles", "drop", "--yes", "--prefix", prefix] + database.option)
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

  @Test(arguments: ServerVersion.present)
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
    try Tools.succeed("quake-admin", ["roles", "create", "--prefix", prefix] + database.option)
    defer {
      _ = try? Tools.run(
        "quake-admin", ["roles", "drop", "--yes", "--prefix", prefix] + database.option)
    }
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
    try expect(
      "feeds and watchers", "problem", "no worker polls feed late",
      after: "insert into quake.feed (name, url) values ('late', 'https://example.org/late');")
    try expect(
      "schema", "problem", "trigger quake_20_record_insert of table quake.quake has state disabled",
      after: "alter table quake.quake disable trigger quake_20_record_insert;")
  }

  @Test func whatCannotBeExaminedIsNoSuccess() throws {
    let database = try TestDatabase()
    try database.psql("alter database \(database.name) set statement_timeout = '1ms';")
    let findings = try Findings(database.conninfo)
    #expect(findings.status == 1)
    findings.expect("schema", "warning", "could not be examined: canceling statement")
  }

  @Test func anAllowedNewerSchemaWasNotCompared() throws {
    let database = try TestDatabase()
    let known = try database.count("quake.migration")
    try database.migrateToNextRelease(["-- oldest schema: \(known)\nselect 1"])
    try Findings(database.conninfo).expect(
      "schema", "warning", "is newer than that of this program")
  }

  @Test func aCollationOfAnotherVersionIsFound() throws {
    let database = try TestDatabase()
    try database.psql(
      """
      create collation public.german (provider = icu, locale = 'de');
      create table public.sorted (name text collate public.german primary key);
      """)
    try Findings(database.conninfo).expect("collations", "ok", "as when")
    try database.psql("update pg_collation set collversion = '0' where collname = 'german';")
    try Findings(database.conninfo).expect("collations", "problem", "collation public.german")
  }

  @Test(arguments: ServerVersion.present)
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
      let primary = try Findings(servers.primary.conninfo)
      return primary.found["standby"] == "1 standby server streaming"
    }
    try eventually("the standby receives") {
      try Findings(servers.standby.conninfo).states["standby"] == "ok"
    }
    try servers.primary.stop(mode: .immediate)
    try eventually("the standby misses its primary") {
      try Findings(servers.standby.conninfo).found["standby"]
        == "this hot standby is not connected to its primary"
    }
    try servers.primary.start()
    try servers.standby.stop(mode: .immediate)
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

  @Test func aMissingSchemaIsStatus78AndTheRestIsExamined() throws {
    let empty = try TestDatabase.empty()
    let findings = try Findings(empty.conninfo)
    #expect(findings.status == 78)
    findings.expect("schema", "problem", "there is none")
    findings.expect("privileges", "not seen", "schema")
    findings.expect("version", "ok", "PostgreSQL")
    #expect(
      try Tools.run("quake-admin", ["doctor", "-d", "host=/nowhere"]).status == 69)
    #expect(
      try Tools.run("quake-admin", ["doctor", "--max-transaction", "-1s"] + empty.option).status
        == 64)
  }
}
