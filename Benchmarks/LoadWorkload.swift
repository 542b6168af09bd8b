import Postgres

/// Loads a file into a store that is empty, or that has the contents of an earlier file.
struct LoadWorkload: Workload {
  let letter: String
  let title: String
  /// The file that is loaded.
  let file: DataFile.Kind
  /// The file whose events the store holds already; nil: none.
  var before: DataFile.Kind?

  private struct Entrant {
    let contender: Contender
    let template: String
    var hasFailed = false
    var series = Series()
  }

  func run(_ bench: Bench) throws -> ResultTable {
    let file = try bench.data.file(file)
    let before = try before.map { try bench.data.file($0) }
    var entrants: [Entrant] = []
    for (contender, _) in bench.contenders {
      do {
        let start = contender.alwaysStartsEmpty ? nil : before
        entrants.append(
          Entrant(
            contender: contender,
            template: try bench.databases.template(for: contender, before: start, bench)))
        // This creates the other files that it needs.
        _ = try contender.command(file, "nothing", bench)
      } catch {
        try bench.fail(contender.name, error)
      }
    }
    try bench.alternate(entrants.count) { index, round in
      guard !entrants[index].hasFailed else { return }
      let contender = entrants[index].contender
      do {
        let database = try bench.freshDatabase(from: entrants[index].template)
        let run = try bench.measure(contender.command(file, database, bench), on: database)
        try contender.check(file, before: before, over: bench.server.connect(database))
        bench.progress(letter, contender.name, round, run)
        entrants[index].series.runs.append(run)
      } catch {
        entrants[index].hasFailed = true
        try bench.fail(contender.name, error)
      }
    }
    var table = ResultTable(
      self, size: file.size, columns: Series.columns(reference: Contender.limit.name))
    let reference = entrants.first { $0.contender.name == Contender.limit.name }?.series
    for entrant in entrants where !entrant.series.runs.isEmpty {
      table.add(entrant.contender.name, entrant.series.figures(reference: reference))
    }
    if before != nil, reference != nil {
      table.notes.append("The limit always loads into an empty table.")
    }
    return table
  }
}
