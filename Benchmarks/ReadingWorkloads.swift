import Basics
import Postgres
import QuakeModel

/// A program that reads everything, and how often it was run.
private struct Reader {
  let name: String
  let program: ChildProcess
  /// The place of the reader that it is compared with.
  var reference = 0
  /// The lines that it prints beside one for each row.
  var otherLines = 0
  var series = Series()
}

/// Decodes the large file and discards the result.
struct DecodeWorkload: Workload {
  let letter: String
  let title: String

  func run(_ bench: Bench) throws -> ResultTable {
    let file = try bench.data.file(.million)
    var decoders = [Reader(name: "quake", program: Role.decode.program(file.path, bench))]
    if bench.firstLine(of: bench.found(bench.options.python, ["--version"])) != nil {
      // The first step of every script.
      let script = "import json, sys; print(len(json.load(open(sys.argv[1]))['features']))"
      decoders.append(
        Reader(
          name: "python json.load",
          program: bench.found(bench.options.python, ["-c", script, file.path])))
    }
    try bench.alternate(decoders.count) { index, round in
      try Bench.stopIfAsked()
      let name = decoders[index].name
      let run = try Measurement(of: decoders[index].program, in: bench.folder)
      bench.progress(letter, name, round, run)
      decoders[index].series.runs.append(run)
      guard Int(run.output) == file.contents.events else {
        throw BenchFailure("\(name) decoded \"\(run.output)\" events of \(file.name)")
      }
    }
    var table = ResultTable(
      self, size: file.size,
      columns: Series.columns(reference: "quake") + [.init("mb_per_second", "MB/s", places: 0)])
    for decoder in decoders {
      table.add(
        decoder.name,
        decoder.series.figures(reference: decoders[0].series) + [
          Double(file.bytes) / 1e6 / decoder.series.median(\.seconds)
        ])
    }
    return table
  }
}

/// All events, and all changes since the beginning, are read, beside psql's COPY of the same rows as text.
struct ReadingWorkload: Workload {
  let letter: String
  let title: String

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
    guard let quake = bench.quake else { return table }
    let database = try bench.freshDatabase(
      from: bench.databases.template(for: quake, before: file, bench))
    var readers = try readers(of: database, bench)
    for reader in readers {
      let run = try Measurement(of: shell("\"$@\" | wc -l", reader.program), in: bench.folder)
      try bench.server.waitUntilLeft(database)
      let rows = file.contents.events
      guard Int(run.output) == rows + reader.otherLines else {
        throw BenchFailure("\(reader.name) printed \(run.output) lines of \(rows)")
      }
    }
    try bench.alternate(readers.count) { index, round in
      let run = try bench.measure(withoutOutput(readers[index].program), on: database)
      bench.progress(letter, readers[index].name, round, run)
      readers[index].series.runs.append(run)
    }
    for reader in readers {
      table.add(reader.name, reader.series.figures(reference: readers[reader.reference].series))
    }
    return table
  }

  private func readers(of database: String, _ bench: Bench) throws -> [Reader] {
    let columns = EventColumn.allCases.map(\.name).joined(separator: ", ")
    func copy(_ columns: String, _ table: String) throws -> ChildProcess {
      try bench.psql("copy (select \(columns) from \(table)) to stdout", database)
    }
    func tool(_ name: String, _ arguments: String...) -> ChildProcess {
      bench.tool(name, arguments, database: database)
    }
    return [
      Reader(name: "COPY of the events", program: try copy(columns, "quake.quake")),
      Reader(
        name: "COPY of the versions",
        program: try copy("id, transaction_id, op, changed, " + columns, "quake.quake_version"),
        reference: 1),
      Reader(name: "list --json", program: tool("quake-query", "list", "--json")),
      Reader(
        name: "watch --snapshot --json",
        program: tool("quake-watch", "--snapshot", "--no-follow", "--json")),
      Reader(
        name: "watch --from-start --json",
        program: tool("quake-watch", "--from-start", "--no-follow", "--json"), reference: 1),
      Reader(
        name: "export --format csv", program: tool("quake-query", "export", "--format", "csv"),
        otherLines: 1),
    ]
  }
}

/// The program with its output thrown away: this program would keep it, and a child's peak of memory is at least that of
/// this program when it starts.
private func withoutOutput(_ program: ChildProcess) -> ChildProcess {
  shell("exec \"$@\" >/dev/null", program)
}

/// A shell command around a program, which is its `"$@"`.
private func shell(_ command: String, _ program: ChildProcess) -> ChildProcess {
  var child = program
  child.executable = "/bin/sh"
  child.arguments = ["-c", command, "sh", program.executable] + program.arguments
  return child
}

/// `quake-watch` prints its backlog, and ends.
struct CatchUpWorkload: Workload {
  let letter: String
  let title: String

  private static let backlogs = [
    (name: "1", transactions: 1, changes: 1),
    (name: "1,000, one a transaction", transactions: 1000, changes: 1),
    (name: "100,000, one a transaction", transactions: 100_000, changes: 1),
    (name: "100,000, 1,000 a transaction", transactions: 100, changes: 1000),
  ]

  func run(_ bench: Bench) throws -> ResultTable {
    var table = ResultTable(self, size: "updates", columns: Series.columns(reference: "one change"))
    table.subject = "backlog"
    guard let quake = bench.quake else { return table }
    let database = try bench.freshDatabase(
      from: bench.databases.template(for: quake, before: nil, bench))
    var readers = try readers(of: database, bench)
    try bench.alternate(readers.count) { index, round in
      let run = try bench.measure(withoutOutput(readers[index].program), on: database)
      bench.progress(letter, readers[index].name, round, run)
      readers[index].series.runs.append(run)
    }
    for reader in readers {
      table.add(reader.name, reader.series.figures(reference: readers[0].series))
    }
    return table
  }

  /// Makes the backlogs. Its connection is closed on return, because only the watcher may be
  /// connected.
  private func readers(of database: String, _ bench: Bench) throws -> [Reader] {
    let connection = try bench.server.connect(database)
    func token() throws -> String {
      try connection.row("select quake.latest_token()", as: String.self)
    }
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place, title)
      select 'bench' || i, now(), 4.5, '10 km N of somewhere', 'M 4.5 - 10 km N of somewhere'
        from generate_series(1, 1000) i
      """)
    try connection.execute("set synchronous_commit = local")
    let readers = try Self.backlogs.map { backlog in
      let after = try token()
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
      let arguments = ["--json", "--no-follow", "--after", after, "--up-to", try token()]
      return Reader(
        name: backlog.name, program: bench.tool("quake-watch", arguments, database: database))
    }
    try connection.execute("vacuum (analyze)")
    return readers
  }
}
