internal import QuakeModel

/// An event of the stream of changes that the server sends.
enum StreamEvent {
  /// A change, and the cursor after it.
  case change(Change, HistoryCursor)
  /// The list that was asked for begins, as of the token.
  case beginning(ChangeToken)
  /// An event of the present list.
  case snapshot(QuakeRecord, ChangeToken)
  /// Everything up to the token has been sent.
  case heartbeat(ChangeToken)
  /// The history cannot be continued for this reason. A snapshot as of the token follows.
  case reset(StoreError, ChangeToken)
}
