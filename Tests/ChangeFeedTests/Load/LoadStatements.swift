/// The statements of the load: many events at once, all columns filled.
enum LoadStatements {
  /// `$1`: prefix of the codes; `$2`, `$3`: from and to. An event that is there gets another value.
  static let upsert =
    insertInto + """
       on conflict (code) do update set felt = coalesce(quake.felt, 0) + 1, updated = excluded.updated,
         magnitude = ((coalesce(quake.felt, 0) * 7) % 80) / 10.0
      """

  private static let insertInto = """
    insert into quake.quake (code, net, net_code, source, type, status, magnitude, magnitude_type, place,
      time, updated, longitude, latitude, depth, title, url, detail, felt, tsunami, sig, nst, dmin, rms,
      gap, ids, sources, types)
    select $1::text || n, 'us', n::text, 'usgs', 'earthquake', 'reviewed', (n * 37 % 90) / 10.0, 'ml',
           n || ' km "N" of Nowhere, \u{7D},"new":{', '2024-01-01Z'::timestamptz + n * interval '1.001 seconds',
           clock_timestamp(), (n * 7 % 3600) / 10.0 - 180, (n * 11 % 1800) / 10.0 - 90, n % 700,
           'M ' || n || ' - Nowhere', 'https://example.org/earthquakes/eventpage/' || n,
           'https://example.org/earthquakes/feed/v1.0/detail/' || n || '.geojson', 0, 0, n % 1000,
           n % 100, n / 3.0, n / 7.0, n % 360, ',' || $1::text || n || ',', ',us,',
           ',origin,phase-data,'
      from generate_series($2::bigint, $3::bigint) n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let update = """
    update quake.quake q
       set felt = coalesce(felt, 0) + 1, magnitude = ((coalesce(felt, 0) * 13 + n) % 90) / 10.0,
           updated = clock_timestamp(), longitude = -longitude
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let updatePlace = """
    update quake.quake q set place = 'revised ' || coalesce(felt, 0) || ' ' || clock_timestamp()
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to. Changes nothing.
  static let touch = """
    update quake.quake q set magnitude = magnitude
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let delete = """
    delete from quake.quake q using generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """
}
