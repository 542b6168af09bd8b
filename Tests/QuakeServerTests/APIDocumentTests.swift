import Foundation
import Postgres
import TestSupport
import Testing

@testable import QuakeServer

/// docs/http-api.md has the routes as they are. `QUAKE_WRITE_DOCS=1` rewrites its reference.
@Suite struct APIDocumentTests {
  private static let path = Tools.package + "/docs/http-api.md"
  private static let begin =
    "<!-- routes: made from the table of routes; QUAKE_WRITE_DOCS=1 writes it anew -->\n"
  private static let end = "<!-- end of routes -->"

  @Test func theReferenceHasTheRoutesAsTheyAre() throws {
    let settings = ConnectionSettings("host=/nonexistent", applicationName: "tests")
    let (streams, alerts) = (
      try ChangeStreams(settings), try AlertStreams(settings, StreamSettings()) { _ in }
    )
    let reference = Self.reference(
      APIService(version: "").routes + ConsumerService(streams, alerts).routes)
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    let start = try #require(text.range(of: Self.begin))
    let stop = try #require(text.range(of: Self.end, range: start.upperBound..<text.endIndex))
    if ProcessInfo.processInfo.environment["QUAKE_WRITE_DOCS"] == "1" {
      try text.replacingCharacters(in: start.upperBound..<stop.lowerBound, with: reference)
        .write(toFile: Self.path, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start.upperBound..<stop.lowerBound] == reference)
    }
  }

  private static func reference(_ routes: [Route]) -> String {
    // Tables of the same parameters are printed once.
    var known: [String: String] = [:]
    return routes.map { route in
      let operation = route.operation
      let title = "### `\(route.method.rawValue) \(route.path)`\n\n"
      let access = route.access != .open ? " Needs a token." : ""
      let first = operation.summary.prefix(1).uppercased() + operation.summary.dropFirst()
      let description = operation.description.map { " " + $0 } ?? ""
      let answers = operation.answers.map { "- \($0.status): \($0.summary)" }
      return title + wrapped("\(first).\(access)\(description)") + "\n\n"
        + parameters(of: route, &known) + answers.joined(separator: "\n") + "\n\n"
    }.joined()
  }

  private static func parameters(of route: Route, _ known: inout [String: String]) -> String {
    let operation = route.operation
    // The conditions on events are those of the list.
    let shared = Set(
      operation.parameters.filter { known[$0.name] == $0.summary }.map(\.name))
    let rows = operation.parameters.filter { !shared.contains($0.name) }
    for parameter in operation.parameters where known[parameter.name] == nil {
      known[parameter.name] = parameter.summary
    }
    var text = ""
    if !rows.isEmpty {
      text += "| Parameter | Meaning | Example |\n| --- | --- | --- |\n"
      for parameter in rows {
        let example = parameter.example.map { "`\($0)`" } ?? ""
        let summary = parameter.summary.replacingOccurrences(of: "|", with: "\\|")
        text += "| `\(parameter.name)` | \(summary) | \(example) |\n"
      }
      text += "\n"
    }
    if !shared.isEmpty {
      let names = operation.parameters.map(\.name).filter(shared.contains).map { "`\($0)`" }
      text += wrapped("As above: \(names.joined(separator: ", ")).") + "\n\n"
    }
    return text
  }

  /// Lines of at most 110 characters.
  private static func wrapped(_ text: String) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].count + word.count >= 110 { lines.append("") }
      lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
    }
    return lines.joined(separator: "\n")
  }
}
