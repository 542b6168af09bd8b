internal import Basics
internal import CLibpq
internal import Glibc

extension Connection {
  /// The connection's socket, for callers that poll several descriptors. When it is readable, notifications
  /// may have arrived.
  package var descriptor: Int32 { PQsocket(connection) }

  /// The limits of one wait for the server: its deadline, when the watch examines it next, and when the server is
  /// next asked whether it is there.
  struct Patience {
    fileprivate var deadline: Deadline?
    fileprivate var look: Deadline?
    fileprivate var probe = Deadline(after: Connection.probePause)
    /// The number of probes in succession that got no answer.
    fileprivate var silences = 0
    fileprivate var wake: Int32?
    /// Whether the program was asked to stop.
    fileprivate var isStopping = false

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

    fileprivate var next: Deadline {
      let first = deadline.map { min($0, probe) } ?? probe
      return look.map { min($0, first) } ?? first
    }
  }

  /// How long to wait for the answer to a cancelled statement. A server that is alive answers at once.
  private static let cancelTimeout = Duration.seconds(10)

  static let silent = PostgresError(
    kind: .timeout, message: "no answer from the database",
    hint: "The server, or the network to it, may be down.")

  /// How long a wait lasts before the server is first asked whether it is there, and the time between two such
  /// probes that it answers. It can be short, because a probe costs the server little, and one that it answers proves
  /// that it is there.
  private static let probePause = Duration.seconds(2)
  /// How long each probe in succession waits for an answer. A server that works answers at once, however long its
  /// statements take; but a machine with too much to do may miss some, or need longer, so later ones wait longer. After
  /// the last one, which is after 15 s without an answer, the server is considered gone.
  private static let probeLimits: [Duration] = [
    .seconds(3), .seconds(3), .seconds(4), .seconds(5),
  ]

  /// Waits until the socket is readable or writable.
  ///
  /// An answer may take any time, so that the time alone says nothing. While the connection is open but the server
  /// does not answer another connection either, its processes are stopped, or the machine hangs.
  func wait(for events: Int16, _ patience: inout Patience) throws(PostgresError) {
    guard !isSilent else { throw Self.silent }
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
        patience.isStopping = true
        let soon = Deadline(after: watch.afterWake)
        patience.look = patience.look.map { min($0, soon) }
        patience.probe = min(patience.probe, soon)
      case .timedOut:
        if patience.deadline?.hasPassed == true {
          isSilent = true
          throw Self.silent
        } else if patience.probe.hasPassed {
          try probe(&patience)
        } else if let watch, patience.look?.hasPassed == true {
          lookAt(&patience, with: watch)
        }
      }
    }
  }

  /// Asks the server for another connection, which it grants or refuses while it is there.
  private func probe(_ patience: inout Patience) throws(PostgresError) {
    if hasAnswer(within: Self.probeLimits[patience.silences]) {
      patience.silences = 0
      patience.probe = Deadline(after: Self.probePause)
      return
    }
    patience.silences += 1
    patience.probe = Deadline(after: .zero)
    guard patience.silences < (patience.isStopping ? 1 : Self.probeLimits.count) else {
      isSilent = true
      throw Self.silent
    }
  }

  /// Whether the server answers an attempt to connect, or the running statement meanwhile.
  private func hasAnswer(within limit: Duration) -> Bool {
    guard let probe = Connecting.call(PQconnectStartParams, with: addressOfServer(limit)) else {
      return true
    }
    defer { PQfinish(probe) }
    do throws(PostgresError) {
      try Connecting.finish(probe, timeout: limit, wake: PQsocket(connection))
      return true
    } catch {
      return error.kind != .timeout
    }
  }

  /// The parameters of this connection with the one address that it has.
  private func addressOfServer(_ limit: Duration) -> [(keyword: String, value: String)] {
    var parameters: [(keyword: String, value: String)] = []
    guard let options = PQconninfo(connection) else { return [] }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      // A service file has nothing to add, and might name other hosts.
      if strcmp(keyword, "service") != 0, let value = option.pointee.val {
        parameters.append((String(cString: keyword), String(cString: value)))
      }
      option += 1
    }
    return parameters + address
      + [("connect_timeout", "\(limit.components.seconds)")]
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

/// Examines statements that run for long, and decides whether they continue.
///
/// It costs nothing until a statement has run for `first`.
package struct StatementWatch {
  /// How long a statement runs before it is first examined.
  package var first: Duration
  /// A descriptor that becomes readable when the program is asked to stop. The running statement is then
  /// examined after `afterWake`.
  package var wake: Int32?
  /// How long a statement may run after that before it is examined.
  package var afterWake: Duration
  /// Examines the statement that a server process runs, nil if that is unknown, and returns when to do it again. If
  /// it throws, the statement is cancelled, and fails with this error unless it succeeds before the request arrives.
  /// It is called on the connection's thread, and must not use the connection.
  package var look: (_ processID: Int32?) throws(PostgresError) -> Duration

  package init(
    first: Duration, wake: Int32?, afterWake: Duration,
    look: @escaping (_ processID: Int32?) throws(PostgresError) -> Duration
  ) {
    self.first = first
    self.wake = wake
    self.afterWake = afterWake
    self.look = look
  }
}

/// A notification on a channel that the connection listens to.
package struct ServerNotification: Sendable {
  package let channel: String
  /// The payload. Every role that may connect can send one, so never trust its content.
  package let payload: String
  /// Process id of the server process that sent the notification.
  package let processID: Int32
}
