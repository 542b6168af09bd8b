import TestSupport
import Testing

/// Tools whose caller has closed standard input, output or error.
@Suite struct ClosedDescriptorTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
    try database.psql(
      "insert into quake.quake (code, time) select 'e' || n, now() from generate_series(1, 20000) n"
    )
  }

  /// What is printed must not get into the connection, which would have the number of a closed descriptor.
  @Test func closedOutputIsAnError() throws {
    for command in [
      "quake-query list --json", "quake-query export --format csv", "quake-query list --count",
      "quake-watch --from-start --no-follow --json", "quake-admin status",
    ] {
      let outcome = try Tools.shell(
        "\(command) >&-", environment: ["DATABASE_URL": database.conninfo])
      #expect(outcome.status == 1, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains("could not write"), "\(command): \(outcome.errors)")
      #expect(!outcome.errors.contains("connection"), "\(command): \(outcome.errors)")
    }
  }

  @Test func closedErrorAndInputAreNoneOfTheDatabases() throws {
    for redirection in ["2>&-", "<&-", "<&- 2>&-"] {
      let outcome = try Tools.shell(
        "quake-query list --codes --verbose \(redirection)",
        environment: ["DATABASE_URL": database.conninfo])
      #expect(outcome.status == 0 && outcome.lines.count == 20_000, "\(redirection)")
    }
    let input = try Tools.shell(
      "quake-query list --codes --code - <&-", environment: ["DATABASE_URL": database.conninfo])
    #expect(input.status != 0)
    #expect(input.errors.contains("could not read the codes"), "\(input.errors)")
  }
}
