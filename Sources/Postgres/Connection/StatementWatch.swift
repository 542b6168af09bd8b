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

  /// A watch of the given parts.
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
