import CommandLine
import QuakeModel

/// Lines for people: origin time, magnitude in its colour, place, what changed, who did it.
final class TextPrinter: ChangeHandler {
  private let output: StandardOutput
  private let colour: Colour

  init(output: StandardOutput, colour: Colour) {
    self.output = output
    self.colour = colour
  }

  func handle(_ change: Change) throws {
    let who = "by \(Self.printable(change.transaction.author ?? Self.session(change.transaction)))"
    guard let event = change.new ?? change.old else {
      return try output.writeLine("all events were taken away (truncate) \(who)")
    }
    var line = "\(Self.verb(change.op)) \(describe(event))"
    if change.op == .update, let old = change.old, let new = change.new {
      line += ": " + Self.differences(change.changed, old, new)
    }
    try output.writeLine("\(line)  \(colour.apply(.dim, to: who))")
  }

  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws {
    try output.writeLine("        \(describe(record))")
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    try output.writeLine(colour.apply(.dim, to: "up to date  \(time)  token \(token)"))
  }

  func handle(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws {
    try output.writeLine(
      "the history after \(lost) cannot be had (\(reason)); the events as of \(token):")
  }

  func flush(at place: HistoryPlace) throws -> HistoryPlace? {
    try output.flush()
    return place
  }

  /// A line is a line, whatever becomes of the next one.
  var openTransaction: ChangeToken? { nil }

  private static func session(_ transaction: ChangeTransaction) -> String {
    transaction.application.map { "\(transaction.user) (\($0))" } ?? transaction.user
  }

  private static func verb(_ op: ChangeOperation) -> String {
    switch op {
    case .insert: "new    "
    case .update: "changed"
    case .delete: "deleted"
    case .truncate: "emptied"
    }
  }

  private func describe(_ event: QuakeRecord) -> String {
    let time = event.timestamp(.time).map { String("\($0)".prefix(19)) + "Z" } ?? ""
    let place = event.text(.place) ?? event.text(.title) ?? "place unknown"
    let code = event.text(.code) ?? ""
    return "\(time)  \(magnitude(event))  \(Self.printable(place)) (\(Self.printable(code)))"
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
    let columns = changed.compactMap { QuakeColumn(name: $0) }
    let telling = columns.filter { $0 != .updated && $0 != .asOf }
    return (telling.isEmpty ? columns : telling).map { column in
      "\(column.name) \(value(column, old)) → \(value(column, new))"
    }.joined(separator: ", ")
  }

  private static func value(_ column: QuakeColumn, _ record: QuakeRecord) -> String {
    guard record.has(column) else { return "none" }
    switch column.kind {
    case .text:
      let text = printable(record.text(column) ?? "")
      return text.count > 60 ? text.prefix(59) + "…" : text
    case .float8: return record.double(column).map { "\($0)" } ?? ""
    case .int4, .int2: return record.integer(column).map { "\($0)" } ?? ""
    case .timestamp: return record.timestamp(column).map { "\($0)" } ?? ""
    case .bool: return record.bool(column).map { "\($0)" } ?? ""
    }
  }

  /// On one line, and without what could steer the reader's terminal: it may come from anywhere.
  private static func printable(_ text: String) -> String {
    PrintableText.line(text)
  }
}
