import Glibc

/// Messages for the person at the terminal or for the log, on standard error.
///
/// ```
/// quake-ingest: error: could not read the feed
///   detail: The server answered 503.
///   hint: Try again in a minute.
/// ```
public struct Diagnostics: Sendable {
  /// Which messages are printed.
  public enum Verbosity: Int, Sendable, Comparable {
    /// Warnings and errors.
    case quiet
    /// Notes too.
    case normal
    /// All.
    case verbose

    /// Quiet is less than normal, and normal less than verbose.
    public static func < (first: Verbosity, second: Verbosity) -> Bool {
      first.rawValue < second.rawValue
    }
  }

  /// How a message begins.
  public enum Form: Sendable, Equatable {
    /// With the program's name, for a program that ends soon.
    case message
    /// With the time, for a program that runs for long: the time of day on a terminal, else ISO 8601 in UTC
    /// and the program's name.
    case log
  }

  /// The format of messages.
  public enum Format: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// For programs: a JSON object a line, with `time` (RFC 3339, UTC), `level` (`debug`, `info`,
    /// `warning` or `error`), `tool`, `message`, `detail`, `hint`, and the message's ``LogFields``.
    case json
  }

  /// The program's name.
  public let tool: String
  /// Which messages are printed.
  public var verbosity: Verbosity
  /// How a message begins.
  public var form: Form
  /// The format of messages.
  public var format = Format.text
  /// Colour for the words "error" and "warning".
  public private(set) var colour: Colour
  /// The file descriptor that messages are written to.
  public let descriptor: Int32
  private let isTerminal: Bool

  /// Messages on standard error.
  ///
  /// `noColor` is the value of the environment variable `NO_COLOR`.
  public init(
    tool: String, verbosity: Verbosity = .normal, form: Form = .message,
    noColor: String? = nil, term: String? = nil, descriptor: Int32 = 2
  ) {
    self.tool = tool
    self.verbosity = verbosity
    self.form = form
    self.descriptor = descriptor
    isTerminal = Terminal.isTerminal(descriptor)
    colour = Colour(for: descriptor, noColor: noColor, term: term)
  }

  /// The verbosity that ``Option/quiet`` and ``Option/verbose`` ask for.
  public static func verbosity(of arguments: ParsedArguments) throws(UsageError) -> Verbosity {
    try arguments.requireAtMostOne(of: "quiet", "verbose")
    if arguments.flag("quiet") { return .quiet }
    return arguments.flag("verbose") ? .verbose : .normal
  }

  /// Applies ``Option/quiet``, ``Option/verbose``, ``Option/logFormat`` and ``Option/colour``, if the command has
  /// them.
  public mutating func obey(_ arguments: ParsedArguments) throws(UsageError) {
    if arguments.options.contains(.colour), arguments.isGiven(Option.colour.name) {
      ColourChoice.current = arguments.flag(Option.colour.name) ? .always : .never
      colour = Colour(for: descriptor, noColor: nil)
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
  public mutating func choosePreferredColour() {
    colour = Colour(
      for: descriptor, noColor: Environment.value("NO_COLOR"), term: Environment.value("TERM"))
  }

  /// Reports an error.
  public func error(
    _ message: String, detail: String? = nil, hints: [String] = [], fields: LogFields = [:]
  ) {
    let label = colour.apply(.bold, .red, to: "error:") + " "
    emit(.error, label, message, detail, hints, fields)
  }

  /// Reports an error with one hint.
  public func error(
    _ message: String, detail: String? = nil, hint: String, fields: LogFields = [:]
  ) {
    error(message, detail: detail, hints: [hint], fields: fields)
  }

  /// Reports something that may need attention.
  public func warning(
    _ message: String, detail: String? = nil, hint: String? = nil, fields: LogFields = [:]
  ) {
    let label = colour.apply(.bold, .yellow, to: "warning:") + " "
    emit(.warning, label, message, detail, hint.map { [$0] } ?? [], fields)
  }

  /// Reports progress or a result; not shown with `--quiet`.
  public func note(
    _ message: String, detail: String? = nil, hint: String? = nil, fields: LogFields = [:]
  ) {
    guard verbosity >= .normal else { return }
    emit(.info, "", message, detail, hint.map { [$0] } ?? [], fields)
  }

  /// Reports a detail; only shown with `--verbose`.
  public func verbose(_ message: @autoclosure () -> String, fields: LogFields = [:]) {
    guard verbosity == .verbose else { return }
    emit(.debug, "", message(), nil, [], fields)
  }

  /// Reports a usage error with its hints.
  public func report(_ error: UsageError) {
    self.error(
      error.message, hints: error.hints,
      fields: ["status": .integer(Int64(ExitStatus.usage.rawValue))])
  }

  private func emit(
    _ level: LogRecord.Level, _ label: String, _ message: String, _ detail: String?,
    _ hints: [String], _ fields: LogFields
  ) {
    var text = ProgressLine.isShown ? ProgressLine.erase : ""
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
    // One call, so that lines of two processes do not mix. If standard error is closed, the error cannot be
    // reported.
    _ = Descriptor.writeAll(text, to: descriptor)
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
