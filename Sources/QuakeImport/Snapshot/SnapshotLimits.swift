/// How bad a snapshot may be and still be applied.
public struct SnapshotLimits: Sendable {
  /// The share of a snapshot's events whose times may be implausible, 0 to 1; these events are rejected
  /// one by one.
  public var implausibleTimes = 0.1
  /// The share of the events that a snapshot should hold which may be missing, 0 to 1.
  public var missing = 0.3
  /// From so many expected events on that share means something.
  public var fewestExpected: Int64 = 10
  /// Whether a snapshot that was generated before the feed's newest one is refused. Otherwise what it
  /// says counts where nothing newer is known.
  public var refusesOlder = true
  /// How old the newest event of a feed of all events may be when it is generated; nil: as old as it
  /// likes, as long as the store has no newer one.
  public var longestSilence: Duration?
  /// Absent from so many good snapshots, one after the other, an event is withdrawn; nil: never.
  public var withdrawnAfter: Int? = 3
  /// Whether absences are only counted, because somebody is asked before an event is withdrawn (see
  /// `Absences`).
  public var onlyCountsAbsences = false

  /// How long the bodies of snapshots that were set aside are kept.
  public var keptFor: Duration = .seconds(30 * 86_400)

  /// The defaults.
  public init() {}
}
