import QuakeModel

/// Encodes changes into pages.
struct PageEncoder {
  private var json = JSONWriter()
  private var bytes: [UInt8] = []
  private var places: [EncodedPage.Place] = []
  private var changes: [Change] = []
  /// The beginning of the events of a transaction, up to where its token ends.
  private var idField: (transaction: ChangeTransaction, text: [UInt8])?

  /// Adds a change, which must follow the last one in the history.
  mutating func append(_ change: Change) {
    let start = bytes.count
    bytes.append(contentsOf: idField(of: change.transaction))
    let cursor = HistoryCursor(after: change)
    if cursor.changes != 0 { bytes.append(contentsOf: "-\(cursor.changes)".utf8) }
    bytes.append(contentsOf: "\ndata: ".utf8)
    places.append(.init(start: UInt32(start), json: UInt32(bytes.count)))
    json.change(change)
    json.withBytes { bytes.append(contentsOf: $0) }
    json.removeAll()
    bytes.append(contentsOf: "\n\n".utf8)
    changes.append(change)
  }

  private mutating func idField(of transaction: ChangeTransaction) -> [UInt8] {
    if let idField, idField.transaction === transaction { return idField.text }
    let text = Array("id: \(transaction.token)".utf8)
    idField = (transaction, text)
    return text
  }

  /// The page of all changes added since the last one; nil without any.
  ///
  /// - Parameter before: The cursor before the first of them.
  mutating func finish(after before: HistoryCursor, isLive: Bool) -> EncodedPage? {
    guard let last = changes.last else { return nil }
    places.append(.init(start: UInt32(bytes.count), json: UInt32(bytes.count)))
    let page = EncodedPage(
      bytes, places, changes, before: before, after: HistoryCursor(after: last), isLive: isLive)
    // A large page leaves no large buffers behind.
    if bytes.capacity > 4 << 20 { bytes = [] }
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    changes = []
    return page
  }
}
