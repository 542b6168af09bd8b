import Foundation
import TestSupport

/// Programs from PyPI that read exports and from USGS's services: ObsPy, usgs-libcomcat, Home Assistant's client, GDAL,
/// pandas, feedparser.
enum Clients {
  /// The Python that has them; nil if they cannot be installed.
  static let python: String? = {
    let script = Tools.package + "/deploy/clients.sh"
    let environment = ProcessInfo.processInfo.environment
    // pip keeps its cache in the home folder.
    let outcome = try? Tools.shell(
      "exec '\(script)'",
      environment: environment.filter { ["HOME", "QUAKE_CLIENTS"].contains($0.key) })
    guard let outcome, outcome.status == 0 else { return nil }
    return outcome.lines.last
  }()

  static let isMissing = "could not install ObsPy, usgs-libcomcat and other clients from PyPI"
}
