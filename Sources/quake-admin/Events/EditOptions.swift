import CommandLine
import QuakeQuery
import QuakeTool

/// The options of all batch edits, besides those that select events.
struct EditOptions {
  static let options: [Option] = [
    .flag("dry-run", help: "print the number of events and the first of them; change nothing")
      .onCommandLineOnly(),
    Consent.option,
    .value("author", "NAME", default: "quake-admin", help: "author of the changes, in the history")
      .onCommandLineOnly(),
    .value(
      "context", "TEXT", default: "the action and the number of the edit",
      help: "why, in the history"
    ).onCommandLineOnly(),
    .flag("json", help: "print the result as a JSON object").onCommandLineOnly(),
  ]

  let isDryRun: Bool
  let consent: Consent
  let isJSON: Bool
  let author: EditAuthor

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    isDryRun = arguments.flag("dry-run")
    isJSON = arguments.flag("json")
    for (name, most) in [("author", 200), ("context", 2000)] {
      guard let text = arguments.string(name) else { continue }
      guard text.unicodeScalars.count <= most, !text.utf8.contains(0) else {
        throw arguments.invalidValue(
          String(text.prefix(40)) + "…", for: name, expected: "at most \(most) characters")
      }
    }
    author = EditAuthor(
      program: "\(diagnostics.tool) \(productVersion)",
      author: arguments.string("author") ?? diagnostics.tool,
      context: arguments.string("context"))
    consent = try Consent(arguments, diagnostics)
  }
}
