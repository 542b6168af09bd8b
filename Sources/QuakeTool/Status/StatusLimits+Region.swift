internal import Basics
internal import CommandLine
internal import QuakeHistory

extension StatusLimits {
  /// How far a region may be behind its centre, which sends a keepalive each 30 seconds.
  private static let regionLag = Duration.seconds(90)

  /// The problems of a database that is a region.
  package func problemsOfRegion(in server: ServerFigures) -> [Problem] {
    guard let region = server.region else { return [] }
    let check = "\"quake-admin region check\" says what to do."
    guard region.isSubscribed else {
      return [
        Problem(
          message: "region \(region.name) has no subscription, and gets nothing from its centre",
          hint: """
            "quake-admin region create \(region.name) --anew" copies the centre anew; "quake-admin region drop" makes \
            this an ordinary database.
            """)
      ]
    }
    guard region.isEnabled else {
      return [
        Problem(
          message: "the subscription of region \(region.name) is disabled",
          hint:
            "Run \"alter subscription quake_region_\(region.name) enable\" when its reason is mended."
        )
      ]
    }
    if region.copying > 0 {
      return [
        Problem(
          message: """
            region \(region.name) is being copied: \(Readable.count(region.copying, "table")) to go
            """, hint: "Readers are served after that; \(check)")
      ]
    }
    guard let lag = region.lagSeconds else {
      let failures =
        region.errors == 0
        ? "" : "; its workers have failed \(Readable.count(Int(region.errors), "time"))"
      return [
        Problem(
          message: "region \(region.name) is not connected to its centre\(failures)",
          hint: "The log of this server has the reason; \(check)")
      ]
    }
    guard Duration(lag: lag) > Self.regionLag else { return [] }
    return [
      Problem(
        message:
          "region \(region.name) is \(Readable.duration(Duration(lag: lag))) behind its centre",
        hint: "Look at the network, and at the disk and the load of this server; \(check)")
    ]
  }
}
