public import QuakeFeed
public import QuakeModel

extension QuarantineVerdict {
  /// What an error that a feed's body caused says of the snapshot; nil for one that is not the body's.
  public init?(_ error: FeedError) {
    let reason: QuarantineReason
    switch error.code {
    case .truncated, .truncatedGzip, .truncatedTransfer: reason = .truncated
    case .emptyBody: reason = .empty
    // It would not fit there either.
    case .bodyTooLarge: return nil
    default:
      guard error.kind == .badData else { return nil }
      reason = .damaged
    }
    self.init(reason, error.detail.map { "\(error.message): \($0)" } ?? error.message)
  }
}
