import Basics
import CommandLine
import Glibc
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool
import Synchronization

/// Consumers that are behind and read the history together.
final class CatchUp {
  /// A number that no other one ever has.
  let id: Int
  var members: [Consumer]
  /// Whether a page is on its way.
  var isAsked = false
  /// When to ask again after an error; nil: at once.
  var again: Deadline?

  init(_ id: Int, _ members: [Consumer]) {
    self.id = id
    self.members = members
  }
}

/// Reads the history for consumers that are behind, on a thread and over a connection of its own: a server that answers
/// late there, or never, delays nobody else.
final class CatchUpReader: Sendable {
  private enum Request: Sendable {
    /// The next page of a group, which begins after the cursor if it has not read yet.
    case page(of: Int, after: HistoryCursor)
    /// Nobody waits for the pages of a group any more.
    case forget(Int)
    /// Nobody is behind.
    case rest
  }

  struct Page: Sendable {
    let changes: [Change]
    let cursor: HistoryCursor
    let isAtEnd: Bool
  }

  /// A page of a group, or why there is none. After an error the group begins anew.
  struct Answer: Sendable {
    let group: Int
    let page: Result<Page, any Error>
  }

  let answers: Mailbox<Answer>
  private let requests: Mailbox<Request>
  private let settings: ConnectionSettings
  private let hasStarted = Atomic(false)

  init(_ settings: ConnectionSettings) throws {
    self.settings = settings
    answers = try Mailbox()
    requests = try Mailbox()
  }

  func ask(for group: CatchUp, after cursor: HistoryCursor) throws(ThreadError) {
    group.isAsked = true
    requests.post(.page(of: group.id, after: cursor))
    guard !hasStarted.exchange(true, ordering: .relaxed) else { return }
    try DetachedThread.start { [self] in run() }
  }

  func forget(_ group: CatchUp) { requests.post(.forget(group.id)) }

  /// Ends the connection until a page is asked for.
  func rest() { if hasStarted.load(ordering: .relaxed) { requests.post(.rest) } }

  // MARK: - The thread

  private struct Work {
    var connection: Connection?
    var readers: [Int: HistoryReader] = [:]
    var answerTimeout = AnswerTimeout()
  }

  private func run() {
    var work = Work()
    while true {
      for request in requests.take() {
        switch request {
        case .page(let group, let cursor):
          answers.post(Answer(group: group, page: page(of: group, after: cursor, &work)))
        case .forget(let group): work.readers[group] = nil
        case .rest: work = Work()
        }
      }
      var waiting = pollfd(fd: requests.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, -1)
    }
  }

  private func page(
    of group: Int, after cursor: HistoryCursor, _ work: inout Work
  ) -> Result<Page, any Error> {
    do {
      let connection = try work.connection ?? Connection(settings)
      connection.answerTimeout = work.answerTimeout.duration
      work.connection = connection
      var reader =
        try work.readers[group] ?? HistoryReader(connection: connection, after: cursor)
      var changes: [Change] = []
      let isAtEnd = try reader.readPage { changes.append($0) }
      work.readers[group] = reader
      work.answerTimeout.reset()
      return .success(Page(changes: changes, cursor: reader.cursor, isAtEnd: isAtEnd))
    } catch let error as PostgresError {
      if error.kind == .timeout { work.answerTimeout.extend() }
      (work.connection, work.readers) = (nil, [:])
      return .failure(error)
    } catch {
      work.readers[group] = nil
      return .failure(error)
    }
  }
}

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
      try store.note("\(error.message); \(Self.advice)", of: members.map(\.name), over: connection)
    }
  }

  private static let advice = "\"quake-admin consumers rewind\" moves it to another place"

  private func stop(_ consumer: Consumer, because error: StoreError) {
    consumer.place = .stopped
    diagnostics.error(
      "consumer \"\(consumer.name)\" cannot continue: \(error.message)",
      hints: [Self.advice + "; the other consumers go on."])
  }
}
