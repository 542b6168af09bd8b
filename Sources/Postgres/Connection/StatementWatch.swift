/// Looks at statements that the server takes long to answer, and says what becomes of them.
///
/// It costs nothing until a statement has taken `first`.
public struct StatementWatch {
  /// A statement that is under way.
  public struct Statement: Sendable {
    /// Process id of the server process that runs it; nil: it is not known.
    public let processID: Int32?
    /// How often it has been looked at before.
    public let looks: Int
  }

  /// What becomes of a statement.
  public enum Verdict: Sendable {
    /// It goes on, and is looked at again after this time.
    case goOn(Duration)
    /// It is cancelled. If the server says that it was, the statement fails with this error; if it was
    /// done before that, it has succeeded.
    case cancel(PostgresError)
  }

  /// How long a statement may take before it is looked at.
  public var first: Duration
  /// A descriptor that becomes readable when somebody wants the work to end; the statement under way is
  /// then looked at after `afterWake`.
  public var wake: Int32?
  /// How long a statement may take after that.
  public var afterWake: Duration
  /// Looks at a statement. It is called on the connection's thread, and must not use the connection.
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
