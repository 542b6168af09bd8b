/// Something that keeps a measurement from meaning anything.
struct BenchFailure: Error {
  /// What failed, on what.
  var message: String
  /// What is known besides.
  var detail: String?

  init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
