import Foundation
import Postgres
import TestSupport
import Testing

/// Everything that delivers, or receives, is killed at random.
@Suite(.serialized, .enabled(if: UnreliableReceiver.isThere, "needs python3"))
struct ConsumerCrashTests {
  private static let changes = Tools.isSoak ? 20_000 : 1000
  private static let faults = Tools.isSoak ? 15 : 6
  private static let names = ["all", "strong", "few", "alarm", "patient"]

  /// What each consumer wants; the last ones tell of earthquakes.
  private static func sections(
    _ receiver: UnreliableReceiver, _ behaviour: String, prefix: String = ""
  ) -> String {
    let conditions = [
      "all": "at-once = 20", "strong": "min-magnitude = 5\nbatch = 5",
      "few": "min-magnitude = 4.8\nbacklog = 40",
      "alarm": "alert = true\nmin-magnitude = 5",
      "patient": "alert = true\nmin-magnitude = 4.8\nsettle = 2s",
    ]
    return names.map { name in
      """
      [consumer \(prefix)\(name)]
      from = start
      \(conditions[name] ?? "")
      webhook = \(receiver.url(behaviour, prefix + name))
      timeout = 2s

      """
    }.joined()
  }

  @Test func noMessageIsLostChangedOrOutOfOrderWhateverIsKilled() throws {
    let server = try OwnServer()
    let receiver = try UnreliableReceiver(seed: Seed.value)
    let watch = try ConsumerProcess(server.conninfo, Self.sections(receiver, "bad"))
    let conninfo = server.conninfo
    let isWritten = Load.OverFlag()
    let writer = BackgroundThread {
      defer { isWritten.raise() }
      var writer = SeismicWriter(Seed.generator("earthquakes"))
      let settings = ConnectionSettings(conninfo, applicationName: "tests")
      writer.write(Self.changes) { try Connection(settings) }
    }
    var random = Seed.generator("crashes")
    var faults = 0
    while !isWritten.isRaised || faults < Self.faults {
      faults += 1
      try waitForChanges(isWritten, server, using: &random)
      try crash(server, receiver, watch, using: &random)
      try watch.keep()
    }
    try writer.join()
    try waitUntilDelivered(server, watch, prefix: "")
    #expect(try watch.end().status == 0)

    let reference = try ConsumerProcess(
      conninfo, Self.sections(receiver, "good", prefix: "calm-"))
    try waitUntilDelivered(server, reference, prefix: "calm-")
    #expect(try reference.end().status == 0)
    try compare(try receiver.taken(), server)
  }

  /// Waits until some more is committed, or everything is, so that something happens between two faults.
  private func waitForChanges(
    _ isWritten: Load.OverFlag, _ server: OwnServer, using random: inout SeededGenerator
  ) throws {
    let more = Int.random(in: 1...Self.changes / 8, using: &random)
    var first: Int?
    try eventually("\(more) more transactions") {
      guard !isWritten.isRaised else { return true }
      guard let connection = try? server.connect(),
        let answer = try? connection.ask(
          "select coalesce(max(token), 0) from quake.change_transaction"),
        let token = Int(answer)
      else { return false }
      first = first ?? token
      return token >= (first ?? token) + more
    }
  }

  private func crash(
    _ server: OwnServer, _ receiver: UnreliableReceiver, _ watch: ConsumerProcess,
    using random: inout SeededGenerator
  ) throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0...3: try watch.kill()
    case 4...5: receiver.crash()
    case 6...7: try server.crash()
    case 8: watch.reload()
    default: try watch.restart()
    }
  }

  /// Waits until the consumers whose names begin so have read everything and owe nothing.
  private func waitUntilDelivered(
    _ server: OwnServer, _ watch: ConsumerProcess, prefix: String
  ) throws {
    let names = Self.names.map { "'\(prefix)\($0)'" }.joined(separator: ", ")
    try eventually("everything is delivered", within: .seconds(Tools.isSoak ? 1800 : 300)) {
      try watch.keep()
      guard let connection = try? server.connect() else { return false }
      return try connection.ask(
        """
        select not exists (select from quake.delivery)
           and not exists (select from quake.conversation where state = 'waiting')
           and (select count(*) from quake.watcher w
                 where w.name in (\(names))
                   and w.token = (select max(t.token) from quake.change_transaction t))
               = \(Self.names.count)
        """) == "t"
    }
  }

  private func compare(_ all: [UnreliableReceiver.Taken], _ server: OwnServer) throws {
    let taken = Dictionary(grouping: all, by: \.name).mapValues { $0.flatMap(\.messages) }
    for name in Self.names {
      let messages = taken[name] ?? []
      let (first, problems) = Self.firstOnes(messages)
      #expect(problems.isEmpty, "\(name): \(problems.prefix(3))")
      let wanted = Self.firstOnes(taken["calm-" + name] ?? []).first
      let isTold = !wanted.isEmpty
      #expect(isTold, "\(name)")
      let missing = wanted.keys.filter { first[$0] == nil }
      let surplus = first.keys.filter { wanted[$0] == nil }
      #expect(
        missing.isEmpty && surplus.isEmpty, "\(name): \(missing.prefix(3)) \(surplus.prefix(3))")
      #expect(first == wanted, "\(name) was told something else")
    }
    let changes = try server.connect().table(
      "select token || '-' || position from quake.changes_since('0')")
    let isWhole = Set(changes) == Set((taken["all"] ?? []).map(\.id))
    #expect(isWhole, "the history has other changes")
    #expect(all.contains { $0.name == "alarm" })
    let counts = try server.connect().table(
      """
      select id || ' ' || messages from quake.conversation where consumer = 'alarm' and messages > 0
      """)
    let told = Dictionary(grouping: Set((taken["alarm"] ?? []).map(\.id))) { id in
      String(id.prefix(upTo: id.lastIndex(of: "-") ?? id.endIndex))
    }
    let isCounted = Set(counts) == Set(told.map { "\($0.key) \($0.value.count)" })
    #expect(isCounted, "the conversations have other numbers of messages")
  }

  /// Each message as it came first, by its id, and what was wrong: another text with the same id, or a first message
  /// after a later one of its subject.
  private static func firstOnes(
    _ messages: [UnreliableReceiver.Message]
  ) -> (first: [String: UnreliableReceiver.Message], problems: [String]) {
    var first: [String: UnreliableReceiver.Message] = [:]
    var last: [String: [Int64]] = [:]
    var problems: [String] = []
    for message in messages {
      if let known = first[message.id] {
        if known != message { problems.append("\(message.id) came with another text") }
        continue
      }
      first[message.id] = message
      if let before = last[message.subject], !before.lexicographicallyPrecedes(message.place) {
        problems.append("\(message.id) came after \(before)")
      }
      last[message.subject] = message.place
    }
    return (first, problems)
  }
}
