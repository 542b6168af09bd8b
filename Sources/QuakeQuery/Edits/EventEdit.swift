/// A batch edit of events.
///
/// ```swift
/// var weak = QuakeFilter()
/// weak.minimumMagnitude = 5
/// let edit = EventEdit(.delete, of: EventSelection(weak), by: EditAuthor(program: "cleaner", author: "ann"))
/// let outcome = try await database.apply(edit)
/// ```
public struct EventEdit: Sendable {
  /// The action.
  public var action: EditAction
  /// The events that it changes.
  public var selection: EventSelection
  /// The author.
  public var author: EditAuthor
  /// A text that identifies the edit, such as its command line. An edit that was interrupted is continued by
  /// the next one with the same action, text and author. Nil: it never is.
  public var title: String?

  /// An edit.
  public init(
    _ action: EditAction, of selection: EventSelection, by author: EditAuthor, title: String? = nil
  ) {
    self.action = action
    self.selection = selection
    self.author = author
    self.title = title
  }
}
