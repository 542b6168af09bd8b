import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

extension ConsumerLoop {
  /// How many groups may wait for a page: each page has up to 2 MiB.
  private static let mostAsked = 4

  /// Lets consumers that are at the same place read on, together, until they have caught up.
  func begin(_ members: [Consumer]) {
    guard !members.isEmpty else { return }
    lastGroup += 1
    let group = CatchUp(lastGroup, members)
    for member in members {
      member.place = .behind
      member.group = group.id
    }
    behind.append(group)
  }

  /// When a page is to be asked for anew; nil: not before an answer comes.
  var timeToCatchUp: Duration? {
    guard behind.count(where: \.isAsked) < Self.mostAsked else { return nil }
    return behind.lazy.compactMap(\.again).min().map { .milliseconds(Int64($0.pollTimeout)) }
  }

  /// Takes the pages that have come for consumers that are behind, and asks for others.
  func catchUp(over connection: Connection) throws {
    for answer in catchUpReader.answers.take() {
      guard let group = behind.first(where: { $0.id == answer.group }) else { continue }
      group.isAsked = false
      switch answer.page {
      case .success(let page):
        hasReportedReader = false
        try take(page, for: group, over: connection)
      case .failure(let error): try note(error, of: group, over: connection)
      }
    }
    let wasBehind = !behind.isEmpty
    for group in behind {
      group.members.removeAll { $0.place != .behind || $0.group != group.id }
      if group.members.isEmpty { catchUpReader.forget(group) }
    }
    behind.removeAll { $0.members.isEmpty }
    if wasBehind, behind.isEmpty { catchUpReader.rest() }
    var asked = behind.count(where: \.isAsked)
    for group in behind where asked < Self.mostAsked && !group.isAsked {
      guard group.again?.hasPassed != false, let first = Self.first(of: group) else { continue }
      group.again = nil
      try catchUpReader.ask(for: group, after: first)
      asked += 1
    }
    // The next one to ask for is that which has waited longest.
    if behind.count > Self.mostAsked { behind.append(behind.removeFirst()) }
  }

  private static func first(of group: CatchUp) -> HistoryCursor? {
    group.members.map(\.seen).min { $0.isBefore($1) }
  }

  private func take(
    _ page: CatchUpReader.Page, for group: CatchUp, over connection: Connection
  ) throws {
    // One that was rewound meanwhile is in another group.
    func members() -> [Consumer] {
      group.members.filter { $0.place == .behind && $0.group == group.id }
    }
    try write(page.changes, upTo: page.cursor, for: members(), over: connection)
    guard page.isAtEnd, !members().isEmpty else { return }
    // What was committed since the page was read, up to where the others are.
    var reader = try HistoryReader(connection: connection, after: page.cursor)
    var changes: [Change] = []
    let isAtEnd = try reader.readPage { changes.append($0) }
    try write(changes, upTo: reader.cursor, for: members(), over: connection)
    guard isAtEnd else { return catchUpReader.forget(group) }
    for member in members() { member.place = .current }
  }

  private func note(
    _ error: any Error, of group: CatchUp, over connection: Connection
  ) throws {
    if let error = error as? StoreError, case .token = error.kind {
      return try judge(error, of: group, over: connection)
    }
    guard let lost = error as? PostgresError, lost.isTransient else { throw error }
    group.again = Deadline(after: .seconds(1))
    guard !hasReportedReader else { return }
    hasReportedReader = true
    diagnostics.warning(
      "could not read the history for consumers that are behind: \(lost.message)",
      hint: "The others go on. Trying again until there is an answer.")
  }

  /// The place of the first ones may not be in this history. The others read on.
  private func judge(
    _ error: StoreError, of group: CatchUp, over connection: Connection
  ) throws {
    guard let first = Self.first(of: group) else { return }
    do {
      // The other connection may have led to a standby that is late.
      var reader = try HistoryReader(connection: connection, after: first)
      _ = try reader.readPage { _ in }
      group.again = Deadline(after: .seconds(1))
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      let members = group.members.filter { $0.seen == first && $0.group == group.id }
      for consumer in members { stop(consumer, because: error) }
      try store.note("\(error)", of: members.map(\.name), over: connection)
    }
  }

  private func stop(_ consumer: Consumer, because error: StoreError) {
    consumer.place = .stopped
    diagnostics.error(
      "consumer \"\(consumer.name)\" cannot continue: \(error.message)",
      hints: [
        "\"quake-admin consumers rewind\" moves it to another place; the other consumers go on."
      ])
  }
}
