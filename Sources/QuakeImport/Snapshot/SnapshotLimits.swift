/// How bad a snapshot may be and still be applied.
public struct SnapshotLimits: Sendable {
  /// The greatest share of a snapshot's events with implausible times, 0 to 1. Up to it, only these events
  /// are rejected.
  public var implausibleTimes = 0.1
  /// The greatest share of the expected events that may be missing, 0 to 1.
  public var missing = 0.3
  /// The smallest number of expected events for which `missing` is judged.
  public var fewestExpected: Int64 = 10
  /// Whether a snapshot that was generated before the feed's newest one is refused. Otherwise it is merged
  /// where nothing newer is known.
  public var refusesOlder = true
  /// How old the newest event of a feed of all events may be when the snapshot is generated; nil: not
  /// limited, as long as the store has no newer one.
  public var longestSilence: Duration?
  /// The number of good snapshots, one after the other, which must lack an event for it to be withdrawn; nil:
  /// no event is withdrawn.
  public var withdrawnAfter: Int? = 3
  /// Whether absences are only counted, because an event's own page is asked before the event is withdrawn
  /// (see `Absences`).
  public var onlyCountsAbsences = false

  /// How long the bodies of snapshots in quarantine are kept.
  public var keptFor: Duration = .seconds(30 * 86_400)

  /// The defaults.
  public init() {}
}
