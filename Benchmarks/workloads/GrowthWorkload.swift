import Postgres

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
    _ quake: any Contender, _ file: DataFile, _ step: Step, _ database: String, _ bench: Bench
  ) throws -> Measurement {
    let before = try newestToken(database, bench)
    let run = try bench.measure(
      quake.command(loading: file, into: database, bench), on: database)
    let row = try bench.server.connect(database).execute(
      """
      select coalesce(sum(t.inserted), 0)::bigint, coalesce(sum(t.updated), 0)::bigint,
             coalesce(sum((select count(*) from quake.quake_version v
                            where v.transaction_id = t.transaction_id)), 0)::bigint
        from quake.change_transaction t where t.token > $1
      """, [.integer(before)])
    let found = (0..<3).map { Int(row.integer(0, $0) ?? -1) }
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
    try bench.server.connect(database).execute(
      "select coalesce(max(token), 0) from quake.change_transaction"
    ).integer(0, 0) ?? 0
  }
}
