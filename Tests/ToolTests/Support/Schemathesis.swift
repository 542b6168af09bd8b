import Foundation
import TestSupport

/// The program schemathesis from PyPI, which tests a server by its OpenAPI document.
enum Schemathesis {
  /// Its path; nil if it cannot be installed.
  static let program: String? = {
    let environment = ProcessInfo.processInfo.environment
    // pip keeps its cache in the home folder.
    let outcome = try? Tools.shell(
      "exec '\(Tools.package)/deploy/schemathesis.sh'",
      environment: environment.filter { ["HOME", "QUAKE_SCHEMATHESIS"].contains($0.key) })
    guard let outcome, outcome.status == 0 else { return nil }
    return outcome.lines.last
  }()

  static let isMissing = "could not install schemathesis from PyPI"
}
