import Basics
import Postgres
import TestSupport
import Testing

@testable import QuakeHistory

@Suite("A server")
struct FloodedListenerTests {
  @Test("that floods a listener keeps it neither from its deadline nor from its end")
  func floodedListener() throws {
    let notice = PostgresWire.Message("N", Array("SWARNING\0C01000\0Mlook\0\0".utf8)).bytes()
    let many = Array(repeatElement(notice, count: 100).joined())
    let server = try LyingServer(answering: { wire, _ in
      wire.send(LyingServer.parsed + LyingServer.complete("LISTEN") + LyingServer.ready)
      while wire.send(many) {}
      return false
    })
    let connection = try Connection(
      ConnectionSettings(server.conninfo + " connect_timeout=180", applicationName: "tests"))
    connection.answerTimeout = ToolProcess.patience
    let wake = try Wake()
    var listener = try ChangeListener(connection: connection, session: .direct)
    let begun = ContinuousClock.now
    #expect(
      try listener.wait(until: Deadline(after: .milliseconds(300)), wake: wake.descriptor)
        == .timedOut)
    wake.trigger()
    #expect(
      try listener.wait(until: Deadline(after: .seconds(3600)), wake: wake.descriptor) == .woken)
    let limit = Tools.isSoak ? Duration.seconds(20) : ToolProcess.patience
    #expect(begun.duration(to: .now) < limit)
  }
}
