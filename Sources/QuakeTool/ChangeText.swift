public import CommandLine
public import QuakeModel

/// Events and what was done to them, in lines for people.
public struct ChangeText {
  private let colour: Colour

  /// Lines for an output that shows `colour`, or does not.
  public init(colour: Colour) {
    self.colour = colour
  }

  /// Lines for `output`, in colour if it is a terminal and nobody objects.
  public init(for output: StandardOutput) {
    self.init(
      colour: Colour(
        for: output.descriptor, noColor: Environment.value("NO_COLOR"),
        term: Environment.value("TERM")))
  }

  /// What was done to which event, and who did it.
  public func line(_ change: Change) -> String {
    let what = line(change.op, change.changed, change.old, change.new)
    return what + (change.op == .truncate ? " " : "  ") + dim(Self.who(change.transaction))
  }

  /// What was done to which event.
  public func line(
    _ op: ChangeOperation, _ changed: [String], _ old: QuakeRecord?, _ new: QuakeRecord?
  ) -> String {
    guard let event = new ?? old else { return "all events were taken away (truncate)" }
    var line = "\(Self.verb(op)) \(describe(event))"
    if op == .update, let old, let new { line += ": " + Self.differences(changed, old, new) }
    return line
  }

  /// Who did it, as far as the transaction tells: `by alice`. Author and application are what the
  /// writer says of itself; the role is what the server knows. Where the author has another name, the
  /// role is told too: `by alice (role bob)`.
  public static func who(_ transaction: ChangeTransaction) -> String {
    let user = name(transaction.user)
    if let author = transaction.author {
      return author == transaction.user
        ? "by \(user)" : "by \(name(author)) (role \(user))"
    }
    return "by \(user)" + (transaction.application.map { " (\(name($0)))" } ?? "")
  }

  /// What somebody or something is called, who may have chosen a very long name.
  private static func name(_ text: String) -> String {
    PrintableText.line(text, atMost: nameLimit)
  }

  /// How many bytes of a name are shown.
  private static let nameLimit = 200
  /// How many bytes of a place are shown.
  private static let placeLimit = 400

  /// What matters less.
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

  /// A text of an event on one line; only its beginning is ever copied.
  private static func text(_ column: QuakeColumn, _ event: QuakeRecord, _ limit: Int) -> String? {
    event.withUTF8(column) { utf8 in utf8.map { PrintableText.line(utf8: $0, atMost: limit) } }
  }

  /// The colours of the original: below 1 green, 2 yellow, 3 orange, 5 red, from 5 magenta.
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

  /// `updated` and `as_of` move with nearly every revision; they are told of only when nothing else
  /// is.
  private static func differences(
    _ changed: [String], _ old: QuakeRecord, _ new: QuakeRecord
  ) -> String {
    // Each once: a server that lies could name them without end.
    let columns = changed.prefix(QuakeColumn.allCases.count).compactMap { QuakeColumn(name: $0) }
    let telling = columns.filter { $0 != .updated && $0 != .asOf }
    return (telling.isEmpty ? columns : telling).map { column in
      "\(column.name) \(value(column, old)) → \(value(column, new))"
    }.joined(separator: ", ")
  }

  /// A value of an event on one line; `none` where there is none.
  ///
  /// - Parameters:
  ///   - width: The most characters of a text; nil: all within the limit.
  ///   - limit: How many bytes of a text are looked at.
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
