import CommandLine
import Postgres
import QuakeModel

/// Loads the month feed, loads it again unchanged, and loads it revised: into an empty store, and
/// into one that has grown.
struct GrowthWorkload: Workload {
  let letter: String
  let title: String

  func run(_ bench: Bench) throws -> ResultTable {
    let grown = GrownStore(events: bench.options.grownEvents)
    var table = ResultTable(self, size: grown.size, columns: Series.columns(reference: "empty"))
    table.subject = "store"
    guard let quake = bench.contender("quake") else {
      table.notes.append("Not measured: quake was not selected, or is not installed.")
      return table
    }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    try bench.server.create("grown", from: empty)
    defer { try? bench.server.drop("grown") }
    try grown.fill("grown", bench)

    var series = Array(repeating: (empty: Series(), grown: Series()), count: Step.all.count)
    for round in 0..<bench.options.repeats {
      // Other events in each round, so that the store need not be restored.
      let serial = (round + 1) * bench.options.monthEvents * 10
      let files = (
        feed: try bench.data.file(.month, serial: serial),
        revised: try bench.data.file(.revisedMonth, serial: serial)
      )
      for isGrown in round % 2 == 0 ? [false, true] : [true, false] {
        let database = isGrown ? "grown" : "run"
        if !isGrown {
          try bench.server.drop("run")
          try bench.server.create("run", from: empty)
        }
        for (index, step) in Step.all.enumerated() {
          let file = step.isRevised ? files.revised : files.feed
          let run = try measure(quake, file, step, database, bench)
          bench.progress(letter, "\(step.name), \(isGrown ? "grown" : "empty")", round, run)
          if isGrown {
            series[index].grown.runs.append(run)
          } else {
            series[index].empty.runs.append(run)
          }
        }
      }
    }
    for (step, series) in zip(Step.all, series) {
      table.add("\(step.name), empty", series.empty.figures(reference: series.empty))
      table.add("\(step.name), grown", series.grown.figures(reference: series.empty))
    }
    return table
  }

  /// One load of the month feed.
  private struct Step {
    let name: String
    var isFirst = false
    var isRevised = false

    static let all = [
      Step(name: "first load", isFirst: true), Step(name: "unchanged"),
      Step(name: "2 % revised", isRevised: true),
    ]
  }

  private func measure(
    _ quake: Contender, _ file: DataFile, _ step: Step, _ database: String, _ bench: Bench
  ) throws -> Measurement {
    let before = try newestToken(database, bench)
    let run = try bench.measure(
      quake.command(file, database, bench), on: database)
    let row = try bench.server.connect(database).row(
      """
      select coalesce(sum(t.inserted), 0)::bigint, coalesce(sum(t.updated), 0)::bigint,
             coalesce(sum((select count(*) from quake.quake_version v
                            where v.transaction_id = t.transaction_id)), 0)::bigint
        from quake.change_transaction t where t.token > \(before)
      """, as: (Int, Int, Int).self)
    let found = [row.0, row.1, row.2]
    let inserted = step.isFirst ? file.contents.events : 0
    let wanted = [inserted, file.revised, inserted + file.revised]
    guard found == wanted else {
      throw BenchFailure(
        "\(step.name) of \(file.name) left wrong rows",
        detail: "Inserted, updated, versions: \(found), not \(wanted).")
    }
    return run
  }

  private func newestToken(_ database: String, _ bench: Bench) throws -> Int64 {
    try bench.server.connect(database).row(
      "select coalesce(max(token), 0) from quake.change_transaction", as: Int64.self)
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

  var transactions: Int { (events + Self.transactionSize - 1) / Self.transactionSize * 2 }

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
      try connection.execute(insertEvents(first...last))
      try connection.execute(insertVersions(first...last))
      bar.update(done: last)
      try Run.stopIfAsked()
    }
    bar.finish()
    try connection.execute(Self.insertTransactions(of: events))
    for sequence in ["transaction_id", "token"] {
      try connection.execute("select setval(\("quake." + sequence)::regclass, \(transactions))")
    }
    bench.diagnostics.note("vacuuming it")
    try connection.execute("vacuum (analyze)")
    try check(connection)
  }

  private var columns: SQL {
    SQL(trusted: QuakeColumn.allCases.map(\.name).joined(separator: ", "))
  }
  private var values: SQL {
    SQL(
      trusted: QuakeColumn.allCases.map { "\(value(of: $0)) as \($0.name)" }
        .joined(separator: ",\n"))
  }

  private func insertEvents(_ range: ClosedRange<Int>) -> SQL {
    """
    insert into quake.quake (\(sql: columns))
    select \(sql: values)
      from generate_series(\(range.lowerBound)::bigint, \(range.upperBound)::bigint) i
     cross join (select 1 as revision) r
     order by i
    """
  }

  private func insertVersions(_ range: ClosedRange<Int>) -> SQL {
    """
    insert into quake.quake_version (transaction_id, op, changed, \(sql: columns))
    select (i - 1) / \(Self.transactionSize)::bigint * 2 + 1 + revision,
           case revision when 0 then 'insert' else 'update' end,
           case revision when 1 then array['status', 'magnitude', 'updated', 'title', 'as_of'] end,
           \(sql: values)
      from generate_series(\(range.lowerBound)::bigint, \(range.upperBound)::bigint) i
     cross join (values (0), (1)) r (revision)
     order by 1, i
    """
  }

  private static func insertTransactions(of events: Int) -> SQL {
    let (events, size): (SQL, SQL) = ("\(events)::bigint", "\(transactionSize)::bigint")
    return """
      insert into quake.change_transaction
        (token, nonce, transaction_id, author, context, application_name, database_user, process_id, at,
         inserted, updated, deleted, truncated)
      select t, substr(md5(t::text), 1, 8), t, 'quake-ingest', 'all_month', 'quake-ingest', session_user, 1,
             '2001-01-01 00:00:00Z'::timestamptz + t * interval '1 minute',
             case t % 2 when 1 then size else 0 end, case t % 2 when 0 then size else 0 end, 0, 0
        from (select t, least(\(sql: size), \(sql: events) - (t - 1) / 2 * \(sql: size)) as size
                from generate_series(1, (\(sql: events) + \(sql: size) - 1) / \(sql: size) * 2) t) n
       order by t
      """
  }

  /// The SQL expression for a column of event `i` of all events, as inserted (`revision` 0) or revised
  /// (1).
  private func value(of column: QuakeColumn) -> String {
    let code = "'gr' || lpad(i::text, 9, '0')"
    let magnitude = "round(((i * 7919 % 600) / 100.0 - 0.5 + revision * 0.1)::numeric, 2)"
    // Over 30 years, up to the month of the feeds.
    let time =
      "date_trunc('milliseconds', '1996-05-01 00:00:00Z'::timestamptz + interval '30 years' * (i / \(events)::float8))"
    let place = "i % 90 || ' km NNE of Town ' || i % 977 || ', Alaska'"
    let page = "https://earthquake.usgs.gov/earthquakes"
    return switch column {
    case .code: code
    case .net: "'gr'"
    case .netCode: "lpad(i::text, 9, '0')"
    case .source: "'simulated'"
    case .type: "'earthquake'"
    case .status: "case revision when 0 then 'automatic' else 'reviewed' end"
    case .magnitude: "\(magnitude)::float8"
    case .magnitudeType: "'ml'"
    case .place: place
    case .time: time
    case .updated: "\(time) + interval '1 hour' + revision * interval '1 day'"
    case .longitude: "(i * 7919 % 36000) / 100.0 - 180"
    case .latitude: "(i * 104729 % 18000) / 100.0 - 90"
    case .depth: "(i * 31 % 10000) / 100.0"
    case .title: "'M ' || \(magnitude) || ' - ' || \(place)"
    case .url: "'\(page)/eventpage/' || \(code)"
    case .detail: "'\(page)/feed/v1.0/detail/' || \(code) || '.geojson'"
    case .felt: "case when i % 20 = 0 then 1 + i % 7 end::integer"
    case .cdi: "case when i % 20 = 0 then 2.5 end"
    case .mmi: "null::float8"
    case .alert: "null::text"
    case .tsunami: "0::smallint"
    case .sig: "(i * 13 % 400)::integer"
    case .nst: "(3 + i % 60)::integer"
    case .dmin: "(i % 5000) / 10000.0"
    case .rms: "(i % 110) / 100.0"
    case .gap: "20 + i % 280"
    case .ids: "',' || \(code) || ','"
    case .sources: "',gr,'"
    case .types: "',origin,phase-data,'"
    case .asOf: "\(time) + interval '2 hours' + revision * interval '1 day'"
    case .validated: "false"
    case .withdrawnAt: "null::timestamptz"
    case .supersededBy: "null::text"
    case .firstStored: "\(time) + interval '1 hour'"
    }
  }

  /// Throws unless the numbers of rows are as expected and, in a small store, the history gives the
  /// events as they are in the table.
  private func check(_ connection: Connection) throws {
    let isSmall: SQL = "\(events <= 200_000)::boolean"
    let row = try connection.row(
      """
      select (select count(*) from quake.quake), (select count(*) from quake.quake_version),
             (select sum(inserted + updated)::bigint from quake.change_transaction),
             (select count(*) from (
                select * from quake.quake where \(sql: isSmall) and code > 'gr'
                except
                select * from quake.as_of(
                  case when \(sql: isSmall) then quake.latest_token() else '0' end)) d)
      """, as: (Int, Int, Int, Int).self)
    let found = [row.0, row.1, row.2, row.3]
    let wanted = [events, events * 2, events * 2, 0]
    guard found == wanted else {
      throw BenchFailure(
        "the store that has grown is not valid",
        detail:
          "Events, versions, changes, events not as the history tells: \(found), not \(wanted).")
    }
  }
}
