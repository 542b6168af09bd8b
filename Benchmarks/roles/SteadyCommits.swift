import Basics
import CommandLine
import Glibc
import Postgres

/// A writer that changes one event twenty times a second, and prints when it began each commit and
/// when the server had answered: nanoseconds of the clock that all processes share.
enum SteadyCommits {
  static let interval = Duration.milliseconds(50)

  static func run(_ count: Int, database: String) throws {
    let connection = try Connection(
      ConnectionSettings(database, applicationName: "quake-bench writer"))
    var times: [(begun: Duration, done: Duration)] = []
    var due = MonotonicClock.now() + interval
    for number in 0..<count {
      let left = due - MonotonicClock.now()
      if left > .zero { usleep(UInt32(clamping: left.components.attoseconds / 1_000_000_000_000)) }
      due += interval
      try connection.execute("begin")
      try connection.executePrepared(
        "update quake.quake set magnitude = $1 where code = 'bench1'",
        [.double(Double(number % 50_000) / 10_000)])
      let begun = MonotonicClock.now()
      try connection.execute("commit")
      times.append((begun, MonotonicClock.now()))
    }
    let output = StandardOutput()
    for time in times {
      try output.writeLine("\(nanoseconds(time.begun)) \(nanoseconds(time.done))")
    }
    try output.flush()
  }

  private static func nanoseconds(_ time: Duration) -> Int64 {
    time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
  }
}
