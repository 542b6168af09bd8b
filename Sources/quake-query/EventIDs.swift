import CommandLine
import QuakeModel
import QuakeTool

/// The events that a command names: as arguments, or on standard input (`-`), one id a line.
enum EventIDs {
  static let positional = Positional(
    "ID", .oneOrMore, help: "any id that the event has or had; - reads ids, one a line")

  /// The most ids on standard input.
  private static let most = 1_000_000

  /// Calls `body` with each id, in order.
  static func forEach(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, _ body: (String) throws -> Void
  ) throws {
    guard arguments.positionals.count(where: { $0 == "-" }) <= 1 else {
      throw arguments.usageError("- is given twice")
    }
    for id in arguments.positionals {
      guard id == "-" else {
        try body(id)
        continue
      }
      TerminalInput.announce("ids, one a line,", diagnostics)
      var reader = CodeReader()
      var count = 0
      while let id = try reader.next() {
        count += 1
        guard count <= most else {
          throw StoreError(
            .badData, "standard input has more than \(Readable.count(most)) ids",
            hint: "Divide the list among several commands.")
        }
        try body(id)
      }
    }
  }
}
