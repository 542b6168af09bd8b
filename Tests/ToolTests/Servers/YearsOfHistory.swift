import Postgres
import TestSupport

/// Ten years of events, as a feed and its revisions would have left them. An event has three to seven versions, within
/// minutes, hours, days and months; most move it a little, and some delete it. A transaction has the versions of a minute.
enum YearsOfHistory {
  static let firstYear = 2016

  /// Fills an empty store past its triggers, which would take fifty times as long.
  ///
  /// - Parameter events: Their number. There are five times as many versions, about.
  static func load(events: Int, over connection: Connection) throws {
    try connection.run(
      "set session_replication_role = replica", "set work_mem = '512MB'",
      "set maintenance_work_mem = '512MB'", "set max_parallel_workers_per_gather = 0",
      "drop index quake.quake_version_code")
    try connection.run(
      arrivals(of: events), versionView, eventView,
      """
      insert into quake.quake_version (id, transaction_id, op, changed, \(columns)) overriding system value
      select id, minute, op, changed, \(columns) from pg_temp.event
      """,
      "create index quake_version_code on quake.quake_version (code, id)",
      "insert into quake.quake (\(columns)) select \(columns) from pg_temp.event where is_last",
      """
      insert into quake.change_transaction (token, nonce, transaction_id, application_name, database_user, process_id,
             at, inserted, updated, deleted, truncated, predecessor)
      select minute, substr(md5(minute::text), 1, 8), minute, 'generator', 'nobody', 1, at, inserted, updated, deleted, 0,
             coalesce(lag(minute || '.' || substr(md5(minute::text), 1, 8)) over (order by minute), '0')
        from (select minute, max(at) as at, count(*) filter (where op = 'insert') as inserted,
                     count(*) filter (where op = 'update') as updated, count(*) filter (where op = 'delete') as deleted
                from pg_temp.version group by minute) t
       order by minute
      """,
      """
      select setval('quake.token', max(token)), setval('quake.transaction_id', max(token))
        from quake.change_transaction
      """,
      "select setval(pg_get_serial_sequence('quake.quake_version', 'id'), max(id)) from quake.quake_version",
      "drop table pg_temp.arrival cascade")
  }

  /// Event i, its n versions k, its origin time o, and when each version came, in the order of their coming.
  private static func arrivals(of events: Int) -> String {
    """
    create temporary table arrival as
    select i, k::smallint as k, n::smallint as n, o, o + after as at
      from (select i, 3 + (hashint4(i) & 65535) % 5 as n,
                   timestamptz '\(firstYear)-01-01Z'
                     + (i + (hashint4(-i) & 1023) / 1024::float8) * (interval '10 years' / \(events)) as o
              from generate_series(0, \(events - 1)) i) e
     cross join lateral (
        select k, (0.5 + (hashint4(7 * i + k) & 65535) / 131072::float8) *
               ('{3 min,20 min,6 h,5 d,20 d,60 d,200 d}'::interval[])[k + 1] as after
          from generate_series(0, n - 1) k) v
     order by at
    """
  }

  /// With a number h that is another one after each move.
  private static let versionView = """
    create temporary view version as
    select a.*, row_number() over () as id,
           1 + floor(extract(epoch from at - timestamptz '\(firstYear)-01-01Z')::float8 / 60)::bigint as minute,
           case when k = 0 then 'insert' when is_deletion then 'delete' else 'update' end as op,
           hashint4(i + 1000 * (m - (m in (3, 5))::integer)) as h
      from (select *, k - is_deletion::integer as m
              from (select *, k = n - 1 and hashint4(i + 5) & 63 = 0 as is_deletion from pg_temp.arrival) a) a
    """

  /// Six of ten lie at one of 200 places, the others anywhere.
  private static let eventView = """
    create temporary view event as
    select id, minute, k = n - 1 and op <> 'delete' as is_last, op,
           case when op = 'update' then case when k in (3, 5) then '{magnitude,updated}'
                                             else '{magnitude,time,updated,longitude,latitude}' end::text[] end as changed,
           'ci' || i as code, 'ci' as net, i::text as net_code, 'usgs' as source, 'earthquake' as type,
           case when k < 2 then 'automatic' else 'reviewed' end as status,
           floor(5 - 10 * log((hashint4(i + 4) & 1023) / 1024::float8 + 0.001::float8) + (hashint4(i + k) & 7)) / 10
             as magnitude,
           'ml' as magnitude_type, i % 90 || ' km NNE of Town ' || i % 977 || ', CA' as place,
           o + (h & 1023) * interval '3 ms' as time, at as updated,
           case when i % 10 < 6 then -170 + (hashint4(i % 200) & 1023) / 3.1::float8
                else -178 + (hashint4(i + 2) & 1023) / 2.9::float8 end + (h >> 10 & 1023) / 10240::float8 as longitude,
           case when i % 10 < 6 then -60 + (hashint4(i % 200 + 1000) & 1023) / 8.2::float8
                else -75 + (hashint4(i + 3) & 1023) / 6.9::float8 end + (h >> 20 & 1023) / 10240::float8 as latitude,
           10 as depth, 'M 1.2 - ' || i % 90 || ' km NNE of Town ' || i % 977 || ', CA' as title,
           'https://earthquake.usgs.gov/earthquakes/eventpage/ci' || i as url,
           'https://earthquake.usgs.gov/earthquakes/feed/v1.0/detail/ci' || i || '.geojson' as detail,
           0 as tsunami, 100 as sig, 20 as nst, 0.1::float8 as dmin, 0.2::float8 as rms, 80 as gap, ',ci' || i || ',' as ids,
           ',ci,' as sources, ',nearby-cities,origin,phase-data,' as types, false as validated, o as first_stored
      from pg_temp.version
    """

  private static let columns = """
    code, net, net_code, source, type, status, magnitude, magnitude_type, place, time, updated, longitude, latitude,
    depth, title, url, detail, tsunami, sig, nst, dmin, rms, gap, ids, sources, types, validated, first_stored
    """
}
