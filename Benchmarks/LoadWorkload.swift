import Basics
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
        _ = try contender.command(file, "nothing", bench)
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

  private struct Entrant {
    let contender: Contender
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
    let program = try entrant.contender.command(file, database, bench)
    let measurement = try bench.measure(program, on: database)
    let connection = try bench.server.connect(database)
    try entrant.contender.check(file, over: connection)
    if entrant.contender.keepsHistory {
      try HistoryCheck(first: before ?? file, then: before == nil ? nil : file).check(connection)
    }
    return measurement
  }
}

/// Decodes the large file and discards the result.
struct DecodeWorkload: Workload {
  let letter: String
  let title: String

  func run(_ bench: Bench) throws -> ResultTable {
    let file = try bench.data.file(.million)
    var decoders = [
      Decoder(
        name: "quake",
        program: bench.program(BenchOptions.program, Role.decode.arguments + [file.path]))
    ]
    if let python = SearchPath.find(bench.options.python) {
      // The first step of every script.
      let script = "import json, sys; print(len(json.load(open(sys.argv[1]))['features']))"
      decoders.append(
        Decoder(
          name: "python json.load", program: bench.program(python, ["-c", script, file.path])))
    }
    if let jq = SearchPath.find("jq") {
      decoders.append(
        Decoder(name: "jq", program: bench.program(jq, [".features | length", file.path])))
    }
    for round in 0..<bench.options.repeats {
      for place in decoders.indices {
        let index = (place + round) % decoders.count
        try Run.stopIfAsked()
        let usage = try MeasuredChild(folder: bench.folder).run(decoders[index].program)
        let run = Measurement(usage)
        bench.progress(letter, decoders[index].name, round, run)
        decoders[index].series.runs.append(run)
        let text = String(decoding: usage.output, as: UTF8.self).filter { !$0.isWhitespace }
        guard Int(text) == file.contents.events else {
          throw BenchFailure("\(decoders[index].name) decoded \"\(text)\" events of \(file.name)")
        }
      }
    }
    var table = ResultTable(
      self, size: file.size,
      columns: Series.columns(reference: "quake") + [.init("mb_per_second", "MB/s", places: 0)])
    for decoder in decoders {
      table.add(
        decoder.name,
        decoder.series.figures(reference: decoders[0].series) + [
          Double(file.bytes) / 1e6 / decoder.series.seconds
        ])
    }
    return table
  }

  private struct Decoder {
    let name: String
    let program: ChildProcess
    var series = Series()
  }
}
