import Glibc

/// Messages for the person at the terminal or for the log, on standard error.
///
/// ```
/// quake-ingest: error: could not read the feed
///   detail: The server answered 503.
///   hint: Try again in a minute.
/// ```
public struct Diagnostics: Sendable {
  /// How much is said.
  public enum Verbosity: Int, Sendable, Comparable {
    /// Warnings and errors.
    case quiet
    /// Notes too.
    case normal
    /// All.
    case verbose

    /// Less is before more.
    public static func < (first: Verbosity, second: Verbosity) -> Bool {
      first.rawValue < second.rawValue
    }
  }

  /// How a message begins.
  public enum Form: Sendable, Equatable {
    /// With the program's name, for one that ends soon.
    case message
    /// With the time, for one that runs on: the time of day on a terminal, elsewhere ISO 8601 in
    /// UTC and the program's name.
    case log
  }

  /// The program's name.
  public let tool: String
  /// How much is said.
  public var verbosity: Verbosity
  /// How a message begins.
  public var form: Form
  /// Colour for the words "error" and "warning".
  public let colour: Colour
  /// Where messages go.
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

  /// Something could not be done.
  public func error(_ message: String, detail: String? = nil, hints: [String] = []) {
    emit(colour.apply(.bold, .red, to: "error:") + " ", message, detail, hints)
  }

  /// Something could not be done; with one hint.
  public func error(_ message: String, detail: String? = nil, hint: String) {
    error(message, detail: detail, hints: [hint])
  }

  /// Something should be looked at.
  public func warning(_ message: String, detail: String? = nil, hint: String? = nil) {
    let label = colour.apply(.bold, .yellow, to: "warning:")
    emit(label + " ", message, detail, hint.map { [$0] } ?? [])
  }

  /// Something worth knowing; not shown with `--quiet`.
  public func note(_ message: String, detail: String? = nil, hint: String? = nil) {
    guard verbosity >= .normal else { return }
    emit("", message, detail, hint.map { [$0] } ?? [])
  }

  /// A detail of the work, shown with `--verbose` only.
  public func verbose(_ message: @autoclosure () -> String) {
    guard verbosity == .verbose else { return }
    emit("", message(), nil, [])
  }

  /// A usage error with its hints.
  public func report(_ error: UsageError) { self.error(error.message, hints: error.hints) }

  /// Messages quote what comes from feeds, files and servers: it must not steer the terminal.
  private func emit(_ label: String, _ message: String, _ detail: String?, _ hints: [String]) {
    var text = ProgressLine.isShown ? ProgressLine.erase : ""
    text += Self.render(
      PrintableText.clean(message), detail: detail.map(PrintableText.clean),
      hints: hints.map(PrintableText.clean), prefix: prefix(at: .now()) + label, colour: colour)
    // In one call, so that lines of two processes do not mix. If standard error is gone there is
    // nobody left to tell.
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
    var text = prefix + message + "\n"
    let details = detail.map { [$0] } ?? []
    for (label, lines) in [("detail:", details), ("hint:", hints)] {
      for line in lines {
        text += "  \(colour.apply(.dim, to: label)) \(indented(line))\n"
      }
    }
    return text
  }

  /// Further lines stay below the first, so that they cannot be taken for messages.
  private static func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n    ")
  }
}
