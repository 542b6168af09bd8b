/// A way to set text off on a terminal.
public enum TextStyle: Sendable, Equatable, CaseIterable {
  /// Green.
  case green
  /// Yellow.
  case yellow
  /// Orange, from the 256 colours: the basic ones have none.
  case orange
  /// Red.
  case red
  /// Magenta.
  case magenta
  /// Bold.
  case bold
  /// Dim.
  case dim

  /// The parameter of the ANSI sequence that starts the style.
  var parameter: String {
    switch self {
    case .green: "32"
    case .yellow: "33"
    case .orange: "38;5;208"
    case .red: "31"
    case .magenta: "35"
    case .bold: "1"
    case .dim: "2"
    }
  }
}

/// Colours text, or leaves it as it is when colour is not wanted.
public struct Colour: Sendable, Equatable {
  /// Whether styles are applied.
  public let isEnabled: Bool

  /// Colour on or off.
  public init(isEnabled: Bool) { self.isEnabled = isEnabled }

  /// Colour if the descriptor is a terminal that can show it and the user does not object.
  ///
  /// `noColor` is the value of the environment variable `NO_COLOR`, which objects unless it is
  /// empty; `term` is that of `TERM`.
  public init(for descriptor: Int32, noColor: String?, term: String? = nil) {
    isEnabled =
      Terminal.isTerminal(descriptor) && (noColor ?? "").isEmpty && term != "dumb"
  }

  /// The text in the given styles.
  public func apply(_ styles: TextStyle..., to text: String) -> String {
    apply(styles, to: text)
  }

  func apply(_ styles: [TextStyle], to text: String) -> String {
    guard isEnabled, !styles.isEmpty, !text.isEmpty else { return text }
    return "\u{1B}[\(styles.map(\.parameter).joined(separator: ";"))m\(text)\u{1B}[0m"
  }
}
