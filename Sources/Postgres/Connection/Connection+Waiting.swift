internal import Basics
internal import CLibpq

extension Connection {
  /// The limits of one wait for the server: its deadline, and when the watch examines it next.
  struct Patience {
    fileprivate var deadline: Deadline?
    fileprivate var look: Deadline?
    fileprivate var wake: Int32?

    init(_ connection: Connection) {
      deadline = connection.answerTimeout.map { Deadline(after: $0) }
      if let watch = connection.watch {
        look = Deadline(after: watch.first)
        wake = connection.interrupt ?? watch.wake
      } else {
        wake = connection.interrupt
      }
    }

    /// Begins the time for the answer again, unless the statement was cancelled.
    mutating func restart(over connection: Connection) {
      guard connection.cancellation == nil else { return }
      deadline = connection.answerTimeout.map { Deadline(after: $0) }
    }

    fileprivate var next: Deadline? {
      guard let look else { return deadline }
      return deadline.map { min($0, look) } ?? look
    }
  }

  /// How long to wait for the answer to a cancelled statement. A server that is alive answers at once.
  private static let cancelTimeout = Duration.seconds(10)

  static let silent = PostgresError(
    kind: .timeout, message: "no answer from the database",
    hint: "The server, or the network to it, may be down.")

  /// Waits until the socket is readable or writable.
  func wait(for events: Int16, _ patience: inout Patience) throws(PostgresError) {
    while true {
      switch Self.wait(
        PQsocket(connection), for: events, until: patience.next, wake: patience.wake)
      {
      case .ready: return
      case .woken:
        guard interrupt == nil, let watch else {
          cancelHandle?.cancel(within: CancelHandle.patience)
          throw PostgresError(kind: .interrupted, message: "the statement was interrupted")
        }
        // The descriptor stays readable, so further waits must not poll it.
        patience.wake = nil
        let soon = Deadline(after: watch.afterWake)
        patience.look = patience.look.map { min($0, soon) }
      case .timedOut:
        if let watch, patience.look?.hasPassed == true {
          lookAt(&patience, with: watch)
        } else if patience.deadline?.hasPassed == true {
          throw Self.silent
        }
      }
    }
  }

  private func lookAt(_ patience: inout Patience, with watch: StatementWatch) {
    do throws(PostgresError) {
      patience.look = Deadline(after: try watch.look(processID))
    } catch {
      cancelHandle?.cancel(within: CancelHandle.patience)
      cancellation = error
      patience.look = nil
      let limit = Deadline(after: Self.cancelTimeout)
      patience.deadline = patience.deadline.map { min($0, limit) } ?? limit
    }
  }

  /// The reason of the cancellation, if the server reports that the statement was cancelled; else its error.
  func named(_ error: PostgresError) -> PostgresError {
    error.sqlState == SQLState.queryCanceled ? cancellation ?? error : error
  }
}
