import Synchronization

/// Whether a person wants colour: by ``Option/colour``, else by the environment.
public enum ColourChoice: Int, Sendable {
  /// On a terminal that can show it.
  case automatic
  /// Everywhere, also in a pipe.
  case always
  /// Nowhere.
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
