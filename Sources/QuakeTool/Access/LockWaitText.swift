internal import CommandLine
internal import Postgres
package import QuakeWorker

/// Describes a wait for a lock.
package struct LockWaitText {
  private let wait: LockWait

  /// The description of a wait.
  package init(_ wait: LockWait) {
    self.wait = wait
  }

  private var duration: String {
    wait.seconds.map { " for \(Readable.duration(.milliseconds(Int64(max(0, $0) * 1000))))" } ?? ""
  }

  /// The locked object, and how long the session has waited.
  package var message: String { "waiting\(duration) for \(wait.object)" }

  /// The holders of the lock.
  package var detail: String {
    guard let first = wait.holders.first else {
      return "The holder of the lock could not be determined."
    }
    let others = wait.holderCount - 1
    let more = others > 0 ? ", and by \(others) more" : ""
    return "Held by \(Self.words(for: first))\(more)."
  }

  /// What to do about it.
  package var hint: String {
    guard let holder = wait.holders.first else { return "It continues when the lock is free." }
    if let name = holder.preparedTransaction {
      return "It continues when that transaction ends: \"rollback prepared '\(name)'\" ends it."
    }
    guard let process = holder.processID else {
      return "It continues when that transaction ends; pg_prepared_xacts lists the prepared ones."
    }
    return "It continues when that transaction ends; pg_terminate_backend(\(process)) ends it."
  }

  /// Message and detail in one text.
  var sentence: String {
    "It was waiting\(duration) for \(wait.object). \(detail)"
  }

  /// The error of a statement that was cancelled while it waited.
  var stopped: PostgresError {
    PostgresError(
      kind: .interrupted, sqlState: SQLState.queryCanceled,
      message:
        "stopped while waiting\(duration) for \(wait.object): the open transaction is rolled back",
      detail: detail, hint: "Repeat it when the lock is free.")
  }

  /// Describes a session: `process 4711 (role bob, application psql, idle in transaction for 44 s)`.
  package static func words(for session: LockWait.Session) -> String {
    var known: [String] = []
    if let role = session.role { known.append("role \(role)") }
    if let application = session.application, !application.isEmpty {
      known.append("application \(application)")
    }
    if let client = session.client { known.append("client \(client)") }
    if let state = session.state { known.append(state + age(of: session)) }
    let name: String
    if let prepared = session.preparedTransaction {
      name = "prepared transaction '\(prepared)'"
    } else {
      // A session whose process id is hidden still has a state.
      name =
        session.processID.map { "process \($0)" }
        ?? (session.state == nil ? "a prepared transaction" : "a session")
    }
    return known.isEmpty ? name : "\(name) (\(known.joined(separator: ", ")))"
  }

  private static func age(of session: LockWait.Session) -> String {
    guard let seconds = session.stateSeconds else { return "" }
    return " for \(Readable.duration(.milliseconds(Int64(max(0, seconds) * 1000))))"
  }
}
