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
      try arguments.duration("keep-quarantined", in: .seconds(0)...) ?? limits.keptFor
    self.limits = limits
  }

  func complete(_ options: inout ImportOptions, scope: FeedScope?) {
    options.scope = limits == nil ? nil : scope
    options.limits = scope == nil ? nil : limits
  }
}
