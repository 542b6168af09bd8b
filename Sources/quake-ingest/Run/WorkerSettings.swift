import CommandLine

/// How a worker works, apart from how it imports.
struct WorkerSettings {
  /// The least time between a poll and one out of turn.
  let refreshInterval: Duration
  /// How long another worker may show no life before its feeds are taken from it.
  let takeoverAfter: Duration
  /// For how long the rejects of an import are kept.
  let keptRejects: Duration

  init(_ arguments: ParsedArguments) throws {
    refreshInterval = try arguments.duration("refresh-interval", in: .zero...) ?? .seconds(10)
    takeoverAfter =
      try arguments.duration("takeover-after", in: .milliseconds(100)...) ?? .seconds(30)
    keptRejects =
      try arguments.duration("keep-rejects", in: .seconds(1)...) ?? .seconds(30 * 86_400)
  }

  /// How often this worker shows that it is alive.
  var lifeSign: Duration { min(takeoverAfter / 4, .seconds(5)) }
}
