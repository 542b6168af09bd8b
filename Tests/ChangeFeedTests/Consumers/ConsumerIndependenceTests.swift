import Foundation
import Postgres
import TestSupport
import Testing

/// Consumers do not wait for each other.
@Suite(.serialized, .enabled(if: UnreliableReceiver.isThere, "needs python3"))
struct ConsumerIndependenceTests {
  private let server: OwnServer
  private let receiver: UnreliableReceiver

  init() throws {
    server = try OwnServer()
    receiver = try UnreliableReceiver(seed: Seed.value)
  }

  private func section(_ name: String, _ behaviour: String, _ more: String = "") -> String {
    "[consumer \(name)]\nwebhook = \(receiver.url(behaviour, name))\nfrom = start\n\(more)\n"
  }

  private func insert(_ codes: Range<Int>) throws {
    try server.connect().run(
      """
      insert into quake.quake (code, time, magnitude)
      select 'e' || n, now(), 5 from generate_series(\(codes.lowerBound), \(codes.upperBound - 1)) n
      """)
  }

  private func count(_ name: String) throws -> Int {
    try receiver.taken().lazy.filter { $0.name == name }.count
  }

  @Test func aReceiverThatTakesNothingDelaysNoOther() throws {
    let (consumers, messages) = Tools.isSoak ? (50, 40) : (20, 20)
    let names = (1..<consumers).map { "good-\($0)" }
    let sections =
      names.map { section($0, "good") }.joined() + section("held", "held", "timeout = 10m")
    let watch = try ConsumerProcess(server.conninfo, sections)
    try watch.waitForError("delivering for \(consumers) consumers")
    try insert(0..<messages)
    try eventually("the others have everything") {
      let taken = Dictionary(grouping: try receiver.taken(), by: \.name)
      return names.allSatisfy { taken[$0]?.count == messages }
    }
    #expect(try count("held") == 0)
    if Tools.isSoak {
      let committed = try #require(
        try server.connect().ask("select extract(epoch from max(at)) from quake.change_transaction")
          .flatMap { Double($0) })
      let last = try receiver.taken().map(\.at).max() ?? 0
      #expect(last - committed < 1)
    }
    receiver.release()
    try eventually("it has everything, too") { try count("held") == messages }
    #expect(try watch.end().status == 0)
  }

  @Test func aConsumerThatIsFullReadsOnWhenItsReceiverIsBack() throws {
    let watch = try ConsumerProcess(
      server.conninfo,
      section("full", "held", "backlog = 10\ntimeout = 10m") + section("good", "good"))
    try watch.waitForError("delivering for 2 consumers")
    try insert(0..<20)
    try watch.waitForError("consumer \"full\" owes 20 messages")
    try insert(20..<40)
    try eventually("the other one goes on") { try count("good") == 40 }
    #expect(
      try server.connect().ask("select count(*) from quake.delivery where consumer = 'full'")
        == "20")
    receiver.release()
    try eventually("it reads on") { try count("full") == 40 }
    #expect(try watch.end().status == 0)
  }

  @Test func anotherConfigurationChangesOnlyWhatItChanges() throws {
    let watch = try ConsumerProcess(
      server.conninfo,
      section("held", "held", "give-up = 1h\ntimeout = 10m") + section("stays", "good"))
    try watch.waitForError("delivering for 2 consumers")
    try insert(0..<5)
    try eventually("one has everything") { try count("stays") == 5 }
    try watch.configure(server.conninfo, section("stays", "good") + "oops = 1\n")
    watch.reload()
    try watch.waitForError("unknown key 'oops'")
    try watch.configure(
      server.conninfo,
      section("stays", "good", "min-magnitude = 6") + section("comes", "good"))
    watch.reload()
    try watch.waitForError("read the configuration anew: 1 added, 1 changed, 2 in all")
    try insert(5..<10)
    try eventually("the new one has everything") { try count("comes") == 10 }
    #expect(try count("stays") == 5)
    #expect(
      try server.connect().table("select name from quake.consumer order by name")
        == ["comes", "held", "stays"])
    #expect(try watch.end().status == 0)
  }

  @Test func aProcessStandsByForConsumersThatAnotherOneRuns() throws {
    let first = try ConsumerProcess(
      server.conninfo, section("one", "good") + section("two", "good"))
    try first.waitForError("delivering for 2 consumers")
    let second = try ConsumerProcess(
      server.conninfo, section("two", "good") + section("three", "good"))
    try second.waitForError("standing by for consumer \"two\"")
    try second.waitForError("delivering for 1 consumer")
    try insert(0..<3)
    try eventually("all have everything") {
      try count("one") == 3 && count("two") == 3 && count("three") == 3
    }
    try first.kill(restarts: false)
    try second.waitForError("took over consumer \"two\"")
    try first.start()
    try first.waitForError("standing by for consumer \"two\"")
    try insert(3..<6)
    try eventually("all have everything") { try count("one") == 6 && count("two") == 6 }
    #expect(try second.end().status == 0)
    try first.waitForError("took over consumer \"two\"")
    try insert(6..<9)
    try eventually("all have everything") { try count("one") == 9 && count("two") == 9 }
    #expect(try first.end().status == 0)
  }
}
