import Postgres
import QuakeSchema
import TestSupport

/// An operation that a role tries, and the roles that may do it.
struct Operation {
  var statement: String
  var allowed: Set<Role>
  /// Only the privilege on the function counts, not a privilege that it needs later.
  var isCall = false

  /// Whether the statement failed because the role lacks a privilege.
  func isRefused(by error: PostgresError?) -> Bool {
    guard error?.sqlState == "42501", let message = error?.message else { return false }
    // The role has the privilege, but not for a row of another role.
    guard !message.contains("row-level security policy") else { return false }
    return !isCall || message.contains("denied for function")
      || message.contains("denied for schema")
  }

  /// Everything that can be tried on each object of the schema and on the database.
  static func all(_ database: RoledDatabase) throws -> [Operation] {
    try tables(database.connection) + sequences() + functions() + whatOnlyTheOwnerMay()
      + forbiddenToAll(database)
  }

  private static func owner(and roles: [Role]) -> Set<Role> { Set(roles + [.owner]) }

  private static func allowed(_ row: ObjectPrivileges, _ privilege: Privilege) -> Set<Role> {
    owner(and: Role.allCases.filter { row.grants(privilege, to: $0) })
  }

  private static func tables(_ connection: Connection) throws -> [Operation] {
    var operations: [Operation] = []
    for row in PrivilegeTable.objects where row.object.kind == .table || row.object.kind == .view {
      let name = row.object.name
      let columns = try connection.table(
        """
        select attname from pg_attribute
         where attrelid = '\(name)'::regclass and attnum > 0 and not attisdropped
        """)
      // Views that cannot be written say so before they look at privileges.
      let isWritable = row.object.kind == .table || name == "quake.current_quake"
      for column in columns {
        for (privilege, statement) in [
          (Privilege.select, "select \(column) from \(name) limit 0"),
          (.insert, "insert into \(name) (\(column)) values (default)"),
          (.update, "update \(name) set \(column) = default where false"),
        ] where isWritable || privilege == .select {
          let byColumn = Role.allCases.filter { row.columns(privilege, for: $0).contains(column) }
          operations.append(
            Operation(
              statement: statement, allowed: allowed(row, privilege).union(byColumn)))
        }
      }
      if columns.isEmpty {
        operations.append(
          Operation(statement: "select from \(name)", allowed: allowed(row, .select)))
      }
      guard isWritable else { continue }
      operations.append(
        Operation(statement: "delete from \(name) where false", allowed: allowed(row, .delete)))
      guard row.object.kind == .table else { continue }
      operations.append(Operation(statement: "truncate \(name)", allowed: [.owner]))
      // A role that may update or delete all rows may also lock the table.
      operations.append(
        Operation(
          statement: "lock table \(name) in access exclusive mode",
          allowed: allowed(row, .update).union(allowed(row, .delete))))
      operations.append(
        Operation(
          statement: """
            create trigger own before insert on \(name)
            for each row execute function suppress_redundant_updates_trigger()
            """, allowed: [.owner]))
      for change in [
        "alter table \(name) add column own integer", "alter table \(name) disable trigger user",
        "create index on \(name) (\(columns.first ?? "(1)"))", "drop table \(name) cascade",
        "comment on table \(name) is 'own'", "alter table \(name) enable row level security",
        "create rule own as on insert to \(name) do instead nothing",
      ] { operations.append(Operation(statement: change, allowed: [.owner])) }
    }
    return operations
  }

  private static func sequences() -> [Operation] {
    PrivilegeTable.objects.filter { $0.object.kind == .sequence }.flatMap { row in
      [
        "select nextval('\(row.object.name)')", "select setval('\(row.object.name)', 1)",
        "select last_value from \(row.object.name)",
      ].map { Operation(statement: $0, allowed: [.owner]) }
    }
  }

  private static func functions() -> [Operation] {
    PrivilegeTable.objects.filter { $0.object.kind == .function }.map { row in
      let parts = row.object.name.split(separator: "(", maxSplits: 1)
      let types = parts[1].dropLast().split(separator: ",").map {
        "null::\($0.drop { $0 == " " })"
      }
      return Operation(
        statement: "select \(parts[0])(\(types.joined(separator: ", ")))",
        allowed: row.harmlessForPublic.contains(.execute)
          ? Set(Role.allCases) : allowed(row, .execute), isCall: true)
    }
  }

  private static func whatOnlyTheOwnerMay() -> [Operation] {
    [
      Operation(statement: "create temporary table own (a integer)", allowed: [.owner, .writer])
    ]
      + [
        "create schema own", "create table quake.own (a integer)",
        "create function quake.own() returns integer language sql as 'select 1'",
        "create view quake.own as select 1", "drop schema quake cascade",
        "alter function quake.purge_history(integer) security invoker",
        "create policy own on quake.watcher using (true)",
        "alter table quake.watcher disable row level security",
      ].map { Operation(statement: $0, allowed: [.owner]) }
  }

  private static func forbiddenToAll(_ database: RoledDatabase) -> [Operation] {
    let foreign = database.connection.serverProcessID
    return [
      "create table public.own (a integer)", "set session_replication_role = replica",
      "create role \(database.names.prefix)own",
      "alter role \(database.names.name(.owner)) superuser",
      "copy quake.migration to '/tmp/quake-own'", "copy quake.migration from program 'true'",
      "select pg_read_file('postgresql.conf')", "select rolpassword from pg_authid",
      "select pg_terminate_backend(\(foreign))", "select pg_cancel_backend(\(foreign))",
      "create extension dblink",
      "alter database \(database.database.name) connection limit 0",
      "set temp_file_limit = -1", "set role pg_write_all_data",
    ].map { Operation(statement: $0, allowed: []) }
  }
}
