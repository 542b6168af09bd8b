import Basics
import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

/// `quake-admin associations prefer` and `settings`.
enum AssociationOptions {
  static func prefer(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let region = try FilterOptions.box("box", arguments)
    let sources = try sources(arguments)
    let removes = arguments.flag("remove")
    guard !removes || sources == nil else {
      throw arguments.usageError("option --remove cannot be used with sources")
    }
    guard removes || sources != nil || region == nil else {
      throw arguments.usageError("--box needs sources, or --remove")
    }
    guard !removes || region != nil else {
      throw arguments.usageError("--remove needs --box; the general order can only be replaced")
    }
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(answerTimeout: .seconds(60))
    if removes {
      guard try SourcePreference.remove(region, over: connection) else {
        diagnostics.error(
          "no sources are preferred in this region",
          hint: "\"quake-admin associations prefer\" lists the regions.")
        return .failed
      }
      diagnostics.note("removed the list of this region")
    } else if let sources {
      try SourcePreference.set(sources, in: region, over: connection)
      let place = region == nil ? "everywhere" : "in this region"
      diagnostics.note("preferred \(place): \(sources.joined(separator: ", "))")
      try warn(ofSourcesWithoutEventsAmong: sources, over: connection, diagnostics)
    }
    if removes || sources != nil {
      guard try AssociationSettings(over: connection).isEnabled else { return .ok }
      let associations = Associations(
        connection: connection, author: arguments.string("author") ?? diagnostics.tool)
      try associations.noteAll()
      try associations.update()
      return .ok
    }
    try AssociationOutput(isJSON: arguments.flag("json"))
      .write(SourcePreference.list(over: connection))
    return .ok
  }

  /// Warns of misspelt sources. One whose events come later is fine.
  private static func warn(
    ofSourcesWithoutEventsAmong sources: [String], over connection: Connection,
    _ diagnostics: Diagnostics
  ) throws {
    let known = try SourcePreference.sources(over: connection)
    for source in sources where !known.contains(source) {
      diagnostics.warning(
        "there are no events of source '\(source)' yet",
        hint: Suggestion.nearest(to: source, among: known).map { "did you mean '\($0)'?" })
    }
  }

  private static func sources(_ arguments: ParsedArguments) throws -> [String]? {
    guard let text = arguments.positional("SOURCE,...") else { return nil }
    let sources = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard (1...100).contains(sources.count), Set(sources).count == sources.count,
      sources.allSatisfy({ (1...256).contains($0.utf8.count) && !$0.utf8.contains(0) })
    else {
      throw arguments.usageError(
        "invalid sources '\(String(text.prefix(40)))': expected at most 100 different names separated by commas, such as usgs,emsc"
      )
    }
    return sources
  }

  static func settings(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let time = try arguments.duration("time", in: .milliseconds(1) ... .seconds(600))
    let distance = try arguments.double("distance", in: 0.001...2000)
    let magnitude = try arguments.double("magnitude", in: 0.001...22)
    let loose = try arguments.double("loose", in: 1...10)
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(answerTimeout: .seconds(60))
    let isResult = time != nil || distance != nil || magnitude != nil || loose != nil
    let settings = try connection.transaction(readOnly: !isResult) { () -> AssociationSettings in
      var settings = try AssociationSettings(over: connection)
      let before = settings
      if let time { settings.timeWindow = time.inSeconds }
      if let distance { settings.distanceWindow = distance }
      if let magnitude { settings.magnitudeWindow = magnitude }
      if let loose { settings.looseFactor = loose }
      if settings != before { try settings.write(over: connection) }
      return settings
    }
    // Asked for, unless the command has set something.
    let output = AssociationOutput(isJSON: arguments.flag("json"))
    if !isResult || output.isJSON || diagnostics.verbosity > .quiet { try output.write(settings) }
    return .ok
  }
}
