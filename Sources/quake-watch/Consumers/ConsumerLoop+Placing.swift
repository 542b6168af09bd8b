import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

extension ConsumerLoop {
  // MARK: - Beginning

  /// Takes consumers over, or makes those that are new.
  func add(_ new: [ConsumerConfiguration], over connection: Connection) throws {
    guard !new.isEmpty else { return }
    var states = try store.take(new.map(\.description), over: connection)
    let unknown = new.filter { states[$0.name] == nil }
    for (start, group) in Dictionary(grouping: unknown, by: { "\($0.start)" }) {
      guard let first = group.first else { continue }
      let cursor = try located(first.place, start) {
        try self.cursor(of: first.start, over: connection)
      }
      let made = try store.begin(group.map(\.description), at: cursor, over: connection)
      states.merge(made) { $1 }
    }
    for configuration in new {
      guard let state = states[configuration.name] else { continue }
      lastKey += 1
      let consumer = Consumer(configuration, key: lastKey, state: state)
      consumers[configuration.name] = consumer
      byKey[consumer.key] = consumer
      commands.post(
        .add(consumer.key, configuration.plan, configuration.delivery, isPaused: state.isPaused))
    }
    try restart(new.compactMap { consumers[$0.name] }, states, over: connection)
  }

  private func cursor(
    of start: ConsumerConfiguration.Start, over connection: Connection
  ) throws -> HistoryCursor {
    switch start {
    case .now: HistoryCursor(token: try HistoryReader.latestToken(over: connection))
    case .start: HistoryCursor(token: .beginning)
    case .oldest: HistoryCursor(token: try HistoryBound.oldest.resolve(over: connection))
    case .at(let place): HistoryCursor(token: try place.resolve(over: connection))
    }
  }

  private func located<Value>(_ place: String, _ start: String, _ body: () throws -> Value) throws
    -> Value
  {
    do {
      return try body()
    } catch let error as StoreError {
      throw StoreError(
        error.kind, "\(place): key 'from': \(error.message)", detail: error.detail, hint: error.hint
      )
    }
  }

  /// Lets consumers begin anew with what the database has of them.
  func restart(
    _ all: [Consumer], _ states: [String: ConsumerStore.State],
    _ configurations: [String: ConsumerConfiguration] = [:], over connection: Connection
  ) throws {
    for consumer in all {
      guard let state = states[consumer.name] else { continue }
      let configuration = configurations[consumer.name] ?? consumer.configuration
      let book = try configuration.rule.map { rule in
        try store.book(rule, of: consumer.name, after: state.cursor.token, over: connection) {
          [unowned consumer] in consumer.gate.admits($0)
        }
      }
      consumer.restart(configuration, state, book: book)
    }
    try replaceOwed(of: all, states, over: connection)
    for group in Self.groups(all.filter { $0.place == .behind }, newest: follower.cursor) {
      behind.append(CatchUp(group))
    }
  }

  /// Gives the sender what the database says that is owed.
  func replaceOwed(
    of all: [Consumer], _ states: [String: ConsumerStore.State], over connection: Connection
  ) throws {
    var owed: [String: [ConsumerStore.Owed]] = [:]
    try store.owed(by: all.map(\.name), over: connection) { name, message in
      owed[name, default: []].append(message)
    }
    for consumer in all {
      guard let state = states[consumer.name] else { continue }
      let list = owed[consumer.name] ?? []
      consumer.owed = list.count + Int(state.parked)
      consumer.changedAt = state.changedAt
      consumer.isPaused = state.isPaused
      commands.post([.pause(consumer.key, state.isPaused), .replace(consumer.key, list)])
      if consumer.place == .behind, consumer.isFull { consumer.place = .full }
      if consumer.place == .full, consumer.hasRoom { begin(consumer) }
    }
  }

  /// Lets a consumer read on that was full.
  func begin(_ consumer: Consumer) {
    consumer.place = .behind
    behind.append(CatchUp([consumer]))
  }

  /// Those that are a little behind read together; others with those that are at the same place.
  private static func groups(_ all: [Consumer], newest: HistoryCursor?) -> [[Consumer]] {
    let near = (newest?.token.number ?? 0) - 1000
    return Dictionary(grouping: all) {
      $0.seen.token.number >= near ? HistoryCursor(token: .beginning, changes: -1) : $0.seen
    }.values.map { $0 }
  }

  // MARK: - Catching up

  /// Reads a page for the next consumers that are behind.
  func catchUp(over connection: Connection) throws {
    guard !behind.isEmpty else {
      catchUpConnection = nil
      return
    }
    let group = behind.removeFirst()
    group.members.removeAll { $0.place != .behind || byKey[$0.key] == nil }
    guard let first = group.members.min(by: { $0.seen.isBefore($1.seen) }) else { return }
    let second = try catchUpConnection ?? database.reconnect(wake: Signals.wakeDescriptor)
    catchUpConnection = second
    var changes: [Change] = []
    let isAtEnd: Bool
    do {
      var reader = try group.reader ?? HistoryReader(connection: second, after: first.seen)
      isAtEnd = try reader.readPage { changes.append($0) }
      group.reader = reader
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      // Its place is not in this history. The others read on.
      stop(group.members.filter { $0.seen == first.seen }, because: error)
      try store.note(
        "\(error)", of: group.members.filter { $0.place == .stopped }.map(\.name), over: connection)
      group.reader = nil
      behind.append(group)
      return
    }
    try write(changes, upTo: group.reader?.cursor, for: group.members, over: connection)
    group.members.removeAll { $0.place != .behind }
    if isAtEnd {
      // What the main reader still reads, they have seen.
      for member in group.members { member.place = .current }
    } else {
      behind.append(group)
    }
  }

  private func stop(_ members: [Consumer], because error: StoreError) {
    for consumer in members {
      consumer.place = .stopped
      diagnostics.error(
        "consumer \"\(consumer.name)\" cannot continue: \(error.message)",
        hints: [
          "\"quake-admin consumers rewind\" moves it to another place; the other consumers go on."
        ])
    }
  }

  // MARK: - What others do

  /// After a connection was lost: a transaction may have been committed whose outcome is not known.
  func reload(over connection: Connection) throws {
    let notices = try store.notices(known, over: connection)
    try obey(notices.filter { $0.notice != .changed }, over: connection)
    behind = []
    let all = consumers.values.filter { $0.place != .stopped }
    try restart(all, try store.reload(all.map(\.name), over: connection), over: connection)
  }

  private var known: [(name: String, changedAt: Timestamp)] {
    consumers.values.map { ($0.name, $0.changedAt) }
  }

  /// Looks for what people and other processes did to the consumers.
  func lookAtNotices(over connection: Connection) throws {
    try obey(try store.notices(known, over: connection), over: connection)
  }

  private func obey(
    _ notices: [(name: String, notice: ConsumerStore.Notice)], over connection: Connection
  ) throws {
    var changed: [Consumer] = []
    var rewound: [Consumer] = []
    for (name, notice) in notices {
      guard let consumer = consumers[name] else { continue }
      switch notice {
      case .changed: changed.append(consumer)
      case .rewound: rewound.append(consumer)
      case .replaced: end(consumer, "was taken over by another process")
      case .removed: end(consumer, "was removed from the database")
      }
    }
    if !changed.isEmpty {
      let states = try store.reload(changed.map(\.name), over: connection)
      try replaceOwed(of: changed, states, over: connection)
    }
    guard !rewound.isEmpty else { return }
    let states = try store.take(rewound.map(\.configuration.description), over: connection)
    for consumer in rewound {
      guard let state = states[consumer.name] else { continue }
      diagnostics.note("consumer \"\(consumer.name)\" continues after \(state.cursor.token)")
    }
    try restart(rewound.filter { states[$0.name] != nil }, states, over: connection)
  }

  /// Ends a consumer in this process.
  func end(_ consumer: Consumer, _ reason: String) {
    diagnostics.warning(
      "consumer \"\(consumer.name)\" \(reason): this process delivers nothing more for it")
    forget(consumer)
  }

  private func forget(_ consumer: Consumer) {
    consumer.place = .stopped
    consumers[consumer.name] = nil
    byKey[consumer.key] = nil
    commands.post(.end(consumer.key))
  }

  // MARK: - Another configuration

  /// Reads the configuration file anew, and adds, changes and ends consumers. The others go on.
  func readAnew(over connection: Connection) throws {
    let new: [ConsumerConfiguration]
    do {
      new = try readConfiguration()
    } catch let error as UsageError {
      diagnostics.error(
        "the configuration was not read anew: \(error.message)",
        hints: ["The consumers go on as they are."])
      return
    }
    let names = Set(new.map(\.name))
    for consumer in consumers.values.sorted(by: { $0.name < $1.name })
    where !names.contains(consumer.name) {
      end(consumer, "is not in the configuration any more")
    }
    let changed = new.filter { consumers[$0.name]?.configuration.isSame(as: $0) == false }
    try change(changed, over: connection)
    let added = new.filter { consumers[$0.name] == nil }
    try add(added, over: connection)
    configurations = new
    diagnostics.note(
      "read the configuration anew: \(added.count) added, \(changed.count) changed, \(consumers.count) in all"
    )
  }

  private func change(_ changed: [ConsumerConfiguration], over connection: Connection) throws {
    guard !changed.isEmpty else { return }
    for configuration in changed {
      guard let consumer = consumers[configuration.name] else { continue }
      commands.post(.change(consumer.key, configuration.plan, configuration.delivery))
    }
    let all = changed.compactMap { consumers[$0.name] }
    try moveIdle(over: connection)
    let states = try store.take(changed.map(\.description), over: connection)
    try restart(
      all.filter { states[$0.name] != nil }, states,
      Dictionary(uniqueKeysWithValues: changed.map { ($0.name, $0) }), over: connection)
  }
}
