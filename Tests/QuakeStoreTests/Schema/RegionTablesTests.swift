import TestSupport
import Testing

@testable import QuakeSchema

/// A new table is replicated to regions, or is their own on purpose: `RegionTables` says which, and why.
@Suite struct RegionTablesTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
  }

  @Test func eachTableOfTheSchemaIsReplicatedOrPrivateOnPurpose() throws {
    let tables = try database.column(
      "select relname from pg_class where relnamespace = 'quake'::regnamespace and relkind in ('r', 'p')"
    )
    #expect(Set(RegionTables.all.map(\.name)) == Set(tables))
    #expect(RegionTables.all.count == tables.count)
  }

  @Test func eachReplicatedTableHasAKeyAndRefusesLocalWriters() throws {
    for table in RegionTables.replicated {
      #expect(
        try database.value(
          """
          select (select count(*) from pg_trigger where tgrelid = '\(table)'::regclass
                   and tgname = 'region_10_refuse_write' and tgenabled = 'D')
              || (select ' ' || relreplident::text from pg_class where oid = '\(table)'::regclass)
              || (select ' ' || count(*) from pg_index where indrelid = '\(table)'::regclass and indisprimary)
          """) == "1 d 1", "\(table)")
    }
  }
}
