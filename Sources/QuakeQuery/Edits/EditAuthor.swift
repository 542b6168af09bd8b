/// The author of an edit and the reason for it, for the history and for `quake.edit`.
public struct EditAuthor: Sendable {
  /// Name and version of the program.
  public var program: String
  /// Author of the changes.
  public var author: String
  /// Context of the changes; nil: the edit's number and action.
  public var context: String?

  /// An author.
  public init(program: String, author: String, context: String? = nil) {
    self.program = program
    self.author = author
    self.context = context
  }
}
