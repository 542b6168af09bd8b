internal import QuakeModel

/// What the server sends in a stream of changes.
enum StreamEvent {
  /// A change, and the cursor after it.
  case change(Change, HistoryCursor)
  /// An event of the present list.
  case snapshot(QuakeRecord, ChangeToken)
  /// Everything up to the token has been sent.
  case heartbeat(ChangeToken)
  /// The history cannot be continued for this reason. A snapshot as of the token follows.
  case reset(StoreError, ChangeToken)
}
