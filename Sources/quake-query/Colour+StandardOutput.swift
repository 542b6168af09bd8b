import CommandLine

extension Colour {
  /// Colour on, if standard output is a terminal that can show it, also through a pager.
  static var ofStandardOutput: Colour {
    Colour(for: 1, noColor: Environment.value("NO_COLOR"), term: Environment.value("TERM"))
  }
}
