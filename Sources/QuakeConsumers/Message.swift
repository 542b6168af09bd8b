package import QuakeModel

/// What a consumer's receiver gets: a change, or a step of the conversation about an earthquake.
///
/// Whatever a sink needs is in it, so that a message that waits in the database needs nothing else to be delivered.
public struct Message: Hashable, Sendable {
  /// What it tells.
  public enum Kind: String, CaseIterable, Sendable {
    /// A change, as `quake-watch` without conversations delivers it.
    case change
    /// The earthquake passed for the first time.
    case opened
    /// What was told has changed.
    case updated
    /// The earthquake does not pass any more.
    case retracted
    /// Nothing more is told.
    case closed
  }

  /// A value for commands and templates. It has no line breaks.
  package struct Variable: Hashable, Sendable {
    /// Such as `QUAKE_MAGNITUDE`; in templates `{magnitude}`.
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The same in each attempt: token and position of a change (`1042.9f3ac2d1-0`); the conversation's id and the
  /// number of the message (`1042.9f3ac2d1-0-3`).
  package let id: String
  package let kind: Kind
  /// The conversation's id, or the event's code: messages with the same subject are delivered in order.
  package let subject: String
  /// The transaction that it tells of.
  package let token: ChangeToken
  package let variables: [Variable]
  /// A JSON object.
  package let data: String

  package init(
    id: String, kind: Kind, subject: String, token: ChangeToken, variables: [Variable], data: String
  ) {
    self.id = id
    self.kind = kind
    self.subject = subject
    self.token = token
    self.variables = variables
    self.data = data
  }

  /// Whether a text has the form of the id of a message about an earthquake: that of a change has one part less.
  package static func isAlertID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return text.utf8.count <= 64 && parts.count == 3 && ChangeToken(String(parts[0])) != nil
      && parts.dropFirst().allSatisfy { Int64($0).map { $0 >= 0 } ?? false }
  }

  /// The value of a variable; nil if it has none.
  package subscript(variable name: String) -> String? {
    variables.first { $0.name == name }?.value
  }
}
