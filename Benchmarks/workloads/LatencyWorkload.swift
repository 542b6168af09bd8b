import Basics
import CommandLine
import Glibc
import Postgres

/// Commits twenty changes a second, and measures how long watchers take to print them.
struct LatencyWorkload: Workload {
  let letter: String
  let title: String

  func run(_ bench: Bench) throws -> ResultTable {
    let commits = bench.options.isQuick ? 60 : 200
    var table = ResultTable(
      self, size: "\(commits) commits of one change, 20 a second",
      columns: [
        .init("runs", "runs", places: 0), .init("printed", "printed %", places: 2),
        .init("p50_ms", "p50 ms", places: 2), .init("p99_ms", "p99 ms", places: 2),
        .init("max_ms", "max ms", places: 1),
        .init("commit_p50_ms", "commit p50 ms", places: 2),
        .init("commit_p99_ms", "commit p99 ms", places: 2),
        .init("server_cpu_us", "server CPU µs/watcher", places: 0),
        .init("client_cpu_us", "watcher CPU µs/watcher", places: 0),
        .init("others_cpus", "others' CPUs", places: 2),
      ])
    table.subject = "watchers"
    table.notes = [
      """
      From just before COMMIT is sent until the line can be read from the watcher's pipe; the figures \
      are medians over the runs. Processor time is for each commit and watcher.
      """
    ]
    guard let quake = bench.contender("quake") else { return table }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    let sizes = bench.options.isQuick ? [0, 1, 50, 200] : [0, 1, 50, 200, 500]
    var runs = Array(repeating: [[Double]](), count: sizes.count)
    for round in 0..<bench.options.repeats {
      for place in sizes.indices {
        let index = (place + round) % sizes.count
        let figures = try measure(sizes[index], commits: commits, from: empty, bench)
        bench.diagnostics.note(
          "\(letter): \(sizes[index]) watchers, run \(round + 1): p99 \(figures[2].rounded()) ms")
        runs[index].append(figures)
      }
    }
    for (size, runs) in zip(sizes, runs) {
      let medians = runs[0].indices.map { column in runs.map { $0[column] }.median }
      table.add("\(size)", [Double(runs.count)] + medians)
    }
    return table
  }

  private func measure(
    _ size: Int, commits: Int, from template: String, _ bench: Bench
  ) throws -> [Double] {
    let database = "run"
    try bench.server.drop(database)
    try bench.server.create(database, from: template)
    let connection = try bench.server.connect(database)
    try connection.execute("insert into quake.quake (code, time) values ('bench1', now())")
    let watchers = try WatchedOutputs(
      size, bench.tool("quake-watch", ["--json"], database: database))
    try waitUntilAllWatch(watchers, over: connection)

    let output = open("\(bench.folder)/commits", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(output) }
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    let writer = bench.program(
      BenchOptions.program, Role.steadyCommits.arguments + ["\(commits)"], database: database)
    let begun = (
      time: MonotonicClock.now(), server: bench.server.processes.cpu, client: watchers.cpu,
      machine: SystemLoad.busy
    )
    let pid = try writer.spawn(
      ChildProcess.Descriptors(input: nothing, output: output, errors: 2))
    if size > 0 {
      _ = try watchers.read(
        lines: commits, within: SteadyCommits.interval * commits + .seconds(20))
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw BenchFailure("the writer failed") }
    let server = bench.server.processes.cpu - begun.server
    let client = watchers.cpu - begun.client
    let others = SystemLoad.busy - begun.machine - server - client
    let seconds = (MonotonicClock.now() - begun.time).inSeconds

    let times = try commitTimes(output, commits)
    var latencies: [Double] = []
    for lines in watchers.lines {
      guard lines.count <= commits else {
        throw BenchFailure("a watcher printed \(lines.count) changes of \(commits)")
      }
      for (line, time) in zip(lines, times) {
        latencies.append((line - time.begun).inSeconds * 1000)
      }
    }
    let taken = times.map { ($0.done - $0.begun).inSeconds * 1000 }
    let share = Double(max(1, commits * size))
    return [
      size == 0 ? .nan : Double(latencies.count) / share * 100,
      latencies.quantile(0.5), latencies.quantile(0.99), latencies.quantile(1),
      taken.quantile(0.5), taken.quantile(0.99),
      server / share * 1e6, client / share * 1e6, max(0, others) / seconds,
    ]
  }

  /// Changes the event until each watcher has printed a change, then discards the lines.
  private func waitUntilAllWatch(_ watchers: WatchedOutputs, over connection: Connection) throws {
    let deadline = Deadline(after: .seconds(120))
    while try !watchers.read(lines: 1, within: .milliseconds(500)) {
      guard !deadline.hasPassed else { throw BenchFailure("a watcher does not print anything") }
      try connection.execute("update quake.quake set sig = coalesce(sig, 0) + 1")
    }
    try watchers.read(for: .seconds(2))
    watchers.forget()
  }

  private func commitTimes(
    _ output: Int32, _ commits: Int
  ) throws -> [(begun: Duration, done: Duration)] {
    let size = Int(lseek(output, 0, SEEK_END))
    var bytes = [UInt8](repeating: 0, count: size)
    guard pread(output, &bytes, size, 0) == size else {
      throw BenchFailure("could not read what the writer printed")
    }
    let numbers = String(decoding: bytes, as: UTF8.self)
      .split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
    guard numbers.count == 2 * commits else { throw BenchFailure("the writer printed too little") }
    return (0..<commits).map {
      (.nanoseconds(numbers[2 * $0]), .nanoseconds(numbers[2 * $0 + 1]))
    }
  }
}

extension [Double] {
  /// The value that this share of the elements do not exceed; nan if there is none.
  func quantile(_ share: Double) -> Double {
    guard !isEmpty else { return .nan }
    return sorted()[Int((Double(count - 1) * share).rounded())]
  }
}
