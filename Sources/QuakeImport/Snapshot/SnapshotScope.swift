internal import Postgres
internal import QuakeAssociation
internal import QuakeModel

/// Which events a snapshot of a known feed should hold, as common table expressions of other queries.
///
/// All records of the snapshot are staged. Rejects are too, if their code could be read: a rejected event is
/// not missing.
struct SnapshotScope {
  let scope: FeedScope
  /// When the snapshot was generated.
  let generated: Timestamp

  /// Nil if it is unknown which events the snapshot should hold.
  init?(_ scope: FeedScope?, generated: Timestamp?) {
    guard let scope, !scope.isSelective, let generated else { return nil }
    self.scope = scope
    self.generated = generated
  }

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
  static let claimed = """
    claimed as materialized (
      select i.id
        from pg_temp.quake_staging s
       cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
       where s.reject_reason is null and s.ids <> ',' || s.code || ','
    )
    """

  /// `expected`: the stored events that the snapshot should hold, and whether it does (`there`, with its time
  /// of update in the snapshot). An event that a newer snapshot has written is not expected. It uses the
  /// parameters $1 to $5.
  static let expected = """
    \(claimed), expected as materialized (
      select q.code, q.updated, s.updated as staged_updated,
             s.code is not null or exists (select from claimed c where c.id = q.code) as there
        from quake.quake q
        left join pg_temp.quake_staging s on s.code = q.code
       where q.source = $1 and q.time >= $2::timestamptz and q.time <= $3::timestamptz
         and ($4::double precision is null or q.magnitude >= $4)
         and q.as_of <= $5::timestamptz and q.withdrawn_at is null
         and \(AssociationStatements.isOwn("q"))
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
  /// The instant `seconds` later; earlier, if that is negative.
  func advanced(bySeconds seconds: Int64) -> Timestamp {
    Timestamp(microseconds: microseconds + seconds * 1_000_000)
  }
}
