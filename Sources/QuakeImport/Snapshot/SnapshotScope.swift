internal import Postgres
internal import QuakeModel

/// What a snapshot of a known feed should hold, as SQL that is put before other queries.
///
/// Staged are all the records of the snapshot; those rejected are there too, where their code could be
/// read: what is rejected is not missing.
struct SnapshotScope {
  let scope: FeedScope
  /// When the snapshot was generated.
  let generated: Timestamp

  /// Nil if nobody knows what the snapshot should hold.
  init?(_ scope: FeedScope?, generated: Timestamp?) {
    guard let scope, !scope.isSelective, let generated else { return nil }
    self.scope = scope
    self.generated = generated
  }

  /// Events by magnitude: a revision within a step of the last digit must not make one missing.
  static let magnitudeMargin = 0.1
  /// The services cut off at this many, so that a snapshot as long as this may lack anything.
  static let longest: Int64 = 20_000

  /// First origin time at which every event should be there.
  var from: Timestamp { generated.advanced(bySeconds: scope.margin - scope.window) }
  /// Last origin time at which it should.
  var to: Timestamp { generated.advanced(bySeconds: -scope.margin) }
  /// First origin time that is within its window.
  var windowStart: Timestamp { generated.advanced(bySeconds: -scope.window) }
  var minimumMagnitude: Double? { scope.minimumMagnitude.map { $0 + Self.magnitudeMargin } }

  /// `claimed`: the ids that the snapshot names, though not all are events of its own.
  static let claimed = """
    claimed as materialized (
      select i.id
        from pg_temp.quake_staging s
       cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
       where s.reject_reason is null and s.ids <> ',' || s.code || ','
    )
    """

  /// `expected`: the stored events that the snapshot should hold, and whether it does (`there`, with
  /// the time of update that it gives). What a newer snapshot has written cannot be expected of it.
  /// Parameters $1 to $5 are its own.
  static let expected = """
    \(claimed), expected as materialized (
      select q.code, q.updated, s.updated as staged_updated,
             s.code is not null or exists (select from claimed c where c.id = q.code) as there
        from quake.quake q
        left join pg_temp.quake_staging s on s.code = q.code
       where q.source = $1 and q.time >= $2::timestamptz and q.time <= $3::timestamptz
         and ($4::double precision is null or q.magnitude >= $4)
         and q.as_of <= $5::timestamptz and q.superseded_by is null and q.withdrawn_at is null
    )
    """

  /// The values of `expected`'s parameters.
  var parameters: [Parameter] {
    [
      .text(scope.source), .text(from.description), .text(to.description),
      .double(minimumMagnitude), .text(generated.description),
    ]
  }
}

extension Timestamp {
  /// The instant so many seconds later, or earlier.
  func advanced(bySeconds seconds: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + seconds * 1_000_000)
  }
}
