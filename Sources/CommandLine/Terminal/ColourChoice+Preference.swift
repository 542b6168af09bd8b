extension ColourChoice {
  /// Sets the choice of a configuration file, unless an option or the environment has decided.
  public static func prefer(_ choice: ColourChoice) {
    if current == .automatic { current = choice }
  }
}
