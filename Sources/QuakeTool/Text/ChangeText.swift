package import CommandLine
package import QuakeModel
package import QuakeWorker

package struct ChangeText: Sendable {
  private let colour: Colour
  /// The terminal that the lines are for; nil if they are not for one.
  private let terminal: Int32?
  /// Whether origin times are told from the present.
  private let isRelative: Bool
  /// Whether no text is cut.
  private let isWhole: Bool

  /// The columns of a line that is not for a terminal.
  private static let usualWidth = 100

  /// Lines with or without colour.
  ///
  /// - Parameter isWhole: Whether they have each text as long as it is.
  package init(colour: Colour, isWhole: Bool = false) {
    self.colour = colour
    self.isWhole = isWhole
    terminal = nil
    isRelative = false
  }

  /// Lines for `output`, in colour if it is a terminal and `NO_COLOR` is not set.
  ///
  /// - Parameter isRelative: Whether a terminal shows origin times as `12 min ago`; otherwise they are in UTC.
  package init(for output: StandardOutput, isRelative: Bool = false) {
    colour = Colour(for: output.descriptor)
    let isTerminal = Terminal.isTerminal(output.descriptor)
    terminal = isTerminal ? output.descriptor : nil
    self.isRelative = isRelative && isTerminal
    isWhole = false
  }

  /// Whether a change is an update of columns that no person reads, or by less than a line shows.
  package static func isBookkeeping(
    _ op: ChangeOperation, _ changed: [String], _ old: EventRecord?, _ new: EventRecord?
  ) -> Bool {
    guard op == .update, let old, let new else { return false }
    return ChangeNotes(changed, old, new, width: 1).visible.isEmpty
  }

  /// The change, the event and the author of the change, no wider than the terminal, or than 100 columns.
  ///
  /// An author that every import has by default is left out.
  package func line(_ change: Change) -> String {
    line(change.op, change.changed, change.old, change.new, by: change.transaction)
  }

  /// The change and the event, and the author unless `transaction` is nil, in as many columns.
  ///
  /// - Parameter indent: Columns that the caller writes before the line.
  package func line(
    _ op: ChangeOperation, _ changed: [String], _ old: EventRecord?, _ new: EventRecord?,
    by transaction: ChangeTransaction? = nil, indent: Int = 0
  ) -> String {
    guard let event = new ?? old else { return emptied(by: transaction, width: width - indent) }
    return fitted(
      Self.verb(op), .origin, event, notes(op, changed, old, new),
      who: transaction.flatMap { Self.isDefault($0) ? nil : $0 }, width: width - indent)
  }

  /// A version of an event after the token and the time of its transaction, in as many columns. An update has
  /// no place, which is that of the version before unless the notes say otherwise.
  package func line(_ version: EventVersion) -> String {
    let transaction = version.transaction
    let commit = "\(transaction.token)  \(transaction.at.text)"
    guard let event = version.new ?? version.old else {
      return commit + "  "
        + emptied(by: transaction, width: width - DisplayWidth.of(commit) - 2)
    }
    return fitted(
      Self.verb(version.op), .commit(commit, hasPlace: version.op != .update), event,
      notes(version.op, version.changed, version.old, version.new),
      who: Self.isDefault(transaction) ? nil : transaction, width: width)
  }

  private func emptied(by transaction: ChangeTransaction?, width: Int) -> String {
    let who = transaction.map { " \(Self.who($0))" } ?? ""
    return DisplayWidth.cut("all events were removed (truncate)\(who)", to: width)
  }

  /// Notes about the effects of a change on the event, the most important first.
  private func notes(
    _ op: ChangeOperation, _ changed: [String], _ old: EventRecord?, _ new: EventRecord?
  ) -> [String] {
    guard let new else { return [] }
    if op == .insert { return Self.notes(onNew: new) }
    guard op == .update, let old else { return [] }
    let found = ChangeNotes(changed, old, new, width: isWhole ? nil : 24)
    if !found.visible.isEmpty { return found.visible }
    let names = found.bookkeeping.map(\.name).joined(separator: ", ")
    return names.isEmpty ? [] : [names]
  }

  /// An event of a list, in the form of a change.
  package func line(listed event: EventRecord) -> String {
    fitted("       ", .origin, event, Self.notes(onNew: event), who: nil, width: width)
  }

  /// Depth, and why the event does not count.
  private static func notes(onNew event: EventRecord) -> [String] {
    [ChangeNotes.depth(event).map { "depth \($0) km" }, ChangeNotes.state(event)].compactMap { $0 }
  }

  /// The author that imports state unless they are told another one.
  private static func isDefault(_ transaction: ChangeTransaction) -> Bool {
    // A server leaves out role and import.
    transaction.author == "quake-ingest"
      && (transaction.importID != nil || transaction.user.isEmpty)
  }

  // MARK: - Lines that fit

  private var width: Int {
    if isWhole { return .max / 2 }
    return terminal.map { Terminal.columns($0) ?? Self.usualWidth } ?? Self.usualWidth
  }

  /// The part of a line after time and magnitude.
  private struct Tail {
    var place: String
    let code: String
    let notes: [String]
    let authors: (whole: String, short: String)?

    /// The tail with the first `count` notes.
    func text(place: String, notes count: Int, author: String?) -> (text: String, author: String) {
      var text = place.isEmpty ? code : "\(place) (\(code))"
      if count > 0 {
        text += ": " + notes.prefix(count).joined(separator: ", ")
        if count < notes.count { text += ", …" }
      } else if !notes.isEmpty {
        text += ": …"
      }
      return (text, author.map { "  \($0)" } ?? "")
    }

    /// The tail in at most `width` columns: if it is longer, the author is shortened first, then the place,
    /// then the last notes are left out, then the author, and the place at last. The first note stays as long
    /// as anything does.
    func fitted(to width: Int) -> (text: String, author: String) {
      let all = notes.count
      let whole = text(place: place, notes: all, author: authors?.whole)
      if DisplayWidth.of(whole.text) + DisplayWidth.of(whole.author) <= width { return whole }
      let size = DisplayWidth.of(place)
      var forms = [(least: size, notes: all, author: authors?.short)]
      forms.append((20, all, authors?.short))
      for count in stride(from: all - 1, to: 0, by: -1) {
        forms.append((20, count, authors?.short))
      }
      let one = min(1, all)
      forms += [(8, one, authors?.short), (8, one, nil), (0, one, nil)]
      for form in forms {
        let rest = text(place: "", notes: form.notes, author: form.author)
        let free = width - DisplayWidth.of(rest.text) - DisplayWidth.of(rest.author)
        // A place needs three more columns, because the code is in brackets then.
        if free - 3 >= min(form.least, size), form.least > 0 {
          let place = DisplayWidth.cutAtWord(place, to: free - 3)
          return text(place: place, notes: form.notes, author: form.author)
        }
        if form.least == 0, free >= 0 { return rest }
      }
      // A change of the magnitude must not be cut.
      let note = notes.first ?? code
      if note.hasPrefix("magnitude "), DisplayWidth.of(note) <= width { return (note, "") }
      return (
        DisplayWidth.cutAtWord(notes.isEmpty ? code : "\(code): \(note)", to: max(1, width)), ""
      )
    }
  }

  /// The moment that a line tells.
  private enum Moment {
    /// When the earthquake was, after the verb.
    case origin
    /// The token and the time of the transaction, before the verb.
    case commit(String, hasPlace: Bool)
  }

  private func fitted(
    _ verb: String, _ moment: Moment, _ event: EventRecord, _ notes: [String],
    who transaction: ChangeTransaction?, width: Int
  ) -> String {
    let magnitude = Self.magnitude(event)
    let (time, place): (String, String)
    switch moment {
    case .commit(let commit, let hasPlace):
      (time, place) = (commit, hasPlace ? self.place(event) : "")
    case .origin where isRelative:
      time = DisplayWidth.padded(relativeTime(event), to: RelativeTime.width)
      place = self.place(event)
    case .origin:
      time = DisplayWidth.padded(Self.exactTime(event), to: 20)
      place = self.place(event)
    }
    let code = Self.value(.code, event, width: isWhole ? nil : 24, atMost: isWhole ? .max : 240)
    let tail = Tail(
      place: place, code: code, notes: notes,
      authors: transaction.map {
        let name = PrintableText.line(Self.shortName($0), atMost: Self.nameLimit)
        return (Self.who($0), "by " + DisplayWidth.cut(name, to: 24))
      })
    // A terminal that is too narrow for the columns gets no time.
    let size = DisplayWidth.of(verb) + DisplayWidth.of(magnitude) + 3
    let hasTime = size + DisplayWidth.of(time) + 2 + 24 <= width
    let rest = width - size - (hasTime ? DisplayWidth.of(time) + 2 : 0)
    let (text, author) = tail.fitted(to: rest)
    var line = "\(verb) "
    if hasTime {
      if case .commit = moment { line = "\(time)  \(line)" } else { line += "\(time)  " }
    }
    line += styled(magnitude, event) + "  " + text
    return line + (author.isEmpty ? "" : "  " + dim(String(author.dropFirst(2))))
  }

  private func relativeTime(_ event: EventRecord) -> String {
    event.time.map { RelativeTime.text($0, at: .now()) } ?? ""
  }

  /// The author of a transaction: `by alice`. The writer states author and application itself; the server
  /// knows the role. If the author differs from the role, both are shown: `by alice (role bob)`.
  package static func who(_ transaction: ChangeTransaction) -> String {
    guard !transaction.user.isEmpty else { return "by \(name(shortName(transaction)))" }
    let user = name(transaction.user)
    if let author = transaction.author {
      return author == transaction.user
        ? "by \(user)" : "by \(name(author)) (role \(user))"
    }
    return "by \(user)" + (transaction.application.map { " (\(name($0)))" } ?? "")
  }

  /// The author, or else the role; what a server leaves out is unknown.
  private static func shortName(_ transaction: ChangeTransaction) -> String {
    if let author = transaction.author { return author }
    return transaction.user.isEmpty ? transaction.application ?? "unknown" : transaction.user
  }

  /// A name of an author or an application, cut because the writer may have chosen a very long one.
  private static func name(_ text: String) -> String {
    PrintableText.line(text, atMost: nameLimit)
  }

  /// The most bytes of a name that are shown.
  private static let nameLimit = 200
  /// The most bytes of a place that are shown.
  private static let placeLimit = 400

  package func dim(_ text: String) -> String { colour.apply(.dim, to: text) }

  private static func verb(_ op: ChangeOperation) -> String {
    switch op {
    case .insert: "new    "
    case .update: "changed"
    case .delete: "deleted"
    case .truncate: "emptied"
    }
  }

  /// Origin time, magnitude in its colour, place and code of an event.
  package func describe(_ event: EventRecord) -> String {
    let code = Self.text(.code, event, Self.nameLimit) ?? ""
    let magnitude = styled(Self.magnitude(event), event)
    return "\(Self.exactTime(event))  \(magnitude)  \(place(event)) (\(code))"
  }

  /// The origin time to the second.
  private static func exactTime(_ event: EventRecord) -> String {
    guard let time = event.time else { return "" }
    // As `MomentText` has it; faster, for lists of millions of events.
    return MomentText.usesLocalTime ? time.text : String("\(time)".prefix(19)) + "Z"
  }

  private func place(_ event: EventRecord) -> String {
    let limit = isWhole ? .max : Self.placeLimit
    return Self.text(.place, event, limit) ?? Self.text(.title, event, limit) ?? "place unknown"
  }

  /// A text of an event on one line. No more than `limit` bytes are copied.
  private static func text(_ column: EventColumn, _ event: EventRecord, _ limit: Int) -> String? {
    event.withUTF8(column) { utf8 in utf8.map { PrintableText.line(utf8: $0, atMost: limit) } }
  }

  /// The magnitude, six columns wide.
  private static func magnitude(_ event: EventRecord) -> String {
    guard let magnitude = event.magnitude else { return "M    ?" }
    return "M " + padded(Readable.decimal(magnitude, places: 1), to: 4)
  }

  /// A text in the colour of the event's magnitude.
  private func styled(_ text: String, _ event: EventRecord) -> String {
    guard let magnitude = event.magnitude else { return text }
    return colour.apply(Self.style(ofMagnitude: magnitude), to: text)
  }

  /// The colour of a magnitude: green below 1, yellow below 2, orange below 3, red below 5, else magenta.
  package static func style(ofMagnitude magnitude: Double) -> TextStyle {
    magnitude < 1
      ? .green : magnitude < 2 ? .yellow : magnitude < 3 ? .orange : magnitude < 5 ? .red : .magenta
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  /// A value of an event on one line; `none` for null.
  ///
  /// - Parameters:
  ///   - width: The most columns that a text takes; nil for no limit but `limit`.
  ///   - limit: The most bytes of a text that are read.
  package static func value(
    _ column: EventColumn, _ record: EventRecord, width: Int? = 60, atMost limit: Int = 240
  ) -> String {
    guard record.has(column) else { return "none" }
    switch column.kind {
    case .text:
      let text = text(column, record, limit) ?? ""
      return width.map { DisplayWidth.cut(text, to: $0) } ?? text
    case .float8: return record.double(column).map { "\($0)" } ?? ""
    case .int4, .int2: return record.integer(column).map { "\($0)" } ?? ""
    case .timestamp:
      guard let moment = record.timestamp(column) else { return "" }
      return MomentText.usesLocalTime ? moment.text : "\(moment)"
    case .bool: return record.bool(column).map { "\($0)" } ?? ""
    }
  }
}

/// Formats an instant as a person says it: `12 min ago`.
enum RelativeTime {
  /// The most columns that it takes.
  static let width = 10

  /// The instant as seen at another one: `4 s ago`, `12 min ago`, `3 h ago`, `5 d ago`, `in 2 min`; its date, if
  /// it is 100 days or more away.
  static func text(_ time: Timestamp, at now: Timestamp) -> String {
    let (difference, overflow) = now.microseconds.subtractingReportingOverflow(time.microseconds)
    let seconds = difference.magnitude / 1_000_000
    guard !overflow, seconds < 100 * 86_400 else { return date(time) }
    let amount =
      switch seconds {
      case ..<60: "\(seconds) s"
      case ..<3600: "\(seconds / 60) min"
      case ..<172_800: "\(seconds / 3600) h"
      default: "\(seconds / 86_400) d"
      }
    return difference < 0 ? "in \(amount)" : "\(amount) ago"
  }

  private static func date(_ time: Timestamp) -> String {
    let text = "\(time)"
    return String(text[..<(text.firstIndex(of: "T") ?? text.endIndex)])
  }
}

extension Timestamp {
  /// The moment as people read it; see `MomentText`.
  package var text: String { MomentText.text(microseconds: microseconds) }
}

extension FeedPause {
  package var text: String { "paused by \(role) since \(since.text)" }
}
