/// A fault that invalidates a measurement.
struct BenchFailure: Error {
  /// What failed, on what.
  var message: String
  /// Further details.
  var detail: String?

  init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
