import Basics

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
