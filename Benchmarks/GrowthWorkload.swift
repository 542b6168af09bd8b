import CommandLine
import Postgres

/// Loads the month feed, loads it again unchanged, and loads it revised: into an empty store, and
/// into one that has grown.
struct GrowthWorkload: Workload {
  let letter: String
  let title: String

  private static let steps = ["first load", "unchanged", "2 % revised"]

  func run(_ bench: Bench) throws -> ResultTable {
    let grown = GrownStore(events: bench.options.grownEvents)
    var table = ResultTable(self, size: grown.size, columns: Series.columns(reference: "empty"))
    table.subject = "store"
    guard let quake = bench.quake else {
      table.notes.append("Not measured: quake was not selected, or is not installed.")
      return table
    }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    try bench.server.create("grown", from: empty)
    defer { try? bench.server.drop("grown") }
    try grown.fill("grown", bench)

    let stores = ["empty", "grown"]
    var series = Array(repeating: [Series(), Series()], count: Self.steps.count)
    try bench.alternate(stores.count) { store, round in
      // Other events in each round, so that the store need not be restored.
      let serial = (round + 1) * bench.options.monthEvents * 10
      let database = store == 0 ? try bench.freshDatabase(from: empty) : "grown"
      for (step, name) in Self.steps.enumerated() {
        let file = try bench.data.file(step == 2 ? .revisedMonth : .month, serial: serial)
        let run = try measure(quake, file, isFirst: step == 0, database, bench)
        bench.progress(letter, "\(name), \(stores[store])", round, run)
        series[step][store].runs.append(run)
      }
    }
    for (step, series) in zip(Self.steps, series) {
      for (store, runs) in zip(stores, series) {
        table.add("\(step), \(store)", runs.figures(reference: series[0]))
      }
    }
    return table
  }

  private func measure(
    _ quake: Contender, _ file: DataFile, isFirst: Bool, _ database: String, _ bench: Bench
  ) throws -> Measurement {
    let before = try bench.server.connect(database).execute(
      "select coalesce(max(token), 0) from quake.change_transaction"
    ).integer(0, 0)
    let run = try bench.measure(quake.command(file, database, bench), on: database)
    let inserted = isFirst ? file.contents.events : 0
    try bench.server.connect(database).execute(
      """
      select coalesce(sum(t.inserted), 0)::bigint, coalesce(sum(t.updated), 0)::bigint,
             coalesce(sum((select count(*) from quake.quake_version v
                            where v.transaction_id = t.transaction_id)), 0)::bigint
        from quake.change_transaction t where t.token > $1
      """, [.integer(before)]
    ).require(
      [inserted, file.revised, inserted + file.revised],
      "a load of \(file.name) left wrong rows", "Inserted, updated, versions")
    return run
  }
}

/// A store as it is after years: many events, each of which has been inserted and revised once, in
/// transactions of 10,000. For speed it is filled without the triggers, with the rows that they
/// would have written.
struct GrownStore {
  /// The number of events, 1 or more. There are twice as many versions.
  let events: Int

  private static let transactionSize = 10_000
  private static let batchSize = 500_000

  private var transactions: Int {
    (events + Self.transactionSize - 1) / Self.transactionSize * 2
  }

  /// Its contents, in a few words.
  var size: String {
    "\(Readable.count(events)) events, \(Readable.count(events * 2)) versions, "
      + "\(Readable.count(transactions)) transactions"
  }

  /// Fills a database that has Quake's schema and no rows.
  func fill(_ database: String, _ bench: Bench) throws {
    let connection = try bench.server.connect(database)
    // This disables triggers and foreign keys.
    try connection.execute("set session_replication_role = replica")
    let bar = ProgressBar(
      "filling the store", unit: .items("events"), total: events, diagnostics: bench.diagnostics)
    for first in stride(from: 1, through: events, by: Self.batchSize) {
      let last = min(first + Self.batchSize - 1, events)
      let range: [Parameter] = [
        .integer(Int64(first)), .integer(Int64(last)), .integer(Int64(events)),
      ]
      try connection.execute(Self.insertEvents, range)
      try connection.execute(Self.insertVersions, range)
      bar.update(done: last)
      try Bench.stopIfAsked()
    }
    bar.finish()
    try connection.execute(Self.insertTransactions, [.integer(Int64(events))])
    for sequence in ["transaction_id", "token"] {
      try connection.execute(
        "select setval($1::regclass, $2)",
        [.text("quake." + sequence), .integer(Int64(transactions))])
    }
    bench.diagnostics.note("vacuuming it")
    try connection.execute("vacuum (analyze)")
    try check(connection)
  }

  /// The columns, and their values for event `i` of `$3`, as inserted (`revision` 0) or revised (1). The times are
  /// over 30 years, up to the month of the feeds.
  private static let columns = """
    code, net, net_code, source, type, status, magnitude, magnitude_type, place, time, updated, longitude, latitude,
    depth, title, url, detail, felt, cdi, tsunami, sig, nst, dmin, rms, gap, ids, sources, types, as_of, validated,
    first_stored
    """
  private static let values = """
    e.code, 'gr', lpad(i::text, 9, '0'), 'simulated', 'earthquake',
    case revision when 0 then 'automatic' else 'reviewed' end, e.magnitude::float8, 'ml', e.place, e.time,
    e.time + interval '1 hour' + revision * interval '1 day', (i * 7919 % 36000) / 100.0 - 180,
    (i * 104729 % 18000) / 100.0 - 90, (i * 31 % 10000) / 100.0, 'M ' || e.magnitude || ' - ' || e.place,
    'https://earthquake.usgs.gov/earthquakes/eventpage/' || e.code,
    'https://earthquake.usgs.gov/earthquakes/feed/v1.0/detail/' || e.code || '.geojson',
    case when i % 20 = 0 then 1 + i % 7 end::integer, case when i % 20 = 0 then 2.5 end, 0::smallint,
    (i * 13 % 400)::integer, (3 + i % 60)::integer, (i % 5000) / 10000.0, (i % 110) / 100.0, 20 + i % 280,
    ',' || e.code || ',', ',gr,', ',origin,phase-data,', e.time + interval '2 hours' + revision * interval '1 day',
    false, e.time + interval '1 hour'
    """
  private static let rows = """
    cross join lateral (
      select 'gr' || lpad(i::text, 9, '0') as code,
             round(((i * 7919 % 600) / 100.0 - 0.5 + revision * 0.1)::numeric, 2) as magnitude,
             i % 90 || ' km NNE of Town ' || i % 977 || ', Alaska' as place,
             date_trunc('milliseconds', '1996-05-01 00:00:00Z'::timestamptz + interval '30 years' * (i / $3::bigint::float8))
               as time) e
    """

  private static let insertEvents = SQL(
    trusted: """
      insert into quake.quake (\(columns))
      select \(values)
        from generate_series($1::bigint, $2::bigint) i
       cross join (select 1 as revision) r
       \(rows)
       order by i
      """)

  private static let insertVersions = SQL(
    trusted: """
      insert into quake.quake_version (transaction_id, op, changed, \(columns))
      select (i - 1) / \(transactionSize) * 2 + 1 + revision,
             case revision when 0 then 'insert' else 'update' end,
             case revision when 1 then array['status', 'magnitude', 'updated', 'title', 'as_of'] end,
             \(values)
        from generate_series($1::bigint, $2::bigint) i
       cross join (values (0), (1)) r (revision)
       \(rows)
       order by 1, i
      """)

  private static let insertTransactions = SQL(
    trusted: """
      insert into quake.change_transaction
        (token, nonce, transaction_id, author, context, application_name, database_user, process_id, at,
         inserted, updated, deleted, truncated)
      select t, substr(md5(t::text), 1, 8), t, 'quake-ingest', 'all_month', 'quake-ingest', session_user, 1,
             '2001-01-01 00:00:00Z'::timestamptz + t * interval '1 minute',
             case t % 2 when 1 then size else 0 end, case t % 2 when 0 then size else 0 end, 0, 0
        from (select t, least(\(transactionSize), $1::bigint - (t - 1) / 2 * \(transactionSize)) as size
                from generate_series(1, ($1::bigint + \(transactionSize - 1)) / \(transactionSize) * 2) t) n
       order by t
      """)

  /// Throws unless the numbers of rows are as expected and, in a small store, the history gives the
  /// events as they are in the table.
  private func check(_ connection: Connection) throws {
    try connection.execute(
      """
      select (select count(*) from quake.quake), (select count(*) from quake.quake_version),
             (select sum(inserted + updated)::bigint from quake.change_transaction),
             (select count(*) from (
                select * from quake.quake where $1 and code > $2
                except
                select * from quake.as_of(case when $1 then quake.latest_token() else '0' end)) d)
      """,
      [.bool(events <= 200_000), .text("gr")]
    ).require(
      [events, events * 2, events * 2, 0], "the store that has grown is not valid",
      "Events, versions, changes, events not as the history tells")
  }
}
