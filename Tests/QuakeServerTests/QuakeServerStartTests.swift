import Foundation
import Postgres
import TestSupport
import Testing

@testable import QuakeServer

/// What is left of a server that could not start.
@Suite struct QuakeServerStartTests {
  /// Something that the threads of the streams keep as long as they run.
  private final class Witness: Sendable {
    private let gone: Tally

    /// - Parameter gone: Counts the witnesses that no thread keeps any longer.
    init(_ gone: Tally) { self.gone = gone }

    deinit { gone.add(1) }

    func take(_ notice: ServerNotice) {}
  }

  private let database: TestDatabase
  private var settings: EventServer.Settings

  init() throws {
    database = try TestDatabase()
    let address = try #require(ListenAddress("127.0.0.1:0"))
    settings = EventServer.Settings(
      listen: address,
      database: ConnectionSettings(database.conninfo, applicationName: "server-start"),
      version: "1")
  }

  private func connections() throws -> Int {
    try database.count(
      "pg_stat_activity where datname = current_database() and application_name = 'server-start'")
  }

  /// Runs `body` on a thread of that name. The threads that `body` starts inherit the name, which tells them from
  /// those of other tests.
  private static func onThread(
    named name: String, _ body: @escaping @Sendable () throws -> Void
  ) throws {
    try BackgroundThread {
      let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      defer { close(file) }
      guard write(file, name, name.utf8.count) == name.utf8.count else {
        throw ToolProcess.Failure(description: "could not name a thread")
      }
      try body()
    }.join()
  }

  /// How many threads have that name.
  private static func threads(named name: String) throws -> Int {
    let folder = "/proc/self/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { thread in
      // A thread may end meanwhile.
      let text = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
      return text == name + "\n"
    }.count
  }

  private static func expectNothingLeft(
    ofThreadsNamed name: String, _ connections: () throws -> Int
  ) throws {
    try eventually("the threads have ended") { try threads(named: name) == 0 }
    try eventually("the connections are closed") { try connections() == 0 }
  }

  @Test func aPortInUseLeavesNoThreadAndNoConnection() throws {
    let (listening, used) = try settings.listen.listen()
    defer { close(listening) }
    var settings = settings
    settings.listen = used
    let gone = Tally()
    try Self.onThread(named: "port-in-use") { [settings] in
      for _ in 0..<5 {
        let witness = Witness(gone)
        do {
          let server = try EventServer(
            settings, onAccess: { _ in }, onFailure: { _, _ in }, onNotice: { witness.take($0) })
          throw ToolProcess.Failure(description: "a second server listens on \(server.address)")
        } catch is ListenError {}
      }
    }
    try eventually("the threads of the streams have ended") { gone.total == 5 }
    try Self.expectNothingLeft(ofThreadsNamed: "port-in-use", connections)
  }

  @Test func partsThatAreStoppedEndTheirThreadsAndConnections() throws {
    let gone = Tally()
    do {
      let witness = Witness(gone)
      let parts = try ServerParts(settings) { witness.take($0) }
      try Self.onThread(named: "stopped-parts") { try parts.start() }
      try eventually("the streams follow the database") { parts.unreadiness == nil }
      #expect(try connections() > 0)
      #expect(try Self.threads(named: "stopped-parts") > 0)
      parts.stop()
    }
    try eventually("the threads of the streams have ended") { gone.total == 1 }
    try Self.expectNothingLeft(ofThreadsNamed: "stopped-parts", connections)
  }
}
