import TestSupport
import Testing

/// An example of a configuration file in `deploy`, with the options that are commented out in it.
struct ExampleFile {
  let text: String

  init(_ name: String) throws {
    text = try contents(of: Tools.package + "/deploy/" + name).replacing(
      #/(?m)^#(?=[a-z-]+ = )/#, with: "")
  }

  /// Expects that it names each option of a command that a file may give.
  func expectEveryOption(of tool: String, _ arguments: String...) throws {
    let help = try Tools.run(tool, arguments + ["--help"]).lines
    let options = help.compactMap { line in
      line.prefixMatch(of: #/ {2,6}(?:-., )?--([a-z-]+)/#).map { String($0.1) }
    }
    let keys = Set(text.matches(of: #/(?m)^([a-z-]+) = /#).map { String($0.1) })
    for option in Set(options).subtracting([
      "config", "color", "help", "version", "man", "completions",
    ]) {
      let positive = option.hasPrefix("no-") ? String(option.dropFirst(3)) : option
      #expect(keys.contains(positive), "\(option) is not in the example")
    }
  }
}
