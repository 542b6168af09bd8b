import Foundation
import TestSupport
import Testing

/// The units for systemd, as far as systemd can check them without running them.
@Suite(
  .enabled(
    if: (try? Tools.shell("systemd-analyze --version").status == 0) == true,
    "there is no systemd-analyze"))
struct UnitFileTests {
  private static let services = [
    "quake-ingest.service", "quake-status.service", "quake-serve.service",
    "quake-consumers.service",
  ]

  @Test(arguments: services + ["quake-status.timer"]) func unitFilesAreValid(_ name: String) throws
  {
    let folder = try TemporaryFolder()
    // The timer needs its service, too. The programs are where they were built.
    for file in Set([name, "quake-status.service"]) {
      let text = try contents(of: "\(Tools.package)/deploy/\(file)")
      try folder.write(file, text.replacing("/usr/local/bin/", with: Tools.folder + "/"))
    }
    try Tools.shell("systemd-analyze verify --man=no \(name)", folder: folder.path).expect(
      0, errors: "")
  }

  /// Exposure of at most 2.0, on systemd's scale of 0 (nothing is exposed) to 10.
  @Test(arguments: services) func servicesAreConfined(_ name: String) throws {
    try Tools.shell(
      "systemd-analyze security --no-pager --offline=true --threshold=20 deploy/\(name)",
      folder: Tools.package
    ).expect(0)
  }

  /// The collector of node_exporter reads the metrics as another user, and the umask decides who may.
  @Test(arguments: services) func otherUsersReadTheMetricsOfAService(_ name: String) throws {
    let unit = try contents(of: "\(Tools.package)/deploy/\(name)")
    guard unit.contains("/node-exporter") else { return }
    #expect(unit.contains("\nUMask=0022\n"))
  }

  /// The statuses of which docs/runbook.md says: "Do not retry."
  @Test(arguments: [
    "deploy/quake-ingest.service", "deploy/quake-serve.service", "deploy/quake-consumers.service",
    "deploy/packages/deb/quake-migrate.service",
  ])
  func unitsDoNotRetryAfterStatusesThatArePermanent(_ file: String) throws {
    let unit = try contents(of: "\(Tools.package)/\(file)")
    #expect(unit.contains("\nRestartPreventExitStatus=64 65 77 78\n"))
    #expect(unit.contains("\nRestart=on-failure\n"))
  }
}
