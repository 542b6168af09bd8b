import Postgres
import QuakeImport
import QuakeModel
import TestSupport
import Testing

/// Whatever a session has set, a transaction has one token, and the functions return the same.
@Suite final class SessionSettingsTests: DatabaseSuite {
  /// Those that forbid writing, end the session, fill the server's log, or, as the documents say, switch
  /// triggers off.
  private static let exceptions: Set<String> = [
    "default_transaction_read_only", "transaction_read_only", "transaction_isolation",
    "transaction_deferrable", "exit_on_error", "session_replication_role", "is_superuser",
    "debug_print_parse", "debug_print_plan", "debug_print_rewritten", "debug_deadlocks",
    "log_parser_stats", "log_planner_stats", "log_executor_stats", "log_statement_stats",
    "log_btree_build_stats", "trace_locks", "trace_lwlocks", "trace_userlocks", "trace_lock_oidmin",
    "allow_system_table_mods", "ssl_renegotiation_limit",
  ]

  /// Settings whose values have no list.
  private static let others = [
    ("DateStyle", "German, DMY"), ("DateStyle", "SQL, DMY"), ("TimeZone", "America/New_York"),
    ("search_path", "pg_temp, quake, public"), ("extra_float_digits", "-15"),
    ("plpgsql.extra_errors", "all"), ("quake.pending", "(0,1)"), ("quake.pending", "nonsense"),
    ("quake.import", "1"), ("work_mem", "64kB"), ("jit_above_cost", "0"),
    ("from_collapse_limit", "1"),
  ]

  /// Each value, besides the present one, of each setting of a session that is a switch or a choice.
  private func settings(of connection: Connection) throws -> [(name: String, value: String)] {
    try connection.table(
      """
      select s.name, v.value
        from pg_settings s
       cross join lateral unnest(
         case s.vartype when 'bool' then array['on', 'off'] else s.enumvals end) v (value)
       where s.context in ('user', 'superuser') and s.vartype in ('bool', 'enum')
         and v.value <> s.setting and s.name <> all ($1::text[])
       order by s.name, v.value
      """, [.array(Array(Self.exceptions))]
    ).map { line in
      let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
  }

  /// One transaction with a statement of each kind.
  private func write(over connection: Connection) throws {
    try connection.run(
      "begin",
      """
      insert into quake.quake (code, source, time, magnitude)
      values ('a', 's', '2024-01-31T12:00:00Z', 1)
      """,
      """
      insert into quake.quake (code, source, time, magnitude)
      values ('b', 's', '2024-01-31T12:00:00Z', 1)
      """,
      "update quake.quake set magnitude = 2 where code in ('a', 'b')",
      "delete from quake.quake where code = 'b'", "delete from quake.quake where code = 'a'",
      "commit")
  }

  private static let changes = [
    "0 insert a {} - 1", "1 insert b {} - 1", "2 update a {magnitude} 1 2",
    "3 update b {magnitude} 1 2", "4 delete b {} 2 -", "5 delete a {} 2 -",
  ]

  @Test(arguments: ServerVersion.present)
  func noSettingOfASessionChangesTheTokensOfATransaction(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    // So that the settings of the own queries of the test stay.
    let asking = try database.connect()
    let all = try settings(of: connection) + Self.others.map { (name: $0.0, value: $0.1) }
    #expect(all.contains { $0.name == "standard_conforming_strings" && $0.value == "off" })
    for setting in all {
      let before = try #require(try asking.ask("select quake.latest_token()"))
      _ = try connection.execute(
        "select pg_catalog.set_config($1, $2, false)", [.text(setting.name), .text(setting.value)])
      do {
        try write(over: connection)
        let tokens = try connection.ask(
          "select count(distinct c.token) from quake.changes_since('\(before)') c")
        #expect(tokens == "1", "\(setting)")
        #expect(
          try connection.table(
            """
            select c.position || ' ' || c.op || ' ' || c.code || ' ' || c.changed::text || ' '
                   || coalesce((c.old).magnitude::int::text, '-') || ' '
                   || coalesce((c.new).magnitude::int::text, '-')
              from quake.changes_since('\(before)') c order by c.position
            """
          ).map { line in
            // The rows of one update have no order.
            line.replacing("2 update b", with: "2 update a").replacing(
              "3 update a", with: "3 update b")
          } == Self.changes, "\(setting)")
        #expect(
          try connection.ask(
            "select count(*) from quake.alerts_since('\(before)', newer_than => '9000 days')")
            == "6",
          "\(setting)")
        #expect(
          try connection.ask(
            "select count(*) from quake.difference('\(before)', quake.latest_token())")
            == "0", "\(setting)")
        let malformed = try #require(throws: PostgresError.self) {
          try connection.execute("select quake.token_number('12x9f3ac2d1')")
        }
        #expect(malformed.sqlState == StoreState.malformedToken, "\(setting)")
      } catch {
        Issue.record("\(setting): \(error)")
        _ = try? connection.rollback()
      }
      _ = try connection.execute(
        "select pg_catalog.set_config(name, reset_val, false) from pg_settings where name = $1",
        [.text(setting.name)])
    }
    #expect(try asking.historyFaults() == [])
  }

  @Test func noFunctionHasABackslash() throws {
    #expect(
      try connection.table(
        """
        select p.oid::regprocedure from pg_proc p
         where p.pronamespace = 'quake'::regnamespace and strpos(p.prosrc, chr(92)) > 0
        """) == [])
  }
}
