import CommandLine
import QuakeFeed
import QuakeImport
import QuakeModel

/// The options for judging snapshots.
struct JudgingOptions {
  static let options: [Option] = [
    .flag("force", help: "apply every snapshot, however bad, and withdraw nothing"),
    .value(
      "max-implausible", "SHARE", default: "0.1",
      help: "set a snapshot aside if the times of more of its events make no sense"),
    .value(
      "max-missing", "SHARE", default: "0.3",
      help: "set it aside if it lacks more of the events that it should hold"),
    .value(
      "longest-silence", "DURATION",
      help: """
        set a snapshot of all events aside if its newest is older than that when it is generated; \
        3h for replay, otherwise only what the store knows better is stale
        """),
    .value(
      "withdraw-after", "N", default: "3",
      help: "withdraw an event that N good snapshots, one after the other, do not hold; 0: never"),
    .value(
      "keep-quarantined", "AGE", default: "30d",
      help: "keep the bodies of snapshots that were set aside for so long"),
  ]

  /// For commands that can request an event's own page.
  static let confirmation = Option.flag(
    "confirm-withdrawals",
    help: "withdraw an event only if its own page says that it was deleted (HTTP status 409)")

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
      try arguments.duration("keep-quarantined", in: .seconds(0)...) ?? limits.keptFor
    self.limits = limits
  }

  /// Completes the options of an import of a feed with this scope.
  func complete(_ options: inout ImportOptions, scope: FeedScope?) {
    options.scope = limits == nil ? nil : scope
    options.limits = scope == nil ? nil : limits
  }
}
