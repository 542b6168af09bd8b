import CommandLine
import Glibc
import QuakeSimulator
import QuakeTool

/// `quake-ingest simulate`: a feed that moves, without a network.
enum SimulateCommand {
  static let table = Command(
    "simulate", purpose: "serve a simulated USGS feed that moves, or write a large one to a file",
    discussion: """
      Serves USGS's summary feeds and its FDSN query over HTTP on the loopback interface, from a \
      seeded catalogue with arrivals, late arrivals, revisions, id switches and removals. GET / lists \
      what else it offers, such as bad days on request.
      """,
    options: [
      .value("rate", "N", default: "60", help: "changes a minute"),
      .value("seed", "N", default: "1", help: "the same seed, the same catalogue"),
      .value("events", "N", default: "11000", help: "events to begin with"),
      .value("days", "N", default: "30", help: "how far back these lie"),
      .value(
        "query-limit", "N", default: "20000", help: "most events in one answer to an FDSN query"),
      .toggle(
        "count", initially: true,
        help: "do not say how many events match an FDSN query, as most services"),
      .toggle(
        "limit", initially: true,
        help: "refuse limit and offset of an FDSN query, as GeoNet's service"),
      .value("port", "N", default: "8642", help: "port on 127.0.0.1; 0 for any that is free"),
      .value("max-age", "SECONDS", default: "60", help: "how long an answer may be cached"),
      .value(
        "fault", "KIND[:N]", repeatable: true,
        help:
          "each Nth answer is faulty: \(FaultKind.allCases.map(\.rawValue).joined(separator: ", "))"
      ),
      .value(
        "output", "FILE", completion: .files,
        help: "write all events to FILE (- for standard output) instead of serving them"),
      .flag("csv", help: "with --output: CSV instead of GeoJSON"),
    ],
    examples: [
      .init("quake-ingest simulate --rate 600 --port 8642", "a lively feed"),
      .init(
        "quake-ingest simulate --events 1000000 --output million.geojson", "a large file"),
    ],
    exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    Signals.install()
    let seed = UInt64(try arguments.integer("seed", in: 0...) ?? 1)
    if let file = arguments.string("output") {
      let format: FeedFormat = arguments.flag("csv") ? .csv : .geojson
      let writer = FeedFileWriter(
        seed: seed, events: try arguments.integer("events", in: 0...) ?? 11_000, format: format)
      return try write(writer, to: file, diagnostics)
    }
    var options = SimulatorOptions()
    options.seed = seed
    options.events = try arguments.integer("events", in: 0...200_000) ?? options.events
    options.days = try arguments.integer("days", in: 1...36_500) ?? options.days
    options.queryLimit =
      try arguments.integer("query-limit", in: 1...20_000) ?? options.queryLimit
    options.answersCounts = arguments.flag("count")
    options.takesLimit = arguments.flag("limit")
    options.rate = try arguments.double("rate", in: 0...600_000) ?? options.rate
    options.port = try arguments.integer("port", in: 0...65535) ?? 8642
    options.maxAge = try arguments.integer("max-age", in: 0...86_400) ?? options.maxAge
    for text in arguments.strings("fault") {
      guard let fault = ScheduledFault(text) else {
        throw arguments.invalidValue(
          text, for: "fault",
          expected: "KIND or KIND:N with KIND one of "
            + FaultKind.allCases.map(\.rawValue).joined(separator: ", "))
      }
      options.faults.append(fault)
    }
    return try serve(options)
  }

  private static func serve(_ options: SimulatorOptions) throws -> ExitStatus {
    let server = try SimulatedFeedServer(options)
    let output = StandardOutput()
    try output.writeLine(
      """
      simulating \(Readable.count(options.events)) events at \(server.baseURL), seed \
      \(options.seed)
      """)
    if let feed = SummaryFeed(name: "all_month") {
      try output.writeLine("for example \(server.url(of: feed))")
    }
    try output.flush()
    while !Signals.stopRequested { _ = Signals.wait(timeout: .seconds(3600)) }
    server.stop()
    return .ok
  }

  private static func write(
    _ writer: FeedFileWriter, to file: String, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let descriptor = file == "-" ? 1 : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      diagnostics.error("could not write file \"\(file)\": \(reason)")
      return .failed
    }
    let bar = ProgressBar(
      "writing", unit: .items("events"), total: writer.events, diagnostics: diagnostics)
    try writer.write(to: descriptor) { done in
      bar.update(done: done)
      return !Signals.stopRequested
    }
    bar.finish()
    guard !Signals.stopRequested else {
      diagnostics.error("interrupted; \"\(file)\" is incomplete")
      return .failed
    }
    if file != "-" { close(descriptor) }
    return .ok
  }
}
