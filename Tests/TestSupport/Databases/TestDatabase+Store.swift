import Postgres
import QuakeSchema

extension TestDatabase {
  /// A new database with Quake's schema and without events.
  package convenience init(on server: TestServer = .shared) throws {
    let template = try server.template("quake_template") { settings in
      _ = try Migrator(connection: Connection(settings), program: "tests").migrate()
    }
    try self.init(template: template, on: server)
  }

  /// A digest of every table that an import may write, for comparisons.
  package func contents() throws -> String {
    let tables = [
      "quake", "quake_alias", "quake_version", "change_transaction", "change_pending", "import",
      "import_reject", "feed", "migration",
    ]
    return try tables.map { table in
      try table + " "
        + value(
          """
          select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '')
            from quake.\(table) t
          """)
    }.joined(separator: "\n")
  }

  /// The history in its order, each change as `token position op code`.
  package func history() throws -> [String] {
    try column(
      """
      select concat_ws(' ', token, position, op, coalesce(code, 'null'))
        from quake.changes_since('0')
      """)
  }
}
