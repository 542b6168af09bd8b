internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import QuakeQuery

/// Judges a staged snapshot before it is merged: servers sometimes publish damaged, incomplete or old ones.
struct SnapshotJudge {
  let limits: SnapshotLimits
  let feed: String
  /// Which events the snapshot should hold; nil: unknown.
  let scope: FeedScope?
  /// When it was generated; nil: unknown.
  let generated: Timestamp?
  /// The time that the snapshot itself states for that; nil: it states none.
  let stated: Timestamp?
  /// Why the first reject was rejected; nil: there is none.
  let firstReject: String?
  let connection: Connection

  private struct Contents {
    var usable: Int64 = 0
    var rejected: Int64 = 0
    var rejectedForTime: Int64 = 0
    var implausible: Int64 = 0
    /// The newest origin time or time of update; nil: there is none.
    var newest: Timestamp?
    var newestUpdate: Timestamp?

    var seen: Int64 { usable + rejected }
  }

  private struct Comparison {
    var expected: Int64 = 0
    var missing: Int64 = 0
    /// The missing events that were updated after all events of the snapshot: a stale one cannot have them.
    var later: Int64 = 0
    /// Events that are older in the snapshot than in the store, and those that are newer.
    var older: Int64 = 0
    var newer: Int64 = 0
    /// Events that the store does not have, without those that were deleted from it.
    var unknown: Int64 = 0
    var newestUpdate: Timestamp?
  }

  /// No feed has events of 1970; a clock that was never set shows that year.
  private static let unsetClock = "1971-01-01T00:00:00Z"

  /// The most events of a snapshot that a catalogue may plausibly remove before the next one.
  private static let handful: Int64 = 3

  /// Returns why the snapshot is bad; nil: it can be applied. Then single events with implausible times have
  /// been made rejects, and `rejected` is their number.
  func judge() throws -> (verdict: QuarantineVerdict?, rejected: Int64) {
    let contents = try readContents()
    let compared = try compare(contents.newestUpdate)
    let verdict =
      try judgeClaim() ?? judgeUsable(contents, compared) ?? judgeTimes(contents)
      ?? judgeAge(contents, compared)
      ?? judgeLoss(compared)
    guard verdict == nil, contents.implausible > 0 else { return (verdict, 0) }
    return (nil, try rejectImplausible())
  }

  private func judgeClaim() -> QuarantineVerdict? {
    let latest = Timestamp.now().advanced(bySeconds: SnapshotImport.clockTolerance)
    guard let stated, stated > latest else { return nil }
    return QuarantineVerdict(
      .implausibleTimes, "It states that it was generated at \(stated), which is in the future.")
  }

  private func judgeUsable(
    _ contents: Contents, _ compared: Comparison?
  ) -> QuarantineVerdict? {
    guard contents.seen == 0, let scope else { return nil }
    // Somewhere on Earth there is an earthquake every few minutes.
    if scope.isWhole, scope.window >= 86_400 {
      return QuarantineVerdict(
        .empty, "It has no events, which a feed of a day or more always has.")
    }
    guard let compared, compared.expected >= limits.fewestExpected else { return nil }
    return QuarantineVerdict(
      .empty, "It has no events, where the store knows \(compared.expected) that it should hold.")
  }

  private func judgeTimes(_ contents: Contents) -> QuarantineVerdict? {
    let wrong = contents.rejectedForTime + contents.implausible
    let share = contents.seen > 0 ? Double(wrong) / Double(contents.seen) : 0
    // Fewer than three may be an accident, unless that is most of the snapshot.
    if share > 0.5 || share > limits.implausibleTimes && wrong >= 3 {
      return QuarantineVerdict(
        .implausibleTimes,
        contents.seen == 1
          ? "The time of its only event is missing or makes no sense."
          : "\(wrong) of its \(contents.seen) events have times that are missing or make no sense.")
    }
    guard contents.seen > 0, contents.usable == 0 else { return nil }
    let first = firstReject.map { " The first: \($0)" } ?? ""
    return QuarantineVerdict(
      .damaged,
      (contents.seen == 1
        ? "Its only event cannot be taken." : "None of its \(contents.seen) events can be taken.")
        + first)
  }

  private func judgeAge(
    _ contents: Contents, _ compared: Comparison?
  ) throws -> QuarantineVerdict? {
    guard let generated else { return nil }
    if limits.refusesOlder, let newest = try newestApplied(), newest > generated {
      return QuarantineVerdict(
        .stale, "It was generated at \(generated), before the one of \(newest) that was applied.")
    }
    if let silence = limits.longestSilence, let scope, scope.isWhole, scope.window >= 86_400,
      let newest = contents.newest,
      newest.advanced(bySeconds: silence.components.seconds) < generated
    {
      return QuarantineVerdict(
        .stale, "It is of \(generated), but its newest event is of \(newest).")
    }
    guard let compared, let known = compared.newestUpdate, let brought = contents.newestUpdate,
      brought < known
    else { return nil }
    // A catalogue may remove one event, or its last update, while nothing else changes.
    let behind = compared.older + compared.later
    guard behind >= 3, behind > 2 * (compared.newer + compared.unknown) else { return nil }
    // It may remove a few: a snapshot that states a newer time, and has no event with older contents,
    // overwrites nothing.
    if stated != nil, compared.older == 0, compared.later <= Self.handful,
      try newestApplied().map({ $0 < generated }) ?? true
    {
      return nil
    }
    return QuarantineVerdict(
      .stale,
      """
      Its newest update is of \(brought), the store's of \(known): it lacks \(compared.later) \
      \(compared.later == 1 ? "event that was" : "events that were") updated since, and has older contents of \(compared.older).
      """)
  }

  private func judgeLoss(_ compared: Comparison?) -> QuarantineVerdict? {
    guard let compared, compared.expected >= limits.fewestExpected,
      Double(compared.missing) > limits.missing * Double(compared.expected)
    else { return nil }
    return QuarantineVerdict(
      .massLoss,
      "It lacks \(compared.missing) of the \(compared.expected) events that it should hold.")
  }

  // MARK: - Queries

  /// Whether the times of a staged record are impossible.
  private var isImplausible: SQL {
    let unsetClock: SQL = "\(Self.unsetClock)::timestamptz"
    // When the snapshot was generated; the present if it does not state that.
    let latest: SQL = "\(generated ?? .now())::timestamptz"
    return """
      (time < \(sql: unsetClock) or updated < \(sql: unsetClock)
       or time > \(sql: latest) + interval '1 hour' or updated > \(sql: latest) + interval '1 day')
      """
  }

  private func readContents() throws -> Contents {
    // Only feeds are known to have recent events: other files may have events of 1906.
    let implausible = scope == nil ? "false" : isImplausible
    return try connection.row(
      """
      select count(*) filter (where reject_reason is null) as usable,
             count(*) filter (where reject_reason is not null) as rejected,
             count(*) filter (where reject_of_time) as rejected_for_time,
             count(*) filter (where reject_reason is null and \(sql: implausible)) as implausible,
             greatest(max(time), max(updated)) as newest, max(updated) as newest_update
        from pg_temp.quake_staging
      """, format: .binary
    ) { row throws(PostgresError) in
      Contents(
        usable: try row["usable"], rejected: try row["rejected"],
        rejectedForTime: try row["rejected_for_time"], implausible: try row["implausible"],
        newest: try row["newest"], newestUpdate: try row["newest_update"])
    }
  }

  private func compare(_ newestUpdate: Timestamp?) throws -> Comparison? {
    guard let scope = SnapshotScope(scope, generated: generated) else { return nil }
    return try connection.row(
      """
      with \(sql: scope.expected), missed as (
        -- Events that a snapshot lacked which a person has applied are no longer expected.
        select * from expected e
         where there
            or not exists (select from quake.absence a
                            where a.code = e.code and a.feed = \(scope.name)
                              and a.since <= (select max(i.generated) from quake.import i
                                               where i.feed = \(feed) and i.applied_import_id is not null))
      )
      select count(*) as expected, count(*) filter (where not there) as missing,
             count(*) filter (where not there and updated > \(newestUpdate)::timestamptz) as later,
             count(*) filter (where staged_updated < updated) as older,
             count(*) filter (where staged_updated > updated) as newer,
             (select count(*) from pg_temp.quake_staging s
               where s.reject_reason is null
                 and not exists (select from quake.quake q where q.code = s.code)
                 and not exists (select from quake.tombstone d where d.code = s.code)) as unknown,
             max(updated) as newest_update
        from missed
      """, format: .binary
    ) { row throws(PostgresError) in
      Comparison(
        expected: try row["expected"], missing: try row["missing"], later: try row["later"],
        older: try row["older"], newer: try row["newer"], unknown: try row["unknown"],
        newestUpdate: try row["newest_update"])
    }
  }

  private func newestApplied() throws -> Timestamp? {
    try connection.row(
      """
      select max(generated) from quake.import
       where feed = \(feed) and quarantined_at is null and complete
      """, format: .binary, as: Timestamp?.self)
  }

  private func rejectImplausible() throws -> Int64 {
    let result = try connection.execute(
      """
      update pg_temp.quake_staging s
         set reject_place = 'record ' || s.record, reject_reason = 'Its times make no sense.',
             reject_raw = left(s::text, 65536)
       where s.reject_reason is null and \(sql: isImplausible)
      """)
    return Int64(result.affectedRows)
  }
}

/// How bad a snapshot may be and still be applied.
package struct SnapshotLimits: Sendable {
  /// The greatest share of a snapshot's events with implausible times, 0 to 1. Up to it, only these events
  /// are rejected.
  package var implausibleTimes = 0.1
  /// The greatest share of the expected events that may be missing, 0 to 1.
  package var missing = 0.3
  /// The smallest number of expected events for which `missing` is judged.
  package var fewestExpected: Int64 = 10
  /// Whether a snapshot that was generated before the feed's newest one is refused. Otherwise it is merged
  /// where nothing newer is known.
  package var refusesOlder = true
  /// How old the newest event of a feed of all events may be when the snapshot is generated; nil: not
  /// limited, as long as the store has no newer one.
  package var longestSilence: Duration?
  /// The number of good snapshots, one after the other, which must lack an event for it to be withdrawn; nil:
  /// no event is withdrawn.
  package var withdrawnAfter: Int? = 3
  /// Whether absences are only counted, because an event's own page is asked before the event is withdrawn
  /// (see `Absences`).
  package var onlyCountsAbsences = false

  /// How long the bodies of snapshots in quarantine are kept.
  package var keptFor: Duration = .seconds(30 * 86_400)

  package init() {}
}

/// Which events a snapshot of a known feed should hold, as common table expressions of other queries.
///
/// All records of the snapshot are staged. Rejects are too, if their code could be read: a rejected event is
/// not missing.
struct SnapshotScope {
  let scope: FeedScope
  let generated: Timestamp
  /// The same for statements.
  let asOf: SQL

  /// Nil if it is unknown which events the snapshot should hold.
  init?(_ scope: FeedScope?, generated: Timestamp?) {
    guard let scope, !scope.isSelective, let generated else { return nil }
    self.scope = scope
    self.generated = generated
    asOf = "\(generated)::timestamptz"
  }

  var name: String { scope.name }

  /// Added to the feed's threshold: an event whose magnitude is revised by one step of the last digit must not
  /// become missing.
  static let magnitudeMargin = 0.1
  /// The event services end a feed after this number of events, so that a snapshot of this length may lack
  /// any event.
  static let longest = ImportPlan.longestFeed

  /// The first origin time from which on the snapshot should hold every event.
  var from: Timestamp { generated.advanced(bySeconds: scope.margin - scope.window) }
  /// The last such origin time.
  var to: Timestamp { generated.advanced(bySeconds: -scope.margin) }
  /// The first origin time in its window.
  var windowStart: Timestamp { generated.advanced(bySeconds: -scope.window) }
  var minimumMagnitude: Double? { scope.minimumMagnitude.map { $0 + Self.magnitudeMargin } }

  /// `claimed`: all ids of events in the snapshot whose `ids` have more than the code.
  static let claimed: SQL = """
    claimed as materialized (
      select i.id
        from pg_temp.quake_staging s
       cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
       where s.reject_reason is null and s.ids <> ',' || s.code || ','
    )
    """

  /// `expected`: the stored events that the snapshot should hold, and whether it does (`there`, with its time
  /// of update in the snapshot). An event that a newer snapshot has written is not expected.
  var expected: SQL {
    """
    \(sql: Self.claimed), expected as materialized (
      select q.code, q.updated, s.updated as staged_updated,
             s.code is not null or exists (select from claimed c where c.id = q.code) as there
        from quake.quake q
        left join pg_temp.quake_staging s on s.code = q.code
       where \(sql: isInside) and q.withdrawn_at is null and \(sql: AssociationStatements.isOwn("q"))
    )
    """
  }

  /// The condition that the snapshot should hold the event of the row `q`, and no newer one has written it.
  var isInside: SQL {
    let least: SQL = "\(minimumMagnitude)::double precision"
    return """
      q.source = \(scope.source) and q.time >= \(from)::timestamptz and q.time <= \(to)::timestamptz
      and (\(sql: least) is null or q.magnitude >= \(sql: least)) and q.as_of <= \(sql: asOf)
      """
  }
}

extension Timestamp {
  /// The instant `seconds` later; earlier, if that is negative.
  func advanced(bySeconds seconds: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + seconds * 1_000_000)
  }
}
