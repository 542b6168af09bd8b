import CommandLine

/// The settings of a worker, except those of its imports.
struct WorkerSettings {
  /// The least time between a poll and a refresh.
  let refreshInterval: Duration
  /// The time without a sign of life after which a standby takes over the feeds of a worker.
  let takeoverAfter: Duration
  /// How long the rejects of an import are kept.
  let keptRejects: Duration

  init(_ arguments: ParsedArguments) throws {
    refreshInterval = try arguments.duration("refresh-interval", in: .zero...) ?? .seconds(10)
    takeoverAfter =
      try arguments.duration("takeover-after", in: .milliseconds(100)...) ?? .seconds(30)
    keptRejects =
      try arguments.duration("keep-rejects", in: .seconds(1)...) ?? .seconds(30 * 86_400)
  }

  /// The time between two signs of life of this worker.
  var lifeSign: Duration { min(takeoverAfter / 4, .seconds(5)) }
}
