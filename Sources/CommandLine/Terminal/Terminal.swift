import Glibc
import Synchronization

package enum Terminal {
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The terminal's width in columns, or nil if the descriptor is not a terminal or the width is unknown.
  package static func columns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}

package enum TextStyle: Sendable, Equatable, CaseIterable {
  case green
  case yellow
  /// Orange, from the 256 colours: the basic ones have none.
  case orange
  case red
  case magenta
  case bold
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
package struct Colour: Sendable, Equatable {
  package let isEnabled: Bool

  package init(isEnabled: Bool) { self.isEnabled = isEnabled }

  /// Colour on, if the descriptor is a terminal that can show it, unless the person has decided otherwise
  /// (``ColourChoice``).
  package init(for descriptor: Int32, term: String? = Environment.value("TERM")) {
    isEnabled =
      switch ColourChoice.current {
      case .always: true
      case .never: false
      case .automatic: Terminal.isTerminal(descriptor) && term != "dumb"
      }
  }

  package func apply(_ styles: TextStyle..., to text: String) -> String {
    apply(styles, to: text)
  }

  func apply(_ styles: [TextStyle], to text: String) -> String {
    guard isEnabled, !styles.isEmpty, !text.isEmpty else { return text }
    return "\u{1B}[\(styles.map(\.parameter).joined(separator: ";"))m\(text)\u{1B}[0m"
  }
}

/// Whether a person wants colour: by ``Option/colour``, else by the environment.
package enum ColourChoice: Int, Sendable {
  /// On a terminal that can show it.
  case automatic
  /// Everywhere, also in a pipe.
  case always
  case never

  private static let value = Atomic<Int>(automatic.rawValue)

  /// The choice for this process: `Program` sets it before anything is printed.
  static var current: ColourChoice {
    get { ColourChoice(rawValue: value.load(ordering: .relaxed)) ?? .automatic }
    set { value.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// The choice of the environment, by the values of `NO_COLOR` and `CLICOLOR_FORCE`; the first has precedence.
  init(noColor: String?, force: String?) {
    if let noColor, !noColor.isEmpty {
      self = .never
    } else if let force, !force.isEmpty, force != "0" {
      self = .always
    } else {
      self = .automatic
    }
  }
}

extension ColourChoice {
  /// Sets the choice of a configuration file, unless an option or the environment has decided.
  package static func prefer(_ choice: ColourChoice) {
    if current == .automatic { current = choice }
  }
}

package enum Confirmation {
  /// Whether standard input and standard error, which shows the question, are terminals.
  package static var isPossible: Bool { Terminal.isTerminal(0) && Terminal.isTerminal(2) }

  /// Asks a question; every answer except "y" and "yes" is no.
  package static func ask(_ question: String) -> Bool {
    guard Descriptor.writeAll(PrintableText.clean(question) + " [y/N] ", to: 2) == nil else {
      return false
    }
    var line = [UInt8](repeating: 0, count: 256)
    let count = read(0, &line, line.count)
    guard count > 0 else { return false }
    let answer = line[..<count].filter { $0 > 0x20 }.map { $0 | 0x20 }
    return answer == Array("y".utf8) || answer == Array("yes".utf8)
  }
}
