import QuakeModel

/// The reason for which an event is rejected, as a sentence. The reader adds the position.
struct Rejection: Error {
  let reason: String
  /// The column with the invalid value, if the reason is about one.
  let column: QuakeColumn?

  init(_ reason: String, of column: QuakeColumn? = nil) {
    self.reason = reason
    self.column = column
  }
}
