/// The SQLSTATEs of the schema's own functions; docs/schema.md lists them.
public enum StoreState {
  /// A token is not of the form of one.
  public static let malformedToken = "QK001"
  /// The history after a token has been purged.
  public static let expiredToken = "QK002"
  /// A token is of another history.
  public static let divergedToken = "QK003"
  /// A token is of a transaction that does not exist yet.
  public static let futureToken = "QK004"
  /// No worker polls a feed of that name.
  public static let unknownFeed = "QK005"
  /// An import inserts an event that was deleted.
  public static let deletedEvent = "QK006"
}
