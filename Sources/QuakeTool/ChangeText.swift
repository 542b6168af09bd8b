public import CommandLine
public import QuakeModel

/// Formats events and changes as lines for people.
public struct ChangeText {
  private let colour: Colour

  /// Lines with or without colour.
  public init(colour: Colour) {
    self.colour = colour
  }

  /// Lines for `output`, in colour if it is a terminal and `NO_COLOR` is not set.
  public init(for output: StandardOutput) {
    self.init(
      colour: Colour(
        for: output.descriptor, noColor: Environment.value("NO_COLOR"),
        term: Environment.value("TERM")))
  }

  /// The change, the event and the author of the change.
  public func line(_ change: Change) -> String {
    let what = line(change.op, change.changed, change.old, change.new)
    return what + (change.op == .truncate ? " " : "  ") + dim(Self.who(change.transaction))
  }

  /// The change and the event.
  public func line(
    _ op: ChangeOperation, _ changed: [String], _ old: QuakeRecord?, _ new: QuakeRecord?
  ) -> String {
    guard let event = new ?? old else { return "all events were removed (truncate)" }
    var line = "\(Self.verb(op)) \(describe(event))"
    if op == .update, let old, let new { line += ": " + Self.differences(changed, old, new) }
    return line
  }

  /// The author of a transaction: `by alice`. The writer states author and application itself; the server
  /// knows the role. If the author differs from the role, both are shown: `by alice (role bob)`.
  public static func who(_ transaction: ChangeTransaction) -> String {
    let user = name(transaction.user)
    if let author = transaction.author {
      return author == transaction.user
        ? "by \(user)" : "by \(name(author)) (role \(user))"
    }
    return "by \(user)" + (transaction.application.map { " (\(name($0)))" } ?? "")
  }

  /// A name of an author or an application, cut because the writer may have chosen a very long one.
  private static func name(_ text: String) -> String {
    PrintableText.line(text, atMost: nameLimit)
  }

  /// The most bytes of a name that are shown.
  private static let nameLimit = 200
  /// The most bytes of a place that are shown.
  private static let placeLimit = 400

  /// Text that matters less, dimmed.
  public func dim(_ text: String) -> String { colour.apply(.dim, to: text) }

  private static func verb(_ op: ChangeOperation) -> String {
    switch op {
    case .insert: "new    "
    case .update: "changed"
    case .delete: "deleted"
    case .truncate: "emptied"
    }
  }

  /// Origin time, magnitude in its colour, place and code of an event.
  public func describe(_ event: QuakeRecord) -> String {
    let time = event.timestamp(.time).map { String("\($0)".prefix(19)) + "Z" } ?? ""
    let place =
      Self.text(.place, event, Self.placeLimit) ?? Self.text(.title, event, Self.placeLimit)
      ?? "place unknown"
    let code = Self.text(.code, event, Self.nameLimit) ?? ""
    return "\(time)  \(magnitude(event))  \(place) (\(code))"
  }

  /// A text of an event on one line. No more than `limit` bytes are copied.
  private static func text(_ column: QuakeColumn, _ event: QuakeRecord, _ limit: Int) -> String? {
    event.withUTF8(column) { utf8 in utf8.map { PrintableText.line(utf8: $0, atMost: limit) } }
  }

  /// The magnitude in its colour: green below 1, yellow below 2, orange below 3, red below 5, else magenta.
  private func magnitude(_ event: QuakeRecord) -> String {
    guard let magnitude = event.double(.magnitude) else { return "M  ? " }
    let text = "M " + Self.padded(Readable.decimal(magnitude, places: 1), to: 4)
    let style: TextStyle =
      magnitude < 1
      ? .green : magnitude < 2 ? .yellow : magnitude < 3 ? .orange : magnitude < 5 ? .red : .magenta
    return colour.apply(style, to: text)
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  /// The columns that differ. `updated` and `as_of` differ in nearly every revision, so they are listed only
  /// if no other column differs.
  private static func differences(
    _ changed: [String], _ old: QuakeRecord, _ new: QuakeRecord
  ) -> String {
    // At most as many as there are columns: a malicious server could send an endless list.
    let columns = changed.prefix(QuakeColumn.allCases.count).compactMap { QuakeColumn(name: $0) }
    let telling = columns.filter { $0 != .updated && $0 != .asOf }
    return (telling.isEmpty ? columns : telling).map { column in
      "\(column.name) \(value(column, old)) → \(value(column, new))"
    }.joined(separator: ", ")
  }

  /// A value of an event on one line; `none` for null.
  ///
  /// - Parameters:
  ///   - width: The most characters of a text; nil for no limit but `limit`.
  ///   - limit: The most bytes of a text that are read.
  public static func value(
    _ column: QuakeColumn, _ record: QuakeRecord, width: Int? = 60, atMost limit: Int = 240
  ) -> String {
    guard record.has(column) else { return "none" }
    switch column.kind {
    case .text:
      let text = text(column, record, limit) ?? ""
      guard let width, text.count > width else { return text }
      return text.prefix(width - 1) + "…"
    case .float8: return record.double(column).map { "\($0)" } ?? ""
    case .int4, .int2: return record.integer(column).map { "\($0)" } ?? ""
    case .timestamp: return record.timestamp(column).map { "\($0)" } ?? ""
    case .bool: return record.bool(column).map { "\($0)" } ?? ""
    }
  }
}
