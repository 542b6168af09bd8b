/// Why one event is not taken, as a sentence; the reader adds where it is.
struct Rejection: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
