import Basics
import CommandLine
import Glibc
import QuakeModel
import QuakeSimulator
import QuakeTool

/// `quake-ingest simulate`: serves a simulated feed, or writes it to a file.
enum SimulateCommand {
  static let table = Command(
    "simulate", purpose: "serve simulated USGS feeds that change, or write a large one to a file",
    discussion: """
      This command serves summary feeds and an FDSN query in the form of USGS over HTTP on loopback. \
      A seeded catalogue has new, late, revised and removed events, and changes of ids. Simulators with the \
      same seed, rate, number of events and start serve the same catalogue: a new one repeats the changes \
      since the start, at most 200,000. GET / lists further requests, such as those for faulty snapshots.
      """,
    options: [
      .value("rate", "N", default: "60", help: "changes a minute"),
      .value(
        "seed", "N", default: "1",
        help: "seed of the catalogue: the same seed gives the same events"),
      .value("events", "N", default: "11000", help: "events at the start"),
      .value(
        "days", "N", default: "30", help: "span of their origin times, in days before the start"),
      .value(
        "start", "TIME",
        help: """
          when the catalogue begins: a time, or now for another catalogue in each run (default: the last \
          full hour; at a rate above 366, a later minute or second)
          """),
      .value(
        "query-limit", "N", default: "20000", help: "most events in one answer to an FDSN query"),
      .toggle(
        "count", initially: true,
        help: "do not report how many events match an FDSN query, like most services"),
      .toggle(
        "limit", initially: true,
        help: "refuse the limit of an FDSN query, like GeoNet's service"),
      .value("port", "N", default: "8642", help: "port on 127.0.0.1; 0 for any free port"),
      .value("max-age", "SECONDS", default: "60", help: "max-age of the answers"),
      .value(
        "fault", "KIND[:N]", repeatable: true,
        help:
          "make each Nth answer faulty: \(FaultKind.allCases.map(\.rawValue).joined(separator: ", "))"
      ),
      .output(
        help: "write all events to FILE (- for standard output) instead of serving them"),
    ],
    examples: [
      .init("quake-ingest simulate --rate 600 --port 8642", "a feed with ten changes a second"),
      .init(
        "quake-ingest simulate --events 1000000 --output million.geojson", "a large file"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    Signals.install()
    let seed = UInt64(try arguments.integer("seed", in: 0...) ?? 1)
    let start = try start(arguments)
    let options = try options(arguments, seed: seed, start: start)
    if let file = arguments.string("output") {
      let writer = FeedFileWriter(seed: seed, events: options.events, start: start)
      return try write(writer, to: file, diagnostics)
    }
    return try serve(options)
  }

  private static func options(
    _ arguments: ParsedArguments, seed: UInt64, start: SimulationStart
  ) throws -> SimulatorOptions {
    var options = SimulatorOptions()
    options.seed = seed
    options.start = start
    let most = arguments.isGiven("output") ? Int.max : 200_000
    options.events = try arguments.integer("events", in: 0...most) ?? options.events
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
    return options
  }

  private static func start(_ arguments: ParsedArguments) throws -> SimulationStart {
    guard let text = arguments.string("start") else { return .shared }
    guard text != "now" else { return .now }
    guard let time = try arguments.time("start"), time <= .now() else {
      throw arguments.invalidValue(text, for: "start", expected: "now, or a time in the past")
    }
    return .at(time)
  }

  private static func serve(_ options: SimulatorOptions) throws -> ExitStatus {
    let server = try SimulatedFeedServer(options)
    let output = StandardOutput()
    try output.writeLine(
      """
      simulating \(Readable.count(options.events, "event")) at \(server.baseURL), seed \
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
    do throws(SystemFailure) {
      try writer.write(to: descriptor) { done in
        bar.update(done: done)
        return !Signals.stopRequested
      }
    } catch {
      bar.finish()
      guard file != "-" else {
        throw error.code == EPIPE ? OutputError.closed : .failed(code: error.code)
      }
      throw FileError("could not write file \"\(file)\": \(error.reason)")
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
