package import Postgres
internal import QuakeModel

/// The associations of a store: which events of different sources are the same earthquake.
///
/// No row is merged. One event of an earthquake is preferred; the others are superseded by it, which the
/// history records as any change. Triggers note the events that change; `update` compares these with the
/// events of other sources, in transactions of its own, one at a time.
package struct Associations {
  let connection: Connection
  let author: String

  /// The most notes that one transaction handles.
  private static let mostTogether = 5_000
  /// How often a transaction is tried while others hold rows that it has to change.
  private static let mostAttempts = 20

  /// The associations in the database of `connection`, which nothing else uses meanwhile.
  ///
  /// - Parameter author: Author of the changes in the history.
  package init(connection: Connection, author: String) {
    self.connection = connection
    self.author = author
  }

  /// Compares the events that have changed with those of other sources, if events are associated at all.
  ///
  /// - Parameters:
  ///   - shouldStop: Is asked after each transaction.
  ///   - progress: Is called after each transaction with the number of events compared.
  /// - Throws: `StoreError` of kind `locked` if other sessions keep events locked. These events are compared
  ///   with the next update.
  @discardableResult
  package func update(
    shouldStop: () -> Bool = { false }, progress: (Int64) -> Void = { _ in }
  ) throws -> AssociationOutcome {
    var total = AssociationOutcome()
    while !shouldStop() {
      guard let part = try repeating({ try connection.transaction { try handleNext() } }) else {
        break
      }
      total.add(part)
      progress(total.compared)
    }
    return total
  }

  /// The same after a change of events, for callers that must not fail because of it: events that others have
  /// locked are left for the next update.
  package func updateAfterChange() throws {
    do {
      guard try AssociationSettings(over: connection).isEnabled else { return }
      try update()
    } catch let error as StoreError where error.kind == .locked {}
  }

  /// Notes all events, so that `update` compares them.
  ///
  /// - Throws: `StoreError` of kind `conflict` if events are not associated.
  package func noteAll() throws {
    try connection.transaction {
      try requireEnabled()
      try connection.execute(AssociationStatements.noteAll)
    }
  }

  /// Compares all events without storing the result. It also works while the association is off.
  ///
  /// - Returns: The counts, and the earthquakes as they would be.
  package func trial() throws -> (outcome: AssociationOutcome, earthquakes: [AssociatedEarthquake])
  {
    struct Done: Error {}
    var outcome = AssociationOutcome()
    var earthquakes: [AssociatedEarthquake] = []
    do {
      try repeating {
        outcome = AssociationOutcome()
        try connection.transaction {
          try begin()
          try connection.execute(AssociationStatements.noteAll)
          while let part = try handleTaken() { outcome.add(part) }
          earthquakes = try AssociatedEarthquake.list(over: connection)
          throw Done()
        }
      }
    } catch is Done {}
    return (outcome, earthquakes)
  }

  func requireEnabled() throws {
    guard try AssociationSettings(over: connection).isEnabled else {
      throw StoreError(
        .conflict, "events are not associated in this database",
        hint: "\"quake-admin associations enable\" begins to.")
    }
  }

  /// Repeats a transaction that could not lock its rows.
  func repeating<Value>(_ body: () throws -> Value) throws -> Value {
    var attempts = 0
    while true {
      attempts += 1
      do {
        return try body()
      } catch let error as PostgresError
        where [SQLState.lockNotAvailable, SQLState.deadlockDetected].contains(error.sqlState)
      {
        guard attempts < Self.mostAttempts else {
          throw StoreError(
            .locked, "could not associate events: other sessions hold them",
            detail: "\(error.message).", hint: "Try again later; nothing is lost.")
        }
      }
    }
  }

  /// Begins to associate events in the transaction that is open.
  func begin() throws(PostgresError) {
    // Its wait has no limit: the holder commits within moments.
    try connection.execute(AssociationStatements.lock)
    try connection.execute(AssociationStatements.prepare(author: author))
  }

  /// Handles the next notes in the transaction that is open; nil: there are none.
  private func handleNext() throws -> AssociationOutcome? {
    try begin()
    guard try AssociationSettings(over: connection).isEnabled else { return nil }
    return try handleTaken()
  }

  private func handleTaken() throws -> AssociationOutcome? {
    let taken = try connection.rows(
      AssociationStatements.take(atMost: Self.mostTogether), as: String.self)
    return taken.isEmpty ? nil : try compare(taken)
  }

  /// Compares events with those of other sources, and writes what follows, in the transaction that is open.
  func compare(_ codes: [String]) throws -> AssociationOutcome {
    let scene = try AssociationScene(
      codes, try AssociationSettings(over: connection), over: connection)
    let order = SourceOrder(preferences: try SourcePreference.list(over: connection))
    let preferred = scene.preferred(in: order)
    var outcome = AssociationOutcome()
    outcome.compared = Int64(codes.count)
    var changed: [(code: String, successor: String, before: String)] = []
    var removed: [String] = []
    var added: [(code: String, preferred: String)] = []
    for event in scene.events.values.sorted(by: { $0.code < $1.code }) {
      let wanted = preferred[event.code]
      // Only the successor that an association has set is changed.
      if event.isEligible || event.isSecondary {
        let successor = wanted == event.code ? nil : wanted
        if successor != event.supersededBy {
          changed.append((event.code, successor ?? "", event.supersededBy ?? ""))
        }
      }
      if let wanted {
        if wanted != event.associatedWith { added.append((event.code, wanted)) }
      } else if event.associatedWith != nil {
        removed.append(event.code)
      }
    }
    if !changed.isEmpty {
      let codes: SQL = "\(changed.map(\.code))::text[]"
      try connection.execute(AssociationStatements.lockRows(codes))
      try connection.execute(
        AssociationStatements.supersede(
          codes, by: changed.map(\.successor), before: changed.map(\.before)))
    }
    if !removed.isEmpty {
      try connection.execute(AssociationStatements.remove(removed))
      outcome.released = Int64(removed.count)
    }
    if !added.isEmpty {
      try connection.execute(
        AssociationStatements.add(added.map(\.code), preferred: added.map(\.preferred)))
      outcome.associated = Int64(added.count)
    }
    return outcome
  }
}

package struct AssociationOutcome: Sendable, Equatable {
  /// Events that were compared with those of other sources.
  package var compared: Int64 = 0
  /// Events that got an association, or another preferred event.
  package var associated: Int64 = 0
  package var released: Int64 = 0

  package init() {}

  mutating func add(_ part: AssociationOutcome) {
    compared += part.compared
    associated += part.associated
    released += part.released
  }
}
