internal import Postgres

/// The SQL that counts from how many good snapshots an event was missing that they should have held,
/// and withdraws it after so many. Run after the merge, in its transaction.
enum AbsenceStatements {
  /// What is there is not missing. $1: when the snapshot was generated.
  static let clear: SQL = """
    delete from quake.absence a using pg_temp.quake_staging s
     where s.code = a.code and a.since <= $1::timestamptz
    """

  /// What the feed $6 should no longer hold, and what it holds again, is not missing from it.
  static let forget = SQL(
    trusted: """
      with \(SnapshotScope.expected)
      delete from quake.absence a
       where a.feed = $6
         and not exists (select from expected e where e.code = a.code and not e.there)
      """)

  /// $6: the feed.
  static let count = SQL(
    trusted: """
      with \(SnapshotScope.expected)
      insert into quake.absence as a (code, feed, snapshots, since)
      select e.code, $6, 1, $5::timestamptz from expected e where not e.there order by e.code
      on conflict (code, feed) do update set snapshots = a.snapshots + 1
      """)

  /// $1: when the snapshot was generated; $2: the feed; $3: how often is often enough.
  static let withdraw: SQL = """
    with gone as (
      select a.code from quake.absence a where a.feed = $2 and a.snapshots >= $3
    ), withdrawn as (
      update quake.quake q set withdrawn_at = $1::timestamptz, as_of = $1::timestamptz
        from gone g
       where q.code = g.code and q.withdrawn_at is null and q.superseded_by is null
         and q.as_of <= $1::timestamptz
      returning q.code
    ), settled as (
      delete from quake.absence a using gone g where a.code = g.code
    )
    select count(*) from withdrawn
    """
}
