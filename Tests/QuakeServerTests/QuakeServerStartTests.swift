import Foundation
import Postgres
import StoreTestSupport
import TestSupport
import Testing

@testable import QuakeServer

/// What is left of a server that could not start.
@Suite struct QuakeServerStartTests {
  /// Something that the threads of the streams keep as long as they run.
  private final class Witness: Sendable {
    func take(_ sentence: String) {}
  }

  private let database: TestDatabase
  private var settings: QuakeServer.Settings

  init() throws {
    database = try TestDatabase()
    let address = try #require(ListenAddress("127.0.0.1:0"))
    settings = QuakeServer.Settings(
      listen: address,
      database: ConnectionSettings(database.conninfo, applicationName: "server-start"),
      version: "1")
  }

  private func connections() throws -> Int {
    try database.count("pg_stat_activity where application_name = 'server-start'")
  }

  private static func threads() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }

  @Test func aPortInUseLeavesNoThreadAndNoConnection() throws {
    let (listening, used) = try settings.listen.listen()
    defer { close(listening) }
    var settings = settings
    settings.listen = used
    // More threads than the other tests start in the meantime.
    settings.queryConnections = 100
    let before = try Self.threads()
    weak var left: Witness?
    for _ in 0..<5 {
      let witness = Witness()
      left = witness
      #expect(throws: ListenError.self) {
        try QuakeServer(
          settings, onAccess: { _ in }, onFailure: { _, _ in }, onNotice: { witness.take($0) })
      }
    }
    #expect(left == nil)
    #expect(try Self.threads() < before + 250)
    #expect(try connections() == 0)
  }

  @Test func partsThatAreStoppedEndTheirThreadsAndConnections() throws {
    weak var left: Witness?
    do {
      let witness = Witness()
      left = witness
      let parts = try ServerParts(settings) { witness.take($0) }
      try parts.start()
      try eventually("the streams follow the database") { parts.unreadiness == nil }
      #expect(try connections() > 0)
      parts.stop()
    }
    try eventually("the threads of the streams have ended") { left == nil }
    try eventually("the connections are closed") { try connections() == 0 }
  }
}
