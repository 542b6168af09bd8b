import Postgres

/// Loads a file into a store that is empty, or that has the contents of an earlier file.
struct LoadWorkload: Workload {
  let letter: String
  let title: String
  /// The file that is loaded.
  let file: DataFile.Kind
  /// The file whose events the store holds already; nil: none.
  var before: DataFile.Kind?

  func run(_ bench: Bench) throws -> ResultTable {
    let file = try bench.data.file(file)
    let before = try before.map { try bench.data.file($0) }
    var entrants: [Entrant] = []
    for (contender, _) in bench.contenders {
      let rounds = contender.pace.rounds(
        of: bench.options.repeats, events: file.contents.events, isQuick: bench.options.isQuick)
      guard rounds > 0 else { continue }
      do {
        entrants.append(
          Entrant(
            contender: contender,
            template: try bench.databases.template(
              for: contender, before: contender.alwaysStartsEmpty ? nil : before, bench),
            rounds: rounds))
        // This creates the other files that it needs.
        _ = try contender.command(loading: file, into: "nothing", bench)
      } catch {
        try bench.fail(contender.name, error)
      }
    }
    for round in 0..<bench.options.repeats {
      for place in entrants.indices {
        // Each round starts with the next contender.
        let index = (place + round) % entrants.count
        guard round < entrants[index].rounds else { continue }
        do {
          let run = try self.run(entrants[index], file, before, bench)
          bench.progress(letter, entrants[index].contender.name, round, run)
          entrants[index].series.runs.append(run)
        } catch {
          entrants[index].rounds = 0
          try bench.fail(entrants[index].contender.name, error)
        }
      }
    }
    var table = ResultTable(
      self, size: file.size, columns: Series.columns(reference: Limit.name))
    let reference = entrants.first { $0.contender.name == Limit.name }?.series
    for entrant in entrants where !entrant.series.runs.isEmpty {
      table.add(entrant.contender.name, entrant.series.figures(reference: reference))
    }
    if before != nil, reference != nil {
      table.notes.append("The limit always loads into an empty table.")
    }
    return table
  }

  private struct Entrant {
    let contender: any Contender
    let template: String
    var rounds: Int
    var series = Series()
  }

  private func run(
    _ entrant: Entrant, _ file: DataFile, _ before: DataFile?, _ bench: Bench
  ) throws -> Measurement {
    let database = "run"
    try bench.server.drop(database)
    try bench.server.create(database, from: entrant.template)
    let program = try entrant.contender.command(loading: file, into: database, bench)
    let measurement = try bench.measure(program, on: database)
    let connection = try bench.server.connect(database)
    try entrant.contender.check(file, over: connection)
    if entrant.contender.keepsHistory {
      try HistoryCheck(first: before ?? file, then: before == nil ? nil : file).check(connection)
    }
    return measurement
  }
}
