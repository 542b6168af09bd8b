import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

extension ConsumerLoop {
  // MARK: - Beginning

  /// Takes consumers that no other process runs, or makes those that are new. For the others, this process stands by.
  func add(_ new: [ConsumerConfiguration], over connection: Connection) throws {
    guard !new.isEmpty else { return }
    try add(new, try take(new, over: connection), over: connection)
  }

  /// Takes those that no other process runs, and makes those that are new.
  ///
  /// - Throws: `StoreError` if one cannot be made. Then this process has none of them.
  private func take(
    _ new: [ConsumerConfiguration], over connection: Connection
  ) throws -> [String: ConsumerStore.State] {
    guard !new.isEmpty else { return [:] }
    var (states, held) = try store.take(.free, of: new.map(\.description), over: connection)
    let unknown = new.filter { states[$0.name] == nil && !held.contains($0.name) }
    do {
      let places = try Dictionary(grouping: unknown, by: { "\($0.start)" }).values.map { group in
        (group, try cursor(of: group[0], over: connection))
      }
      for (group, cursor) in places {
        let made = try store.begin(group.map(\.description), at: cursor, over: connection)
        states.merge(made) { $1 }
      }
    } catch let error as StoreError {
      try store.release(new.map(\.name), over: connection)
      throw error
    }
    return states
  }

  private func add(
    _ new: [ConsumerConfiguration], _ states: [String: ConsumerStore.State],
    over connection: Connection
  ) throws {
    let mine = new.filter { states[$0.name] != nil }
    for configuration in mine {
      guard let state = states[configuration.name] else { continue }
      lastKey += 1
      let consumer = Consumer(configuration, key: lastKey, state: state)
      consumers[configuration.name] = consumer
      byKey[consumer.key] = consumer
      commands.post(
        .add(consumer.key, configuration.plan, configuration.delivery, isPaused: state.isPaused))
    }
    standBy(for: new.filter { states[$0.name] == nil }, of: new)
    try restart(mine.compactMap { consumers[$0.name] }, states, over: connection)
  }

  /// Stands by for consumers that another process runs.
  private func standBy(for others: [ConsumerConfiguration], of all: [ConsumerConfiguration]) {
    let before = Set(awaited.map(\.name))
    let names = Set(all.map(\.name))
    awaited = awaited.filter { !names.contains($0.name) } + others
    let taken = all.map(\.name).filter { before.contains($0) && consumers[$0] != nil }
    let new = others.map(\.name).filter { !before.contains($0) }
    func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
    if !taken.isEmpty { diagnostics.note("took over consumer \(list(taken))") }
    if !new.isEmpty {
      diagnostics.note("standing by for consumer \(list(new)), which another process runs")
    }
  }

  /// Where a new consumer begins.
  private func cursor(
    of new: ConsumerConfiguration, over connection: Connection
  ) throws -> HistoryCursor {
    do {
      return switch new.start {
      case .now: HistoryCursor(token: try HistoryReader.latestToken(over: connection))
      case .start: HistoryCursor(token: .beginning)
      case .oldest: HistoryCursor(token: try HistoryBound.oldest.resolve(over: connection))
      case .at(let place): HistoryCursor(token: try place.resolve(over: connection))
      }
    } catch let error as StoreError {
      throw StoreError(
        error.kind, "\(new.place): key 'from': \(error.message)", detail: error.detail,
        hint: error.hint)
    }
  }

  /// Lets consumers begin anew with what the database has of them.
  func restart(
    _ all: [Consumer], _ states: [String: ConsumerStore.State], over connection: Connection
  ) throws {
    for consumer in all {
      guard let state = states[consumer.name] else { continue }
      let book = try consumer.configuration.rule.map { rule in
        try store.book(rule, of: consumer.name, after: state.cursor, over: connection) {
          [unowned consumer] in consumer.gate.admits($0)
        }
      }
      consumer.restart(state, book: book)
    }
    try replaceOwed(of: all, states, over: connection)
    for group in Self.groups(all.filter { $0.place == .behind }, newest: follower.cursor) {
      begin(group)
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
      consumer.owed = list.count
      consumer.changedAt = state.changedAt
      commands.post([.pause(consumer.key, state.isPaused), .replace(consumer.key, list)])
      if consumer.place == .behind, consumer.isFull { consumer.place = .full }
      if consumer.place == .full, consumer.hasRoom { begin([consumer]) }
    }
  }

  /// Those that are a little behind read together; others with those that are at the same place.
  private static func groups(_ all: [Consumer], newest: HistoryCursor?) -> [[Consumer]] {
    let near = (newest?.token.number ?? 0) - 1000
    return Dictionary(grouping: all) {
      $0.seen.token.number >= near ? HistoryCursor(token: .beginning, changes: -1) : $0.seen
    }.values.map { $0 }
  }

  // MARK: - What others do

  /// After a connection was lost: a transaction may have been committed whose outcome is not known.
  func reload(over connection: Connection) throws {
    let notices = try store.notices(known, over: connection)
    try obey(notices.filter { $0.notice != .changed }, over: connection)
    for group in behind { catchUpReader.forget(group) }
    behind = []
    let all = consumers.values.filter { $0.place != .lost }
    let (states, _) = try store.take(
      .free, of: all.map(\.configuration.description), over: connection)
    for consumer in all where states[consumer.name] == nil { consumer.place = .lost }
    try restart(all.filter { $0.place != .lost }, states, over: connection)
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
      case .replaced:
        end(consumer, "was taken over by another process")
        awaited.append(consumer.configuration)
      case .removed: end(consumer, "was removed from the database")
      }
    }
    if !changed.isEmpty {
      let states = try store.states(of: changed.map(\.name), over: connection)
      try replaceOwed(of: changed, states, over: connection)
    }
    guard !rewound.isEmpty else { return }
    let (states, _) = try store.take(
      .rewound, of: rewound.map(\.configuration.description), over: connection)
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
    consumer.place = .lost
    consumers[consumer.name] = nil
    byKey[consumer.key] = nil
    commands.post(.end(consumer.key))
  }

  // MARK: - Another configuration

  /// Reads the configuration file anew, and adds, changes and ends consumers. The others go on.
  func readAnew(over connection: Connection) throws {
    let new: [ConsumerConfiguration]
    let added: [ConsumerConfiguration]
    let states: [String: ConsumerStore.State]
    do {
      new = try readConfiguration()
      added = new.filter { consumers[$0.name] == nil }
      states = try take(added, over: connection)
    } catch let error where error is UsageError || error is StoreError {
      let failure = Failure(error)
      let reason = failure?.message ?? (error as? UsageError)?.message ?? "\(error)"
      diagnostics.error(
        "the configuration was not read anew: \(reason)", detail: failure?.detail,
        hints: [failure?.hint, "The consumers go on as they are."].compactMap { $0 })
      return
    }
    let names = Set(new.map(\.name))
    for consumer in consumers.values.sorted(by: { $0.name < $1.name })
    where !names.contains(consumer.name) {
      end(consumer, "is not in the configuration any more")
    }
    let changed = new.filter { consumers[$0.name]?.configuration.isSame(as: $0) == false }
    try change(changed, over: connection)
    awaited.removeAll { !names.contains($0.name) }
    try add(added, states, over: connection)
    configurations = new
    diagnostics.note(
      "read the configuration anew: \(added.count) added, \(changed.count) changed, \(consumers.count) in all"
    )
  }

  private func change(_ changed: [ConsumerConfiguration], over connection: Connection) throws {
    guard !changed.isEmpty else { return }
    for configuration in changed {
      guard let consumer = consumers[configuration.name] else { continue }
      consumer.change(to: configuration)
      commands.post(.change(consumer.key, configuration.plan, configuration.delivery))
    }
    let all = changed.compactMap { consumers[$0.name] }
    try moveIdle(over: connection)
    let (states, _) = try store.take(.free, of: changed.map(\.description), over: connection)
    // One without a state was rewound, or taken over: the next notice says so.
    try restart(all.filter { states[$0.name] != nil }, states, over: connection)
  }
}
