/// Examines statements that run for long, and decides whether they continue.
///
/// It costs nothing until a statement has run for `first`.
public struct StatementWatch {
  /// A running statement.
  public struct Statement: Sendable {
    /// Process id of the server process that runs it; nil if unknown.
    public let processID: Int32?
    /// How often it has been examined before.
    public let looks: Int
  }

  /// The decision on a statement.
  public enum Verdict: Sendable {
    /// It continues, and is examined again after this time.
    case goOn(Duration)
    /// It is cancelled, and fails with this error, unless it succeeds before the request arrives.
    case cancel(PostgresError)
  }

  /// How long a statement runs before it is first examined.
  public var first: Duration
  /// A descriptor that becomes readable when the program is asked to stop. The running statement is then
  /// examined after `afterWake`.
  public var wake: Int32?
  /// How long a statement may run after that before it is examined.
  public var afterWake: Duration
  /// Examines a statement. It is called on the connection's thread, and must not use the connection.
  public var look: (Statement) -> Verdict

  /// A watch of the given parts.
  public init(
    first: Duration, wake: Int32?, afterWake: Duration, look: @escaping (Statement) -> Verdict
  ) {
    self.first = first
    self.wake = wake
    self.afterWake = afterWake
    self.look = look
  }
}
