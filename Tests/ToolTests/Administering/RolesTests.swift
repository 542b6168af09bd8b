import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin roles`, and each tool with the role that it needs.
@Suite(.serialized) struct RolesTests {
  private static let roles = [
    "owner", "writer", "editor", "reader", "watcher", "purger", "monitor",
  ]

  /// A database whose roles `quake-admin roles create` has created.
  private final class Scene {
    let database: TestDatabase
    let folder: TemporaryFolder
    var prefix: String { database.name + "_" }

    init(other: Bool = false, creates: Bool = true, _ arguments: [String] = []) throws {
      database = try TestDatabase(on: other ? TestServer.other ?? .shared : .shared)
      folder = try TemporaryFolder()
      if creates { try roles(["create"] + arguments).requireSuccess() }
    }

    deinit { _ = try? roles(["drop", "--yes"]) }

    func roles(
      _ arguments: [String], as role: String? = nil, environment: [String: String] = [:]
    ) throws -> ToolProcess.Outcome {
      try Tools.run(
        "quake-admin",
        ["roles"] + arguments + ["--prefix", prefix, "--database", conninfo(role)],
        environment: environment)
    }

    func conninfo(_ role: String?) -> String {
      database.conninfo + (role.map { " user=\(prefix)\($0)" } ?? "")
    }

    /// Runs a tool as a role.
    func run(_ role: String, _ tool: String, _ arguments: [String]) throws -> ToolProcess.Outcome {
      try Tools.run(tool, arguments + ["--database", conninfo(role)])
    }
  }

  /// Whether to use the second server: in `make soak` also true, if there is one. `PrivilegeMatrixTests` compares
  /// the privileges on both in every run.
  private static let servers = !Tools.isSoak || TestServer.other == nil ? [false] : [false, true]

  // MARK: - The tools as their roles

  /// Only the owner can switch triggers. Whoever else tries must not end associations before that is found out.
  @Test func anEditorCannotDisableAssociationsByHalf() throws {
    let scene = try Scene()
    try scene.run("owner", "quake-admin", ["associations", "enable"]).expect(0)
    try scene.database.psql(
      """
      insert into quake.quake (code, source, time, magnitude, longitude, latitude)
        values ('a', 'usgs', now(), 5, 10, 20), ('b', 'emsc', now(), 5, 10, 20);
      """)
    try scene.run("editor", "quake-admin", ["associations", "run"]).expect(0)
    #expect(try scene.database.count("quake.current_quake") == 1)
    try scene.run("editor", "quake-admin", ["associations", "disable"]).expect(77)
    #expect(try scene.database.count("quake.current_quake") == 1)
    #expect(try scene.database.value("select enabled from quake.association_settings") == "t")
  }

  @Test(arguments: servers) func theOwnerMigratesAndTheOthersDoNot(_ other: Bool) throws {
    let scene = try Scene(other: other)
    try scene.run("owner", "quake-admin", ["migrate"]).expect(0)
    try scene.run("owner", "quake-admin", ["roles", "check", "--prefix", scene.prefix]).expect(0)
    // An older schema: only the owner brings it up to date.
    let empty = try TestDatabase.empty(on: other ? TestServer.other ?? .shared : .shared)
    try empty.connect().run(
      "grant create, connect on database \(empty.name) to \(scene.prefix)owner")
    try Tools.run("quake-admin", ["migrate", "-d", empty.conninfo + " user=\(scene.prefix)writer"])
      .expect(77)
    try Tools.run("quake-admin", ["migrate", "-d", empty.conninfo + " user=\(scene.prefix)owner"])
      .expect(0)
    try empty.connect().run("drop owned by \(scene.prefix)owner cascade")
  }

  /// A writer that does not purge reads little of the history.
  @Test func theWriterImportsWhatANewerSnapshotLacks() throws {
    let scene = try Scene()
    let file = try scene.folder.write("all_day.geojson", Feeds.collection(count: 30))
    try scene.run("writer", "quake-ingest", ["import", file]).expect(0)
    let older = try scene.folder.write(
      "older.geojson", Feeds.collection(count: 31, generated: 1_700_000_040_000))
    try scene.run("writer", "quake-ingest", ["import", older]).expect(0)
    #expect(try scene.database.count("quake.quake") == 31)
  }

  @Test(arguments: servers) func theWriterImportsAndResolvesQuarantine(_ other: Bool) throws {
    let scene = try Scene(other: other, ["--writer-purges"])
    let file = try scene.folder.write("all_day.geojson", Feeds.collection(count: 30))
    try scene.run("writer", "quake-ingest", ["import", file]).expect(0)
    try scene.run(
      "writer", "quake-ingest", ["import", "--jobs", "2", "--commit-every", "10", file]
    ).expect(0)
    try scene.run("writer", "quake-ingest", ["import", "--dry-run", file]).expect(0)

    // A bad snapshot goes to quarantine, and the writer applies or discards it.
    let bad = try ScriptedServer(200, body: Array(Feeds.collection(count: 0).utf8))
    try scene.run("writer", "quake-ingest", ["run", "--once", "--feed", bad.url]).expect(65)
    try scene.run("writer", "quake-admin", ["imports", "--quarantined"]).expect(0)
    let number = try scene.database.value(
      "select max(id) from quake.import where quarantined_at is not null")
    try scene.run("writer", "quake-admin", ["imports", "body", number]).expect(0)
    try scene.run("writer", "quake-admin", ["imports", "discard", number]).expect(0)
    try scene.run("writer", "quake-ingest", ["run", "--once", "--feed", bad.url]).expect(65)
    let second = try scene.database.value(
      "select max(id) from quake.import where quarantined_at is not null")
    try scene.run("writer", "quake-admin", ["imports", "apply", second]).expect(0)

    // Files and windows of the past, and dated snapshots.
    let past = try TemporaryFolder()
    try past.write("all_day_2026-08-15T0040Z.geojson", Feeds.collection(count: 5))
    try scene.run("writer", "quake-ingest", ["backfill", past.path]).expect(0)
    try scene.run("writer", "quake-ingest", ["backfill", past.path, "--restart"]).expect(0)
    try scene.run("writer", "quake-ingest", ["replay", past.path]).expect(0)
    let service = try SimulatedService(["--events", "200"])
    try scene.run(
      "writer", "quake-ingest",
      [
        "backfill", "--url", service.base, "--from", "2020-01-01", "--to", "2020-01-03",
        "--rate", "100",
      ]
    ).expect(0)

    // A worker that purges, answers requests of a reader, and is seen by the monitor.
    let features = [Feeds.feature("us1"), Feeds.feature("us2", magnitude: "99")]
    let feed = try ScriptedServer(200, body: Array(Feeds.collection(features).utf8))
    let worker = try Tools.start(
      "quake-ingest",
      [
        "run", "--feed", "\(feed.url)@1h", "--refresh-interval", "0s", "--force", "--no-migrate",
        "--keep-history", "90d", "--database", scene.conninfo("writer"),
      ])
    try worker.waitForError("2 seen")
    #expect(try scene.database.value("select count(*) from quake.import_reject") != "0")
    try scene.run("reader", "quake-admin", ["refresh", "--timeout", "3m"]).expect(0)
    let status = try scene.run("monitor", "quake-admin", ["status"])
    #expect([0, 1].contains(status.status) && status.output.contains("quake-ingest, session"))
    #expect(try scene.run("monitor", "quake-admin", ["status", "--json", "-q"]).lines.count == 1)
    let ended = try worker.end()
    #expect(!ended.errors.contains("permission denied"), "\(ended.errors)")
    // All changes are the writer's.
    #expect(
      try scene.database.column("select distinct database_user from quake.change_transaction")
        == ["\(scene.prefix)writer"])
  }

  @Test(arguments: servers) func readersWatchersAndThePurgerDoOnlyTheirTasks(_ other: Bool) throws {
    let scene = try Scene(other: other)
    let file = try scene.folder.write("a.geojson", Feeds.collection(count: 3))
    let revised = try scene.folder.write(
      "b.geojson", Feeds.collection(count: 3, magnitude: "4", generated: 1_700_000_200_000))
    try scene.run("writer", "quake-ingest", ["import", file]).expect(0)
    try scene.run("writer", "quake-ingest", ["import", revised]).expect(0)

    // Reading.
    let watch = try scene.run("reader", "quake-watch", ["--from-start", "--no-follow", "--json"])
      .expect(0)
    #expect(watch.lines.count == 6)
    try scene.run("reader", "quake-watch", ["--snapshot", "--no-follow"]).expect(0)
    for arguments in [
      ["list"], ["show", "us1"], ["versions", "us1"], ["history"],
      ["diff", "0", try scene.database.value("select quake.latest_token()")],
      ["list", "--as-of", "2026-01-01"],
    ] { try scene.run("reader", "quake-query", arguments).expect(0) }
    try scene.run("reader", "quake-admin", ["watchers"]).expect(0)
    try scene.run("reader", "quake-admin", ["imports"]).expect(0)
    for role in ["watcher", "editor"] { try scene.run(role, "quake-query", ["list"]).expect(0) }
    // And nothing else.
    for (role, tool, arguments) in [
      ("watcher", "quake-ingest", ["import", file]),
      ("reader", "quake-watch", ["--name", "mine", "--from-start", "--no-follow"]),
      ("writer", "quake-admin", ["history", "purge", "--yes", "--before", "1s"]),
      ("monitor", "quake-query", ["list"]),
    ] { try scene.run(role, tool, arguments).expect(77) }

    // A durable cursor.
    let named = try scene.run(
      "watcher", "quake-watch", ["--name", "mine", "--from-start", "--no-follow"]
    ).expect(0)
    #expect(named.lines.count == 6)
    try scene.run("watcher", "quake-watch", ["--name", "mine", "--no-follow"]).expect(0)
    try scene.run("watcher", "quake-admin", ["watchers", "remove", "mine", "--yes"]).expect(77)

    // The purger.
    for argument in ["--dry-run", "--yes"] {
      try scene.run("purger", "quake-admin", ["history", "purge", "--before", "0s", argument])
        .expect(0)
    }
    #expect(try scene.database.count("quake.quake_version") == 3)
    try scene.run("purger", "quake-admin", ["watchers", "remove", "mine", "--yes"]).expect(0)
    try scene.run("monitor", "quake-admin", ["status"]).expect(0)
  }

  @Test(arguments: servers) func onlyTheOwnerAndItsRoleChangeAConsumer(_ other: Bool) throws {
    let scene = try Scene(other: other)
    let connection = try scene.database.connect()
    let second = scene.prefix + "second"
    try connection.run("create role \(second) login in role \(scene.prefix)watcher")
    defer { _ = try? connection.run("drop role \(second)") }
    try connection.run(
      "set role \(scene.prefix)watcher",
      "insert into quake.watcher (name, token) values ('pager', 0)",
      "insert into quake.consumer (name, sink) values ('pager', 'webhook')",
      """
      insert into quake.delivery (consumer, id, subject, kind, token, variables, data, parked_at)
      values ('pager', 'a', 'a', 'change', '0', '', '{}', now())
      """, "reset role")
    func consumers(_ role: String, _ arguments: String...) throws -> ToolProcess.Outcome {
      try scene.run(role, "quake-admin", ["consumers"] + arguments)
    }
    for action in [
      ["pause", "pager"], ["resume", "pager"], ["rewind", "pager", "--to", "oldest", "--yes"],
      ["retry", "pager"], ["discard", "pager", "--all", "--yes"],
    ] {
      try scene.run("second", "quake-admin", ["consumers"] + action).expect(
        77, "consumer \"pager\" belongs to role \"\(scene.prefix)watcher\"")
    }
    for role in ["monitor", "purger", "reader"] {
      try consumers(role, "pause", "pager").expect(77)
      try consumers(role).expect(0)
    }
    #expect(try scene.database.count("quake.delivery") == 1)
    // Who may not read events does not read what a message says.
    try consumers("monitor", "show", "pager").expect(77)
    for role in ["watcher", "owner"] {
      try consumers(role, "show", "pager").expect(0)
      try consumers(role, "pause", "pager").expect(0)
      try consumers(role, "resume", "pager").expect(0)
      try consumers(role, "retry", "pager").expect(0)
      try consumers(role, "rewind", "pager", "--to", "oldest", "--yes").expect(0)
      try consumers(role, "discard", "pager", "--all", "--yes").expect(0)
    }
    try consumers("watcher", "remove", "pager", "--yes").expect(77)
    try consumers("purger", "remove", "pager", "--yes").expect(0)
    #expect(try scene.database.count("quake.consumer") == 0)
  }

  @Test func aServerKeepsConsumersAsTheWatcher() throws {
    let scene = try Scene()
    let token = try ServerProcess.token("secret", of: "ann")
    func answer(as role: String, _ method: String) throws -> RawConnection.Answer {
      let server = try ServerProcess(
        ["--database", scene.conninfo(role), "--consumer-token", token])
      try server.waitUntilReady()
      defer { try? server.stop() }
      return try server.request(
        method, "/v1/consumers/pager", ["Authorization": "Bearer secret"])
    }
    #expect(try answer(as: "reader", "GET").status == 200)
    #expect(try answer(as: "reader", "POST").status == 403)
    #expect(try answer(as: "watcher", "POST").status == 200)
    let connection = try scene.database.connect()
    try connection.run("grant \(scene.prefix)watcher to \(scene.prefix)reader")
    // The cursor of another role.
    #expect(try answer(as: "reader", "POST").status == 409)
  }

  @Test func aRefusedToolNamesTheRoleThatMay() throws {
    let scene = try Scene()
    let file = try scene.folder.write("a.geojson", Feeds.collection(count: 1))
    for (role, command, hint) in [
      ("editor", ["quake-ingest", "run", "--once", "--feed", file], "quake_writer, or"),
      ("reader", ["quake-watch", "--name", "mine", "--no-follow"], "quake_watcher, or"),
      (
        "reader", ["quake-admin", "history", "purge", "--yes", "--before", "1s"], "quake_purger, or"
      ),
      (
        "monitor", ["quake-query", "list"],
        "quake_writer, quake_editor, quake_reader or quake_watcher, or"
      ),
      ("editor", ["quake-admin", "associations", "disable"], "quake_owner, or"),
    ] {
      try scene.run(role, command[0], Array(command.dropFirst())).expect(
        77, "hint: Connect as \(hint) as a member")
    }
    // A role without any privilege learns what each role is for.
    let connection = try scene.database.connect()
    let stranger = scene.prefix + "stranger"
    try connection.run("create role \(stranger) login")
    defer {
      _ = try? connection.run("drop owned by \(stranger)")
      _ = try? connection.run("drop role \(stranger)")
    }
    let away = try scene.run("stranger", "quake-query", ["list"]).expect(
      69, "permission denied for database")
    try connection.run("grant connect on database \(scene.database.name) to \(stranger)")
    let refused = try scene.run("stranger", "quake-query", ["list"]).expect(77)
    for outcome in [away, refused] {
      #expect(outcome.errors.contains("quake_reader reads: "), "\(outcome.errors)")
    }
  }

  // MARK: - The command

  @Test func createReportsWhatItDoesAndIsIdempotent() throws {
    let scene = try Scene(creates: false)
    let planned = try scene.roles(["create", "--dry-run"]).expect(0)
    #expect(planned.lines.first == "begin;" && planned.lines.last == "commit;")
    #expect(planned.lines.contains("create role \(scene.prefix)reader login;"))
    let count = "select count(*) from pg_roles where rolname like '\(scene.prefix)%'"
    #expect(try scene.database.value(count) == "0")
    // The script does what the command does.
    try scene.database.psql(planned.output)
    #expect(try scene.database.value(count) == "7")
    try scene.roles(["check"]).expect(0)
    #expect(try scene.roles(["create"]).lines == ["the roles are as they should be"])
    #expect(try scene.roles(["create", "--dry-run"]).lines == ["-- nothing to do"])
    try scene.roles(["drop", "--yes"]).expect(0)

    let made = try scene.roles(["create"]).expect(0)
    #expect(made.lines.prefix(7) == Self.roles.map { "created role \(scene.prefix)\($0)" }[...])
  }

  @Test func checkEndsWithStatus1AndNamesWhatDiffers() throws {
    let scene = try Scene()
    try scene.roles(["check"]).expect(0, lines: ["the roles are as they should be"])
    try scene.database.connect().run(
      "grant update on quake.quake_version to \(scene.prefix)reader",
      "revoke select on quake.quake from \(scene.prefix)reader")
    let outcome = try scene.roles(["check"]).expect(
      1,
      lines: [
        "2 differences: 1 too many, 1 too few",
        "too few: role \(scene.prefix)reader lacks SELECT on table quake.quake",
        "too many: role \(scene.prefix)reader has UPDATE on table quake.quake_version",
      ])
    let lines = try scene.roles(["check", "--json", "-q"]).lines.map { try JSONLine($0) }
    #expect(lines.map { $0.string("item") } == ["SELECT", "UPDATE"])
    #expect(
      lines[1].string("statement")
        == "revoke update on table quake.quake_version from \(scene.prefix)reader")
    #expect(lines[1].keys == ["kind", "role", "object", "item", "text", "statement"])
    #expect(
      outcome.errors.contains(
        "hint: Run \"quake-admin roles create --prefix \(scene.prefix)\": it grants what is missing after a"
          + " restore or a migration. With --dry-run it prints the statements.\n"),
      "\(outcome.errors)")
    // A role that may read the schema may check it.
    try scene.roles(["check"], as: "monitor").expect(1)
    try scene.roles(["create"]).expect(0)
    try scene.roles(["check"]).expect(0)
  }

  /// As docs/security.md describes it.
  @Test(arguments: servers)
  func aSecondDatabaseIsToldWhoseRolesItGetsAndCanHaveItsOwn(_ other: Bool) throws {
    let first = try Scene(other: other)
    let second = try TestDatabase(on: other ? TestServer.other ?? .shared : .shared)
    func roles(_ words: String..., prefix: String = first.prefix) throws -> ToolProcess.Outcome {
      try second.run("quake-admin", ["roles"] + words + ["--prefix", prefix])
    }
    let shared =
      "the roles \(first.prefix)owner, \(first.prefix)writer, ... are also those of database"
      + " \"\(first.database.name)\"\n"
    try roles("create", "--dry-run").expect(
      0, shared, "\"quake-admin roles create --prefix NAME_\"")
    try roles("create").expect(0, shared, "docs/security.md")
    // It is not repeated after each migration, but a check notes it.
    #expect(try !roles("create").errors.contains("also"))
    #expect(
      try roles("check").errors.contains(
        "the roles are also those of database \"\(first.database.name)\" on this server"))

    let own = second.name + "_"
    try roles("create", prefix: own).expect(0)
    defer { _ = try? roles("drop", "--yes", prefix: own) }
    try second.psql(
      "drop owned by \(Self.roles.map { first.prefix + $0 }.joined(separator: ", "));")
    try first.roles(["create"]).expect(0)
    for check in [try first.roles(["check"]), try roles("check", prefix: own)] {
      check.expect(0)
      #expect(!check.errors.contains("also"), "\(check.errors)")
    }
  }

  @Test func passwordsComeFromFilesAndAreNeverShown() throws {
    let scene = try Scene(creates: false)
    let folder = try TemporaryFolder()
    try folder.write("reader", "correct horse\n")
    try folder.write("something-else", "x")
    let file = try scene.folder.write("w", "battery stäple\r\n")
    let arguments = ["create", "--passwords", folder.path, "--password-file", "writer=\(file)"]
    for more in [["--dry-run"], ["--verbose"]] {
      let outcome = try scene.roles(arguments + more).expect(0)
      for secret in ["correct", "battery", "SCRAM"] {
        #expect(!(outcome.output + outcome.errors).contains(secret), "\(secret)")
      }
    }
    #expect(
      try scene.database.column(
        """
        select rolname from pg_authid where rolname like '\(scene.prefix)%'
           and rolpassword like 'SCRAM-SHA-256$%' order by 1
        """) == ["\(scene.prefix)reader", "\(scene.prefix)writer"])

    // Invalid passwords.
    let empty = try scene.folder.write("empty", "\n")
    let long = try scene.folder.write("long", String(repeating: "x", count: 1001))
    let odd = try scene.folder.write("odd", [0x61, 0x00, 0x62])
    let pipe = scene.folder.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    for (value, words) in [
      ("writer=\(empty)", "is empty"), ("writer=\(long)", "does not hold a password"),
      ("writer=\(odd)", "does not hold a password"), ("writer=\(pipe)", "is not a regular file"),
      ("writer=/nonexistent", "could not read"),
      ("king=\(file)", "expected ROLE=FILE"), ("writer", "expected ROLE=FILE"),
    ] { try scene.roles(["create", "--password-file", value]).expect(64, words) }
    try scene.roles(["create", "--passwords", scene.folder.path]).expect(64)
  }

  @Test func dropNeedsYesAndRemovesTheRoles() throws {
    let scene = try Scene()
    try scene.roles(["drop"]).expect(64, "--yes is needed")
    try scene.roles(["drop", "--dry-run"]).expect(0)
    let count = "select count(*) from pg_roles where rolname like '\(scene.prefix)%'"
    #expect(try scene.database.value(count) == "7")

    try scene.roles(["drop", "--yes"]).expect(0)
    #expect(try scene.database.value(count) == "0")
    #expect(try scene.roles(["drop", "--yes"]).lines == ["there are no such roles"])
    try scene.roles(["check"]).expect(1)
  }

  @Test func aRefusalGivesItsReason() throws {
    let scene = try Scene()
    try scene.roles(["drop", "--yes"], as: "monitor").expect(1, "because it is one of them")
    // The owner may grant, but cannot create roles.
    try scene.database.connect().run("alter role \(scene.prefix)reader connection limit -1")
    try scene.roles(["create"], as: "owner").expect(77, "lacks CREATEROLE")
    for prefix in ["Quake", "pg_", "a b"] {
      try Tools.run(
        "quake-admin", ["roles", "check", "--prefix", prefix, "-d", scene.database.conninfo]
      ).expect(64)
    }
    // Without a schema there is nothing to grant on.
    let empty = try TestDatabase.empty()
    try Tools.run("quake-admin", ["roles", "create", "-d", empty.conninfo]).expect(78)
  }
}
