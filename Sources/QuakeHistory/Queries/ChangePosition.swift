public import QuakeModel

/// The position of a change in the history: its transaction, and its number there.
///
/// Its text is `1042.9f3ac2d1:17`.
public struct ChangePosition: Hashable, Sendable {
  /// The transaction.
  public let token: ChangeToken
  /// The change's number in the transaction, from 0.
  public let position: Int64

  /// The position of a change.
  public init(of change: Change) {
    token = change.transaction.token
    position = change.position
  }

  /// Reads the text of a position; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let token = ChangeToken(String(parts[0])), token != .beginning,
      let position = Int64(parts[1]), position >= 0, "\(position)" == parts[1]
    else { return nil }
    self.token = token
    self.position = position
  }
}

extension ChangePosition: CustomStringConvertible {
  /// The form that `init(_:)` reads.
  public var description: String { "\(token):\(position)" }
}
