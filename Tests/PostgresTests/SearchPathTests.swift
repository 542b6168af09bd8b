import Foundation
import TestSupport
import Testing

@testable import Postgres

@Suite struct SearchPathTests {
  private let database: TestDatabase
  private let path = "pg_catalog,pg_temp"

  init() throws {
    database = try TestDatabase.empty()
  }

  private func connect(_ more: String, to other: TestDatabase? = nil) throws -> Connection {
    try TestServer.connect((other ?? database).conninfo + more)
  }

  @Test(arguments: ServerVersion.present)
  func theSearchPathIsOursFromTheFirstStatementOn(_ version: ServerVersion) throws {
    let database = try TestDatabase.empty(on: version.server)
    let role = "somebody_\(database.name)"
    try database.connect().run(
      "create role \(role) login", "alter role \(role) set search_path = public, pg_catalog",
      "alter database \(database.name) set search_path = public, pg_catalog")
    defer {
      _ = try? TestDatabase.empty(on: version.server).connect().run("drop role \(role)")
    }
    for more in ["", " user=\(role)"] {
      let connection = try connect(more, to: database)
      #expect(try connection.ask("show search_path") == path)
      #expect(connection.hasNewSession && connection.keepsStatements)
    }
  }

  @Test func theSearchPathComesAfterTheOptionsOfTheConnectionString() throws {
    let connection = try connect(
      " options='-c search_path=public -c statement_timeout=1234 -c work_mem=7MB'")
    #expect(try connection.ask("show search_path") == path)
    #expect(try connection.ask("show statement_timeout") == "1234ms")
    #expect(try connection.ask("show work_mem") == "7MB")
  }

  @Test(arguments: ServerVersion.present)
  func theOtherSettingsOfAConnectionAreOurs(_ version: ServerVersion) throws {
    let database = try TestDatabase.empty(on: version.server)
    let others = [
      ("standard_conforming_strings", "off"), ("DateStyle", "German"),
      ("TimeZone", "America/New_York"), ("IntervalStyle", "sql_standard"),
      ("extra_float_digits", "-15"), ("bytea_output", "escape"), ("array_nulls", "off"),
      ("transform_null_equals", "on"), ("row_security", "off"), ("quote_all_identifiers", "on"),
      ("jit", "on"),
      ("default_transaction_isolation", "serializable"),
    ]
    #expect(Set(ConnectionSettings.pinned.map(\.name)) == Set(others.map(\.0) + ["search_path"]))
    let options = others.map { "-c \($0.0)=\($0.1)" }.joined(separator: " ")
    for (name, value) in others {
      try database.connect().run("alter database \(database.name) set \(name) = '\(value)'")
    }
    for more in ["", " options='\(options)'"] {
      let connection = try connect(more, to: database)
      for (name, value) in ConnectionSettings.pinned {
        #expect(try connection.ask("select current_setting('\(name)')") == value, "\(name)")
      }
      #expect(connection.hasNewSession && connection.keepsStatements)
    }
  }

  @Test func theSearchPathComesAfterTheOptionsOfAService() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "services", "[quake_path]\noptions=-c search_path=public -c work_mem=9MB\n")
    // Only connections that name a service use the variable.
    setenv("PGSERVICEFILE", file, 1)
    let connection = try connect(" service=quake_path")
    #expect(try connection.ask("show search_path") == path)
    #expect(try connection.ask("show work_mem") == "9MB")
  }
}
