/// Cursors as ids of events in a stream: `1042.9f3ac2d1`, and `1042.9f3ac2d1-7` after seven changes of the
/// transaction.
extension HistoryCursor {
  /// The id of the event after which this is the cursor. It has no space, so that it can be pasted into an
  /// address.
  public var eventID: String { changes == 0 ? "\(token)" : "\(token)-\(changes)" }

  /// Reads an id, or a cursor as `quake-watch` stores it; nil for anything else.
  public init?(eventID text: String) {
    guard text.utf8.count <= 64 else { return nil }
    guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) else {
      self.init(text)
      return
    }
    self.init("\(text[..<dash]) \(text[text.utf8.index(after: dash)...])")
  }
}
