package import Postgres

/// The tests of a suite have a database each, with Quake's schema, and a connection to it.
open class DatabaseSuite {
  package let database: TestDatabase
  package let connection: Connection

  package init() throws {
    database = try TestDatabase()
    connection = try database.connect()
  }
}

/// The tests of a suite have an empty database each, and a connection to it.
open class EmptyDatabaseSuite {
  package let database: TestDatabase
  package let connection: Connection

  package init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect()
  }
}
