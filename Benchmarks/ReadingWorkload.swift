import Basics
import Postgres
import QuakeModel

/// All events, and all changes since the beginning, are read, beside psql's COPY of the same rows as text.
struct ReadingWorkload: Workload {
  let letter: String
  let title: String

  /// A program that reads everything.
  private struct Reader {
    let name: String
    let program: ChildProcess
    /// The lines that it prints beside one for each row.
    var otherLines = 0
    /// The place of the COPY that it is compared with.
    let reference: Int
    var series = Series()
  }

  func run(_ bench: Bench) throws -> ResultTable {
    let file = try bench.data.file(.million)
    var table = ResultTable(self, size: file.size, columns: Series.columns(reference: "COPY"))
    table.subject = "reader"
    table.notes = [
      """
      What they print is thrown away. The COPY is psql's, in the text format, of the table of events or \
      that of the versions, in no order.
      """
    ]
    guard let quake = bench.contender("quake") else { return table }
    let database = "run"
    try bench.server.drop(database)
    try bench.server.create(
      database, from: try bench.databases.template(for: quake, before: file, bench))
    var readers = try readers(of: database, bench)
    for reader in readers { try check(reader, rows: file.contents.events, database, bench) }
    for round in 0..<bench.options.repeats {
      for place in readers.indices {
        let index = (place + round) % readers.count
        let run = try bench.measure(
          shell("exec \"$@\" >/dev/null", readers[index].program), on: database)
        bench.progress(letter, readers[index].name, round, run)
        readers[index].series.runs.append(run)
      }
    }
    for reader in readers {
      table.add(reader.name, reader.series.figures(reference: readers[reader.reference].series))
    }
    return table
  }

  private func readers(of database: String, _ bench: Bench) throws -> [Reader] {
    let columns = QuakeColumn.allCases.map(\.name).joined(separator: ", ")
    func copy(_ query: String) throws -> ChildProcess {
      bench.program(
        try bench.server.psqlPath,
        [
          "-qX", "-v", "ON_ERROR_STOP=1", "-d", bench.server.conninfo(database), "-c",
          "copy (\(query)) to stdout",
        ])
    }
    func tool(_ name: String, _ arguments: String...) -> ChildProcess {
      bench.tool(name, arguments, database: database)
    }
    var readers = [
      Reader(
        name: "COPY of the events", program: try copy("select \(columns) from quake.quake"),
        reference: 0),
      Reader(
        name: "COPY of the versions",
        program: try copy(
          "select id, transaction_id, op, changed, \(columns) from quake.quake_version"),
        reference: 1),
      Reader(name: "list --json", program: tool("quake-query", "list", "--json"), reference: 0),
      Reader(
        name: "watch --snapshot --json",
        program: tool("quake-watch", "--snapshot", "--no-follow", "--json"), reference: 0),
      Reader(
        name: "watch --from-start --json",
        program: tool("quake-watch", "--from-start", "--no-follow", "--json"), reference: 1),
    ]
    var help = bench.tool("quake-query", ["export", "--help"])
    help.timeout = .seconds(60)
    if let outcome = try? help.run(), outcome.succeeded {
      readers.append(
        Reader(
          name: "export --format csv", program: tool("quake-query", "export", "--format", "csv"),
          otherLines: 1, reference: 0))
    }
    return readers
  }

  /// Makes sure that a reader prints all rows.
  private func check(
    _ reader: Reader, rows: Int, _ database: String, _ bench: Bench
  ) throws {
    let usage = try MeasuredChild(folder: bench.folder).run(
      shell("\"$@\" | wc -l", reader.program))
    try bench.server.waitUntilLeft(database)
    let text = String(decoding: usage.output, as: UTF8.self).filter { !$0.isWhitespace }
    guard Int(text) == rows + reader.otherLines else {
      throw BenchFailure("\(reader.name) printed \(text) lines of \(rows)")
    }
  }

  /// A shell command around a program, which is its `"$@"`.
  private func shell(_ command: String, _ program: ChildProcess) -> ChildProcess {
    var child = program
    child.executable = "/bin/sh"
    child.arguments = ["-c", command, "sh", program.executable] + program.arguments
    return child
  }
}

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
    try connection.row("select quake.latest_token()", as: String.self)
  }
}
