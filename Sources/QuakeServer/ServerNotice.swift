/// A message of the server for its log.
package struct ServerNotice: Sendable {
  /// How much attention it needs.
  package enum Level: Sendable {
    case note, warning, error
  }

  /// How much attention it needs.
  package let level: Level
  /// What happened.
  package let message: String
  /// More about it, in sentences.
  package let detail: String?
  /// What to do about it, in sentences.
  package let hint: String?

  init(_ level: Level, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.level = level
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}
