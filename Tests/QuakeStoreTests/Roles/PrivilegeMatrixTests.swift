import Postgres
import QuakeSchema
import TestSupport
import Testing

/// Each role tries each operation on each object, over a connection of its own: what the table of
/// privileges allows is not refused, everything else is, with SQLSTATE 42501.
@Suite struct PrivilegeMatrixTests {
  @Test(arguments: ServerVersion.present)
  func theMatrixNamesEveryObjectOfTheSchema(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    let objects = try connection.table(
      """
      select case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end
             || ' quake.' || c.relname
        from pg_class c
       where c.relnamespace = 'quake'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i'
                                                   and d.classid = 'pg_class'::regclass
                                                   and d.refclassid = 'pg_class'::regclass)
      union all
      select 'type quake.' || t.typname
        from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
       where t.typnamespace = 'quake'::regnamespace
      union all
      select 'function quake.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
        from pg_proc p where p.pronamespace = 'quake'::regnamespace
      """)
    let known = PrivilegeTable.objects.map(\.object).filter {
      $0.kind != .database && $0.kind != .schema
    }.map(\.label)
    #expect(Set(objects) == Set(known))
    #expect(known.count == Set(known).count)
    // Where reading is limited to columns, the key of a lock is the only one that is left out.
    for row in PrivilegeTable.objects {
      let columns = row.columns(.select, for: .reader)
      guard !columns.isEmpty else { continue }
      #expect(
        try connection.table(
          """
          select attname from pg_attribute
           where attrelid = '\(row.object.name)'::regclass and attnum > 0 and not attisdropped
             and attname <> 'lock_key' order by 1
          """) == columns.sorted())
    }
  }

  @Test(arguments: ServerVersion.present)
  func theMatrixEqualsThePrivilegesOfEachRole(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let operations = try Operation.all(database)
    #expect(operations.count > 600)
    for role in Role.allCases {
      let connection = try database.connect(as: role)
      for operation in operations {
        let error = try refusal(connection, operation.statement)
        #expect(
          operation.isRefused(by: error) == !operation.allowed.contains(role),
          "\(role.rawValue): \(operation.statement): \(error?.description ?? "done")")
      }
    }
  }
}
