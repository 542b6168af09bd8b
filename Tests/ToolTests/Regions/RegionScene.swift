import Postgres
import TestSupport
import Testing

/// A centre and a region, each a database of a server of its own.
struct RegionScene {
  let centre: TestDatabase
  let region: TestDatabase
  /// The region's name: slots belong to the server, which other tests use, too.
  let name: String

  var subscription: String { "quake_region_\(name)" }

  /// Databases without events, which have nothing to do with each other yet.
  init() throws {
    centre = try TestDatabase(on: .centre)
    region = try TestDatabase(on: .region)
    name = region.name
  }

  /// A region that has the copy of its centre.
  static func made() throws -> RegionScene {
    let scene = try RegionScene()
    try scene.write(3)
    try scene.create().requireSuccess()
    return scene
  }

  /// Runs a subcommand of `quake-admin region` at the region.
  func run(_ arguments: String...) throws -> ToolProcess.Outcome {
    try region.run("quake-admin", ["region"] + arguments)
  }

  func create(_ options: String...) throws -> ToolProcess.Outcome {
    try region.run(
      "quake-admin", ["region", "create", name, "--centre", centre.conninfo] + options)
  }

  /// Makes the subscription by hand.
  func subscribe(_ connection: Connection, with options: String) throws {
    try connection.run(
      """
      create subscription \(subscription) connection '\(centre.conninfo.replacing("'", with: "''"))'
        publication quake_region, quake_region_history with (\(options))
      """)
  }

  /// Commits events at the centre, one in a transaction.
  func write(_ count: Int) throws {
    let connection = try centre.connect()
    for _ in 0..<count {
      try connection.execute(
        """
        insert into quake.quake (code, time, magnitude)
        select 'us' || count(*) + 1, timestamptz '2026-11-20 12:00Z' + count(*) * interval '1 min', 3
          from quake.quake
        """)
    }
  }

  /// Waits until the region has all that the centre has committed.
  func waitForRegion() throws {
    let newest = try centre.value("select quake.latest_token()")
    try eventually("the region has \(newest)") {
      try region.value("select quake.latest_token()") == newest
    }
  }

  /// The state of a line of `region check`, and what it found.
  func check(_ check: String) throws -> (state: String, found: String, next: String?) {
    let outcome = try run("check", "--json")
    for line in try outcome.lines.map(JSONLine.init) where line.string("check") == check {
      return (
        line.string("state") ?? "", line.string("found") ?? "", line.string("next")
      )
    }
    throw ToolProcess.Failure(description: "no line \(check): \(outcome.output)\(outcome.errors)")
  }

  /// Waits until `region check` has nothing to object to.
  func waitUntilWell() throws {
    var last = ""
    do {
      try eventually("the region is well") {
        let outcome = try run("check", "--quiet")
        last = outcome.output + outcome.errors
        return outcome.status == 0
      }
    } catch {
      throw ToolProcess.Failure(description: "\(error)\n\(last)")
    }
  }

  /// The output of a tool at the centre and at the region.
  func both(_ tool: String, _ arguments: String...) throws -> (centre: String, region: String) {
    let outcomes = try [centre, region].map { try Tools.succeed(tool, arguments + $0.option) }
    return (outcomes[0].output, outcomes[1].output)
  }
}
