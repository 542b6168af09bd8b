internal import Basics
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timespec

/// Messages for the person at the terminal or for the log, on standard error.
///
/// ```
/// quake-ingest: error: could not read the feed
///   detail: The server answered 503.
///   hint: Try again in a minute.
/// ```
package struct Diagnostics: Sendable {
  package enum Verbosity: Int, Sendable, Comparable {
    /// Warnings and errors.
    case quiet
    /// Notes too.
    case normal
    case verbose

    /// Quiet is less than normal, and normal less than verbose.
    package static func < (first: Verbosity, second: Verbosity) -> Bool {
      first.rawValue < second.rawValue
    }
  }

  package enum Form: Sendable, Equatable {
    /// With the program's name, for a program that ends soon.
    case message
    /// With the time, for a program that runs for long: the time of day on a terminal, else ISO 8601 in UTC
    /// and the program's name.
    case log
  }

  package enum Format: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// For programs: a JSON object a line, with `time` (RFC 3339, UTC), `level` (`debug`, `info`,
    /// `warning` or `error`), `tool`, `message`, `detail`, `hint`, and the message's ``LogFields``.
    case json
  }

  package let tool: String
  package var verbosity: Verbosity
  package var form: Form
  package var format = Format.text
  /// Colour for the words "error" and "warning".
  package private(set) var colour: Colour
  package let descriptor: Int32
  private let isTerminal: Bool
  private let isJournal: Bool

  /// Messages on standard error.
  package init(
    tool: String, verbosity: Verbosity = .normal, form: Form = .message,
    term: String? = Environment.value("TERM"), descriptor: Int32 = 2
  ) {
    self.tool = tool
    self.verbosity = verbosity
    self.form = form
    self.descriptor = descriptor
    isTerminal = Terminal.isTerminal(descriptor)
    isJournal = Self.isJournal(descriptor)
    colour = Colour(for: descriptor, term: term)
  }

  /// The verbosity that ``Option/quiet`` and ``Option/verbose`` ask for.
  package static func verbosity(of arguments: ParsedArguments) throws(UsageError) -> Verbosity {
    try arguments.requireAtMostOne(of: "quiet", "verbose")
    if arguments.flag("quiet") { return .quiet }
    return arguments.flag("verbose") ? .verbose : .normal
  }

  /// Applies ``Option/quiet``, ``Option/verbose``, ``Option/logFormat`` and ``Option/colour``, if the command has
  /// them.
  package mutating func obey(_ arguments: ParsedArguments) throws(UsageError) {
    if arguments.options.contains(.colour), arguments.isGiven(Option.colour.name) {
      ColourChoice.current = arguments.flag(Option.colour.name) ? .always : .never
      colour = Colour(for: descriptor)
    }
    if arguments.options.contains(.logFormat),
      let word = try arguments.choice(
        Option.logFormat.name, of: Format.allCases.map(\.rawValue))
    {
      format = Format(rawValue: word) ?? .text
    }
    if arguments.options.contains(.quiet), arguments.options.contains(.verbose) {
      verbosity = try Self.verbosity(of: arguments)
    }
  }

  /// Applies ``ColourChoice`` anew, after a configuration file has been read.
  package mutating func choosePreferredColour() {
    colour = Colour(for: descriptor)
  }

  package func error(
    _ message: String, detail: String? = nil, hints: [String] = [], fields: LogFields = [:]
  ) {
    let label = colour.apply(.bold, .red, to: "error:") + " "
    emit(.error, label, message, detail, hints, fields)
  }

  package func error(
    _ message: String, detail: String? = nil, hint: String, fields: LogFields = [:]
  ) {
    error(message, detail: detail, hints: [hint], fields: fields)
  }

  package func warning(
    _ message: String, detail: String? = nil, hint: String? = nil, fields: LogFields = [:]
  ) {
    let label = colour.apply(.bold, .yellow, to: "warning:") + " "
    emit(.warning, label, message, detail, hint.map { [$0] } ?? [], fields)
  }

  /// Reports progress or a result; not shown with `--quiet`.
  package func note(
    _ message: String, detail: String? = nil, hint: String? = nil, fields: LogFields = [:]
  ) {
    guard verbosity >= .normal else { return }
    emit(.info, "", message, detail, hint.map { [$0] } ?? [], fields)
  }

  /// Reports a detail; only shown with `--verbose`.
  package func verbose(_ message: @autoclosure () -> String, fields: LogFields = [:]) {
    guard verbosity == .verbose else { return }
    emit(.debug, "", message(), nil, [], fields)
  }

  package func report(_ error: UsageError) {
    self.error(
      error.message, hints: error.hints,
      fields: ["status": .integer(Int64(ExitStatus.usage.rawValue))])
  }

  private func emit(
    _ level: LogRecord.Level, _ label: String, _ message: String, _ detail: String?,
    _ hints: [String], _ fields: LogFields
  ) {
    var text = ProgressLine.isShown ? ProgressLine.erase : ""
    let message = HiddenPasswords.text(message)
    let detail = detail.map(HiddenPasswords.text)
    let hints = hints.map(HiddenPasswords.text)
    switch format {
    case .text:
      // Messages quote text of feeds, files and servers, which must not control the terminal.
      text += Self.render(
        PrintableText.clean(message), detail: detail.map { PrintableText.clean($0) },
        hints: hints.map { PrintableText.clean($0) }, prefix: prefix(at: .now()) + label,
        colour: colour)
    case .json:
      text +=
        LogRecord(
          time: .now(), level: level, tool: tool, message: message, detail: detail, hints: hints,
          fields: fields
        ).json
    }
    if isJournal { text = Self.withPriority(level, text) }
    // One call, so that lines of two processes do not mix. If standard error is closed, the error cannot be
    // reported.
    _ = Descriptor.writeAll(text, to: descriptor)
  }

  /// Whether systemd's journal reads the descriptor. systemd names its device and inode in `JOURNAL_STREAM`.
  private static func isJournal(_ descriptor: Int32) -> Bool {
    guard let stream = Environment.value("JOURNAL_STREAM") else { return false }
    var status = stat()
    return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
  }

  /// The lines with syslog's number of the level before each, which the journal takes as the priority of the line.
  private static func withPriority(_ level: LogRecord.Level, _ text: String) -> String {
    text.split(separator: "\n").map { "<\(level.priority)>\($0)\n" }.joined()
  }

  func prefix(at time: LogTime) -> String {
    switch (form, isTerminal) {
    case (.message, _): "\(tool): "
    case (.log, true): colour.apply(.dim, to: time.timeOfDay) + " "
    case (.log, false): "\(time.iso8601) \(tool): "
    }
  }

  static func render(
    _ message: String, detail: String?, hints: [String], prefix: String, colour: Colour
  ) -> String {
    var text = prefix + indented(message) + "\n"
    let details = detail.map { [$0] } ?? []
    for (label, lines) in [("detail:", details), ("hint:", hints)] {
      for line in lines {
        text += "  \(colour.apply(.dim, to: label)) \(indented(line))\n"
      }
    }
    return text
  }

  /// Indents further lines, so that they cannot be mistaken for messages.
  private static func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n    ")
  }
}

/// One message as a JSON object, for `--log-format json`.
struct LogRecord {
  enum Level: String {
    case debug, info, warning, error

    /// The severity in syslog's numbers.
    var priority: Int {
      switch self {
      case .debug: 7
      case .info: 6
      case .warning: 4
      case .error: 3
      }
    }
  }

  let time: LogTime
  let level: Level
  let tool: String
  let message: String
  let detail: String?
  let hints: [String]
  let fields: LogFields

  /// The object on one line, with a line feed. The members that each message has come first; empty ones are
  /// null.
  var json: String {
    var text = "{\"time\":\"\(time.iso8601)\",\"level\":\"\(level.rawValue)\""
    text += ",\"tool\":" + Self.quoted(tool) + ",\"message\":" + Self.quoted(message)
    text += ",\"detail\":" + (detail.map(Self.quoted) ?? "null")
    text += ",\"hint\":" + (hints.isEmpty ? "null" : Self.quoted(hints.joined(separator: "\n")))
    for (name, value) in fields.members {
      text += "," + Self.quoted(name) + ":" + Self.encoded(value)
    }
    return text + "}\n"
  }

  private static func encoded(_ value: LogFields.FieldValue) -> String {
    switch value {
    case .text(let text): quoted(HiddenPasswords.text(text))
    case .integer(let number): "\(number)"
    case .number(let number): number.isFinite ? "\(number)" : "null"
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  /// A JSON string, cut to the length limit of messages.
  private static func quoted(_ text: String) -> String {
    EscapedText.quoted(PrintableText.cut(text, atMost: PrintableText.messageLimit))
  }
}

/// The machine-readable fields of a message, for programs that read the log. The text format omits them.
///
/// ```
/// diagnostics.note("all_hour: 7 seen", fields: ["feed": "all_hour", "seen": .integer(7)])
/// ```
///
/// A field whose value is nil is left out. Fields are stored in log files, so they must not contain secrets.
package struct LogFields: Sendable, ExpressibleByDictionaryLiteral {
  package enum FieldValue: Sendable, Equatable, ExpressibleByStringLiteral {
    case text(String)
    case integer(Int64)
    /// A number; NaN and the infinities, which JSON cannot hold, become null.
    case number(Double)
    case flag(Bool)

    package init(stringLiteral value: String) { self = .text(value) }
  }

  /// The names of the members that each message has.
  static let reserved = ["time", "level", "tool", "message", "detail", "hint"]

  private(set) var members: [(name: String, value: FieldValue)] = []

  /// Fields in this order. A name must occur once, and must not be reserved.
  package init(dictionaryLiteral elements: (String, FieldValue?)...) {
    for (name, value) in elements {
      precondition(
        !Self.reserved.contains(name) && !members.contains { $0.name == name },
        "field \(name) is there already")
      if let value { members.append((name, value)) }
    }
  }
}

struct LogTime {
  let seconds: Int
  let milliseconds: Int

  static func now() -> LogTime {
    let milliseconds = WallClock.microseconds / 1000
    return LogTime(seconds: Int(milliseconds / 1000), milliseconds: Int(milliseconds % 1000))
  }

  /// `2026-03-01T12:30:05.123Z`.
  var iso8601: String {
    var clock = seconds
    var parts = tm()
    gmtime_r(&clock, &parts)
    let fraction = MomentText.pad(Int32(milliseconds), 3)
    return "\(MomentText.date(parts))T\(MomentText.clock(parts)).\(fraction)Z"
  }

  /// `12:30:05`, in the local time zone.
  var timeOfDay: String {
    var clock = seconds
    var parts = tm()
    localtime_r(&clock, &parts)
    return MomentText.clock(parts)
  }
}
