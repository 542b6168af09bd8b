public import QuakeFeed
public import QuakeModel

extension QuarantineVerdict {
  /// The verdict on a snapshot whose body caused the error; nil if another cause is possible.
  public init?(_ error: FeedError) {
    let reason: QuarantineReason
    switch error.code {
    case .truncated, .truncatedGzip, .truncatedZstd, .truncatedTransfer: reason = .truncated
    case .emptyBody: reason = .empty
    // It would not fit into the quarantine either.
    case .bodyTooLarge: return nil
    default:
      guard error.kind == .badData else { return nil }
      reason = .damaged
    }
    self.init(reason, error.detail.map { "\(error.message): \($0)" } ?? error.message)
  }
}
