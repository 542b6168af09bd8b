import Postgres

/// `quake-watch` prints its backlog, and ends.
struct CatchUpWorkload: Workload {
  let letter: String
  let title: String

  /// The size of the backlog.
  private struct Backlog {
    let name: String
    let transactions: Int
    let changes: Int
  }

  func run(_ bench: Bench) throws -> ResultTable {
    var table = ResultTable(self, size: "updates", columns: Series.columns(reference: "one change"))
    table.subject = "backlog"
    guard let quake = bench.contender("quake") else { return table }
    let database = "run"
    try bench.server.drop(database)
    try bench.server.create(
      database, from: try bench.databases.template(for: quake, before: nil, bench))
    var series = try prepare(bench, database)
    for round in 0..<bench.options.repeats {
      for (index, backlog) in Self.backlogs.enumerated() {
        let program = bench.tool(
          "quake-watch",
          ["--json", "--no-follow", "--after", series[index].after, "--up-to", series[index].upTo],
          database: database)
        let run = try bench.measure(program, on: database)
        bench.progress(letter, backlog.name, round, run)
        series[index].series.runs.append(run)
      }
    }
    for (backlog, row) in zip(Self.backlogs, series) {
      table.add(backlog.name, row.series.figures(reference: series[0].series))
    }
    return table
  }

  private static let backlogs = [
    Backlog(name: "1", transactions: 1, changes: 1),
    Backlog(name: "1,000, one a transaction", transactions: 1000, changes: 1),
    Backlog(name: "100,000, one a transaction", transactions: 100_000, changes: 1),
    Backlog(name: "100,000, 1,000 a transaction", transactions: 100, changes: 1000),
  ]

  /// Makes the backlogs. Its connection is closed on return, because only the watcher may be
  /// connected.
  private func prepare(
    _ bench: Bench, _ database: String
  ) throws -> [(after: String, upTo: String, series: Series)] {
    let connection = try bench.server.connect(database)
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place, title)
      select 'bench' || i, now(), 4.5, '10 km N of somewhere', 'M 4.5 - 10 km N of somewhere'
        from generate_series(1, 1000) i
      """)
    var series: [(after: String, upTo: String, series: Series)] = []
    for backlog in Self.backlogs {
      let after = try token(connection)
      try connection.execute("set synchronous_commit = local")
      try connection.execute(
        SQL(
          trusted: """
            do $$ begin
              for i in 1..\(backlog.transactions) loop
                update quake.quake set sig = coalesce(sig, 0) + 1
                 where code in (select 'bench' || n from generate_series(1, \(backlog.changes)) n);
                commit;
              end loop;
            end $$
            """))
      series.append((after, try token(connection), Series()))
    }
    try connection.execute("vacuum (analyze)")
    return series
  }

  private func token(_ connection: Connection) throws -> String {
    try connection.execute("select quake.latest_token()").text(0, 0) ?? "0"
  }
}
