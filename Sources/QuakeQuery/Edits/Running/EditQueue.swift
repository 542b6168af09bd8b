internal import Basics
internal import Postgres
internal import QuakeModel

/// The events that an edit or a restore has still to do, in chunks. Those that other sessions have locked come
/// again after the others.
struct EditQueue {
  private var codes: CodeList
  /// The events that were passed over because other sessions have locked them.
  var locked = CodeList()
  private var size = ChunkSize()
  private var lastChange = MonotonicClock.now()

  /// How long to try while every event that is left is locked.
  private static let patience = Duration.seconds(60)

  init(_ codes: CodeList) {
    self.codes = codes
  }

  /// How many events are left.
  var left: Int64 { locked.count + codes.left }

  /// The next chunk; nil if nothing is left. Waits a moment before it begins with the locked events.
  ///
  /// - Parameter done: How many events are done, in words, for the error.
  /// - Throws: `StoreError` of kind `locked` if other sessions keep all that are left locked.
  mutating func next(over connection: Connection, done: String) throws -> [String]? {
    let chunk = codes.next(size.size)
    guard chunk.isEmpty else { return chunk }
    guard locked.count > 0 else { return nil }
    guard MonotonicClock.now() - lastChange < Self.patience else {
      throw StoreError(
        .locked, "other sessions keep \(locked.count) of the events locked", detail: done,
        hint: "End these sessions, or wait; then repeat the command, which continues.")
    }
    codes = locked
    locked = CodeList()
    _ = Connection.pause(for: .milliseconds(100), wake: connection.interrupt)
    return []
  }

  /// Notes the time that a chunk took, and whether it changed anything.
  mutating func took(_ duration: Duration, for count: Int, hasChanged: Bool) {
    size.took(duration, for: count)
    if hasChanged { lastChange = MonotonicClock.now() }
  }
}
