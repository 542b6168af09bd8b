import Foundation
import TestSupport

/// Scenes in headless Chromium, which a Python program drives: one browser for all scenes of a run.
enum BrowserScenes {
  struct Result {
    let passed: Bool
    let seconds: String
    let text: String
  }

  /// The Python that has selenium and axe; nil if they, Chromium or chromedriver are missing.
  static let python = InstalledProgram.path(from: "browser.sh", variable: "QUAKE_BROWSER")

  static let isMissing =
    "could not find Chromium and chromedriver, or could not install selenium and axe from PyPI"

  /// Plays the scenes of parts on a database. Scenes that did not run are not in the result.
  static func play(
    _ parts: [String], on database: TestDatabase, patience: Duration = .seconds(1800),
    environment more: [String: String] = [:]
  ) throws -> [String: Result] {
    let folder = try TemporaryFolder()
    let words = [
      python ?? "", Tools.package + "/Tests/ToolTests/Page/Scenes/run.py", Tools.folder,
      Tools.psql, database.conninfo, parts.joined(separator: ","),
    ]
    let environment = ProcessInfo.processInfo.environment.filter {
      ["QUAKE_SOAK", "QUAKE_SCREENSHOTS"].contains($0.key)
    }
    let process = try Tools.startShell(
      words.map { "'\($0)'" }.joined(separator: " "),
      environment: environment.merging(more) { $1 }
        .merging(["HOME": folder.path, "PYTHONDONTWRITEBYTECODE": "1"]) { $1 })
    let outcome = try process.exit(within: patience)
    var results: [String: Result] = [:]
    for line in outcome.lines {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      guard words.count >= 3 else { continue }
      print("page: \(line)")
      results[words[1]] = Result(
        passed: words[0] == "ok", seconds: words[2], text: words.count > 3 ? words[3] : "")
    }
    if outcome.status != 0 || results.isEmpty {
      throw ToolProcess.Failure(description: "the scenes ended: \(outcome.errors)")
    }
    return results
  }
}
