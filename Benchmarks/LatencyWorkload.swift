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
    guard let quake = bench.quake else { return table }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    let sizes = bench.options.isQuick ? [0, 1, 50, 200] : [0, 1, 50, 200, 500]
    var runs = Array(repeating: [[Double]](), count: sizes.count)
    try bench.alternate(sizes.count) { index, round in
      let figures = try measure(sizes[index], commits: commits, from: empty, bench)
      bench.diagnostics.note(
        "\(letter): \(sizes[index]) watchers, run \(round + 1): p99 \(figures[2].rounded()) ms")
      runs[index].append(figures)
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
    let database = try bench.freshDatabase(from: template)
    let connection = try bench.server.connect(database)
    try connection.execute("insert into quake.quake (code, time) values ('bench1', now())")
    let watchers = try WatchedOutputs(
      size, bench.tool("quake-watch", ["--json"], database: database))
    // Each has printed a change when it watches.
    let deadline = Deadline(after: .seconds(120))
    while try !watchers.read(lines: 1, within: .milliseconds(500)) {
      guard !deadline.hasPassed else { throw BenchFailure("a watcher does not print anything") }
      try connection.execute("update quake.quake set sig = coalesce(sig, 0) + 1")
    }
    _ = try watchers.read(lines: .max, within: .seconds(2))
    watchers.forget()

    let output = try OutputFile("\(bench.folder)/commits")
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    let writer = Role.steadyCommits.program("\(commits)", bench, database: database)
    let begun = (
      time: MonotonicClock.now(), server: bench.server.processes.cpu, client: watchers.cpu,
      machine: SystemLoad.busy
    )
    let pid = try writer.spawn(input: nothing, output: output.descriptor, errors: 2)
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

    let numbers = output.contents().split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
    guard numbers.count == 2 * commits else { throw BenchFailure("the writer printed too little") }
    let times = (0..<commits).map {
      (
        begun: Duration.nanoseconds(numbers[2 * $0]),
        done: Duration.nanoseconds(numbers[2 * $0 + 1])
      )
    }
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
}

/// Running `quake-watch` processes, each with a pipe for its output.
final class WatchedOutputs {
  private var pids: [pid_t] = []
  private var polled: [pollfd] = []
  /// When each line of each watcher could be read, on the clock that all processes share.
  private(set) var lines: [[Duration]] = []

  /// Starts `count` watchers.
  init(_ count: Int, _ program: ChildProcess) throws {
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nothing) }
    for _ in 0..<count {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw BenchFailure("could not make a pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      defer { close(ends[1]) }
      pids.append(
        try program.spawn(input: nothing, output: ends[1], errors: 2))
      polled.append(pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0))
      lines.append([])
    }
  }

  deinit {
    for pid in pids { kill(pid, SIGTERM) }
    for (pid, polled) in zip(pids, polled) {
      while waitpid(pid, nil, 0) < 0, errno == EINTR {}
      close(polled.fd)
    }
  }

  /// Forgets the lines so far.
  func forget() {
    for index in lines.indices { lines[index].removeAll() }
  }

  /// Reads lines until each watcher has `count`, or for the whole `duration`; false if that is over.
  func read(lines count: Int, within duration: Duration) throws -> Bool {
    let deadline = Deadline(after: duration)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var nextLook = MonotonicClock.now()
    while true {
      // Not after each line: with hundreds of watchers that costs more than reading it.
      let now = MonotonicClock.now()
      if now >= nextLook {
        if count < .max, lines.allSatisfy({ $0.count >= count }) { return true }
        if deadline.hasPassed { return false }
        try Bench.stopIfAsked()
        nextLook = now + .milliseconds(20)
      }
      guard poll(&polled, nfds_t(polled.count), 20) > 0 else { continue }
      for index in polled.indices where polled[index].revents != 0 {
        let count = Glibc.read(polled[index].fd, &buffer, buffer.count)
        guard count > 0 else { throw BenchFailure("a watcher has ended") }
        let now = MonotonicClock.now()
        lines[index] += repeatElement(now, count: buffer[..<count].count { $0 == 10 })
      }
      // poll(2) examines every pipe. With many pipes, a call for each line would take processor
      // time from the processes that are measured. A line is read half a millisecond late at most.
      if polled.count > 20 { usleep(500) }
    }
  }

  /// Processor time of all watchers, in seconds.
  var cpu: Double {
    pids.reduce(0) { $0 + ServerProcesses.cpu(of: $1) }
  }
}

/// A writer that changes one event twenty times a second, and prints when it began each commit and
/// when the server had answered: nanoseconds of the clock that all processes share.
enum SteadyCommits {
  static let interval = Duration.milliseconds(50)

  static func run(_ count: Int, database: String) throws {
    let connection = try Connection(
      ConnectionSettings(database, applicationName: "quake-bench writer"))
    var times: [[Duration]] = []
    var due = MonotonicClock.now() + interval
    for number in 0..<count {
      let left = due - MonotonicClock.now()
      if left > .zero { usleep(UInt32(left.inSeconds * 1e6)) }
      due += interval
      try connection.execute("begin")
      try connection.executePrepared(
        "update quake.quake set magnitude = \(Double(number % 50_000) / 10_000) where code = 'bench1'"
      )
      let begun = MonotonicClock.now()
      try connection.execute("commit")
      times.append([begun, MonotonicClock.now()])
    }
    let output = StandardOutput()
    for time in times.joined() {
      let nanoseconds =
        time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
      try output.writeLine("\(nanoseconds)")
    }
    try output.flush()
  }
}
