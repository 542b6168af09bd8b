import Basics

/// A fault that invalidates a measurement.
struct BenchFailure: ExplainedError {
  let message: String
  let detail: String?
  var category: ErrorCategory { .failed }

  init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
