import QuakeModel

/// Why one event is not taken, as a sentence; the reader adds where it is.
struct Rejection: Error {
  let reason: String
  /// The column whose value it is about, where it is about one.
  let column: QuakeColumn?

  init(_ reason: String, of column: QuakeColumn? = nil) {
    self.reason = reason
    self.column = column
  }
}
