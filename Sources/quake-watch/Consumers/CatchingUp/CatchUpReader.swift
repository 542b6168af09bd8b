import Basics
import Glibc
import Postgres
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
  /// What the main thread wants.
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

  /// What the thread has.
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
