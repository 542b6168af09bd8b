import TestSupport
import Testing

/// What the tools advise if the schema is not theirs leads on: who follows it does not get the next error.
@Suite final class SchemaHintTests: ToolSuite {
  private let migrate = "quake-admin migrate\""

  /// Runs commands of each tool that refuse a schema that is not theirs.
  private func expectAdvice(
    _ words: String, migrates: Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 1))
    for (tool, arguments) in [
      ("quake-ingest", ["import", file]),
      ("quake-ingest", ["run", "--no-migrate", "--once", "--feed", file]),
      ("quake-watch", ["--no-follow"]), ("quake-query", ["list"]), ("quake-serve", []),
      ("quake-admin", ["status"]), ("quake-admin", ["watchers"]),
    ] as [(String, [String])] {
      let outcome = try database.run(tool, arguments)
      #expect(outcome.status == 78, "\(tool) \(arguments)", sourceLocation: sourceLocation)
      #expect(
        outcome.errors.contains(words) && outcome.errors.contains(migrate) == migrates,
        "\(tool) \(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
    }
  }

  @Test func aProgramThatIsTooOldIsToBeUpgraded() throws {
    try database.psql(
      "insert into quake.migration (version, name, sha256, program) values (999, 'x', 'x', 'x');")
    try expectAdvice("hint: Upgrade this program.", migrates: false)
    try database.run("quake-admin", ["migrate"]).expect(78, "hint: Upgrade this program.")
  }

  @Test func aSchemaThatIsTooOldIsToBeMigrated() throws {
    try database.psql("delete from quake.migration where version > 5;")
    try expectAdvice("hint: Run \"quake-admin migrate\" on it", migrates: true)
  }

  @Test func noMigrationHelpsADatabaseOfAnotherLine() throws {
    try database.psql(
      """
      delete from quake.migration where version > 5;
      update quake.migration set name = 'other' where version = 2;
      """)
    try expectAdvice("Use that program, or load the events into a new database.", migrates: false)
  }

  @Test func aModifiedMigrationIsRefusedByCommandsThatMigrate() throws {
    try database.psql("update quake.migration set sha256 = 'x' where version = 1;")
    let before = try database.contents()
    let file = try folder.write("a.geojson", Feeds.collection(count: 1))
    for (tool, arguments) in [
      ("quake-admin", ["migrate"]), ("quake-admin", ["migrate", "--status"]),
      ("quake-admin", ["migrate", "--dry-run"]),
      ("quake-ingest", ["run", "--once", "--feed", file]),
    ] {
      try database.run(tool, arguments).expect(
        78, "was modified after it was applied", "hint: A released migration is never edited.",
        with: arguments)
    }
    #expect(try database.contents() == before)
  }

  @Test func noMigrationHelpsASchemaThatWasChangedByHand() throws {
    try database.psql("drop table quake.watcher cascade;")
    let outcome = try database.run("quake-admin", ["watchers"])
    #expect(outcome.errors.contains("does not exist"), "\(outcome.errors)")
    #expect(!outcome.errors.contains(migrate), "\(outcome.errors)")
    #expect(outcome.errors.contains("\"quake-admin migrate --status\""), "\(outcome.errors)")
  }

  @Test func aRoleThatMayNotMigrateIsSentToOneThatMay() throws {
    let empty = try TestDatabase.empty()
    let role = "stranger_\(empty.name)"
    try empty.psql("create role \(role) login;")
    defer { _ = try? empty.psql("drop role \(role);") }
    let options = ["-d", "\(empty.conninfo) user=\(role)"]
    try Tools.run("quake-query", ["list"] + options).expect(78, migrate)
    let outcome = try Tools.run("quake-admin", ["migrate"] + options).expect(
      77, "hint: Connect as the owner of the database or as a superuser")
    // The roles of Quake are made after the schema.
    #expect(!outcome.errors.contains("quake_owner"), "\(outcome.errors)")
  }
}
