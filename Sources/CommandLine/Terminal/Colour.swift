/// A style of text on a terminal.
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

/// Applies styles to text, or returns it unchanged if colour is off.
public struct Colour: Sendable, Equatable {
  /// Whether styles are applied.
  public let isEnabled: Bool

  /// Colour on or off.
  public init(isEnabled: Bool) { self.isEnabled = isEnabled }

  /// Colour on, if the descriptor is a terminal that can show it and `noColor` is empty, unless the person has
  /// decided otherwise (``ColourChoice``).
  ///
  /// `noColor` is the value of the environment variable `NO_COLOR`, `term` that of `TERM`.
  public init(for descriptor: Int32, noColor: String?, term: String? = nil) {
    isEnabled =
      switch ColourChoice.current {
      case .always: true
      case .never: false
      case .automatic:
        Terminal.isTerminal(descriptor) && (noColor ?? "").isEmpty && term != "dumb"
      }
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
