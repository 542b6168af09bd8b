import CommandLine
import Glibc
import Postgres

/// Loads the month feed, loads it again unchanged, and loads it revised: into an empty store, and
/// into one that has grown.
struct GrowthWorkload: Workload {
  let letter: String
  let title: String

  private static let steps = ["first load", "unchanged", "2 % revised"]

  func run(_ bench: Bench) throws -> ResultTable {
    let events = bench.options.grownEvents
    var table = ResultTable(
      self,
      size: """
        \(Readable.count(events)) events, \(Readable.count(events * 2)) versions, in transactions of \
        \(Readable.count(Self.transactionSize)) events
        """, columns: Series.columns(reference: "empty"))
    table.subject = "store"
    guard let quake = bench.quake else {
      table.notes.append("Not measured: quake was not selected, or is not installed.")
      return table
    }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    try bench.server.create("grown", from: empty)
    defer { try? bench.server.drop("grown") }
    try grow("grown", quake, bench)

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

  private static let transactionSize = 10_000

  /// Makes a store as it is after years: each event has been inserted and revised once.
  private func grow(_ database: String, _ quake: Contender, _ bench: Bench) throws {
    // Far from the numbers of the month feeds.
    let serial = 1_000_000_000
    let files = try [DataFile.Kind.grown, .revisedGrown].map {
      try bench.data.file($0, serial: serial)
    }
    for file in files {
      bench.diagnostics.note("filling the store with \(file.name)")
      let arguments = ["import", "--quiet", "--commit-every", "\(Self.transactionSize)", file.path]
      _ = try Measurement(
        of: bench.tool("quake-ingest", arguments, database: database), in: bench.folder)
      unlink(file.path)
    }
    let connection = try bench.server.connect(database)
    try quake.check(files[1], before: files[0], over: connection)
    try connection.execute("vacuum (analyze)")
  }

  private func measure(
    _ quake: Contender, _ file: DataFile, isFirst: Bool, _ database: String, _ bench: Bench
  ) throws -> Measurement {
    let before = try bench.server.connect(database).row(
      "select coalesce(max(token), 0) from quake.change_transaction", as: Int64.self)
    let run = try bench.measure(quake.command(file, database, bench), on: database)
    let inserted = isFirst ? file.contents.events : 0
    let row = try bench.server.connect(database).row(
      """
      select coalesce(sum(t.inserted), 0)::bigint, coalesce(sum(t.updated), 0)::bigint,
             coalesce(sum((select count(*) from quake.quake_version v
                            where v.transaction_id = t.transaction_id)), 0)::bigint
        from quake.change_transaction t where t.token > \(before)
      """, as: (Int, Int, Int).self)
    try [row.0, row.1, row.2].require(
      [inserted, file.revised, inserted + file.revised],
      "a load of \(file.name) left wrong rows", "Inserted, updated, versions")
    return run
  }
}
