import Basics
import CommandLine
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

/// The options that `run`, `import` and `backfill` have in common.
struct ImportSettings {
  let author: String
  let policy: MergePolicy
  let commitEvery: Int?
  private let isStrict: Bool
  let mixesSimulated: Bool
  let isDryRun: Bool
  let generated: Timestamp?
  /// The data centre of FDSN text; nil: the URL tells.
  let centre: DataCentre?
  let clientOptions: FeedClient.Options
  /// The most bytes of any body, if the user has set a limit.
  private let maximumBody: Int?

  init(_ arguments: ParsedArguments) throws {
    author = arguments.string("author") ?? "quake-ingest"
    policy =
      try arguments.choice("merge", of: MergePolicy.allCases.map(\.rawValue))
      .flatMap { MergePolicy(rawValue: $0) } ?? .incoming
    let command = arguments.subcommand.first
    commitEvery = command == "backfill" ? nil : try arguments.integer("commit-every", in: 1...)
    maximumBody = arguments.takes("max-body") ? try arguments.size("max-body") : nil
    var client = try Self.clientOptions(arguments)
    client.maximumBodyBytes = maximumBody ?? IngestCommand.longestBody(of: command)
    clientOptions = client
    isStrict = arguments.flag("strict")
    mixesSimulated = arguments.flag("mix-simulated")
    isDryRun = command == "backfill" ? false : arguments.flag("dry-run")
    centre = command == "import" || command == "backfill" ? try Self.centre(arguments) : nil
    generated = command == "import" ? try arguments.time("generated") : nil
  }

  private static func clientOptions(_ arguments: ParsedArguments) throws -> FeedClient.Options {
    func milliseconds(_ name: String, atMost limit: Duration) throws -> Int? {
      guard arguments.takes(name) else { return nil }
      return try arguments.duration(name, in: .milliseconds(1)...limit).map { Int($0.pollTimeout) }
    }
    var options = FeedClient.Options(version: productVersion)
    if let timeout = try milliseconds("timeout", atMost: .seconds(86_400)) {
      options.setStallTimeout(.milliseconds(timeout))
    }
    options.downloadTimeoutMilliseconds =
      try milliseconds("download-timeout", atMost: .seconds(7 * 86_400))
      ?? Int(IngestCommand.downloadTimeout(of: arguments.subcommand.first).pollTimeout)
    options.totalTimeoutMilliseconds =
      arguments.takes("total-timeout")
      ? try milliseconds("total-timeout", atMost: .seconds(30 * 86_400))
        ?? Int(IngestCommand.totalTimeout(of: arguments.subcommand.first).pollTimeout) : nil
    options.trustsRedirects =
      arguments.takes("allow-any-redirect") && arguments.flag("allow-any-redirect")
    options.mayUseProxy = Environment.namesProxy
    return options
  }

  private static func centre(_ arguments: ParsedArguments) throws -> DataCentre? {
    guard let name = arguments.string("source") else { return nil }
    guard let centre = DataCentre(name: name) else {
      throw arguments.invalidValue(
        name, for: "source",
        expected: "up to 64 lower-case letters, digits, dots, hyphens or underscores")
    }
    return centre
  }

  func readerOptions(for reference: FeedReference) -> FeedReader.Options {
    var options = FeedReader.Options()
    options.strict = isStrict
    // A file of the user's own may be any catalogue.
    options.maximumBytes = reference.isURL ? clientOptions.maximumBodyBytes : maximumBody
    options.centre = centre
    return options
  }

  func importOptions(for reference: FeedReference, program: String) -> ImportOptions {
    var options = ImportOptions(
      source: reference.description, feed: reference.name, program: "\(program) \(productVersion)",
      author: author)
    options.policy = policy
    options.commitEvery = commitEvery
    options.dryRun = isDryRun
    options.mixesSimulated = mixesSimulated
    options.generated = generated
    return options
  }
}

struct JudgingOptions {
  static let options: [Option] = [
    .flag("force", help: "apply every snapshot, however bad, and withdraw nothing"),
    .value(
      "max-implausible", "SHARE", default: "0.1",
      help: "quarantine a snapshot if a larger share of its events has implausible times"),
    .value(
      "max-missing", "SHARE", default: "0.3",
      help: "quarantine a snapshot if it lacks a larger share of the events it should hold"),
    .value(
      "longest-silence", "DURATION",
      help: """
        for feeds of all magnitudes that cover at least a day: quarantine a snapshot that was generated \
        more than this after its newest event; by default 3h for replay, no limit for run
        """),
    .value(
      "withdraw-after", "N", default: "3",
      help: "withdraw an event that N good snapshots in a row lack; 0: never"),
    .value(
      "keep-quarantined", "AGE", default: "30d",
      help: "delete the bodies of quarantined snapshots when they are older"),
  ]

  /// For commands that can request an event's own page.
  static let confirmation = Option.flag(
    "confirm-withdrawals",
    help: "withdraw an event only if the server reports that it was deleted (HTTP status 409)")

  /// Nil: snapshots are not judged.
  private let limits: SnapshotLimits?

  /// The number of absences after which an event's page is requested; nil: it is not.
  var confirmedAfter: Int? {
    limits.flatMap { $0.onlyCountsAbsences ? $0.withdrawnAfter : nil }
  }

  init(_ arguments: ParsedArguments, longestSilence: Duration? = nil, refusesOlder: Bool) throws {
    guard !arguments.flag("force"), !arguments.isGiven("commit-every") else {
      limits = nil
      return
    }
    var limits = SnapshotLimits()
    limits.implausibleTimes =
      try arguments.double("max-implausible", in: 0...1) ?? limits.implausibleTimes
    limits.missing = try arguments.double("max-missing", in: 0...1) ?? limits.missing
    limits.longestSilence =
      try arguments.duration("longest-silence", in: .seconds(1)...) ?? longestSilence
    let withdrawnAfter = try arguments.integer("withdraw-after", in: 0...1_000_000) ?? 3
    limits.withdrawnAfter = withdrawnAfter == 0 ? nil : withdrawnAfter
    limits.refusesOlder = refusesOlder
    limits.onlyCountsAbsences =
      arguments.subcommand.first == "run" && arguments.flag("confirm-withdrawals")
    limits.keptFor =
      try arguments.age("keep-quarantined", in: .seconds(0)...) ?? limits.keptFor
    self.limits = limits
  }

  func complete(_ options: inout ImportOptions, scope: FeedScope?) {
    options.scope = limits == nil ? nil : scope
    options.limits = scope == nil ? nil : limits
  }
}
