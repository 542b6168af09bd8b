import Basics

/// The HTTP server cannot start.
struct HTTPServerError: ExplainedError {
  let message: String
  let detail: String?
  let hint: String?
  var category: ErrorCategory { .failed }
}
