import CommandLine
import QuakeSchema
import QuakeTool

/// `quake-admin postgis`: adds or removes the geometry of the events.
enum PostGISCommand {
  static let table = Command(
    "postgis", purpose: "add or remove the points of the events for programs that read PostGIS",
    subcommands: [
      Command(
        "enable", purpose: "add the column geom with an index, and the view quake.quake_point",
        discussion: """
          The column is generated from longitude and latitude (EPSG:4326). The server needs PostGIS. \
          The command rewrites the table while importers and readers wait: about 10 s for 1,000,000 \
          events. Afterwards each import also writes the new index.
          """,
        examples: [.init("quake-admin postgis enable", "add the points")]),
      Command(
        "disable", purpose: "remove the view, the index and the column",
        discussion: "The extension stays. No event is lost.",
        examples: [.init("quake-admin postgis disable", "remove the points")]),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    let isEnabling = arguments.subcommand.last == "enable"
    let isChanged =
      isEnabling ? try PostGIS.enable(over: connection) : try PostGIS.disable(over: connection)
    let output = StandardOutput()
    switch (isEnabling, isChanged) {
    case (true, true):
      try output.writeResult("the view quake.quake_point shows the events as points", diagnostics)
    case (true, false): try output.writeResult("it was enabled already", diagnostics)
    case (false, true): try output.writeResult("removed the points", diagnostics)
    case (false, false): try output.writeResult("it was not enabled", diagnostics)
    }
    try output.flush()
    return .ok
  }
}
