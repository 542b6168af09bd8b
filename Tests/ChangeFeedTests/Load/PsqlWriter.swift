import Glibc
import TestSupport

/// Writers that are programs of their own: the real `psql`, one after the other, stopped, continued
/// and killed as it comes.
struct PsqlWriter {
  let name: String
  let psql: String
  let conninfo: String
  let log: WriterLog
  var random: SeededGenerator
  let shouldStop: @Sendable () -> Bool

  mutating func run() throws {
    let folder = try TemporaryFolder()
    var round = 0
    while !shouldStop() {
      round += 1
      let size = Int.random(in: 1...30, using: &random)
      let count = 60
      let script = (1...count).map { number in
        let prefix = "\(name)-\(round)-\(number)-"
        return """
          begin; set local quake.context = '\(name)/\(round)/\(number)'; set local quake.author = '\(name)';
          insert into quake.quake (code, time, magnitude)
            select '\(prefix)' || n, '2024-01-01Z', n % 10 from generate_series(1, \(size)) n;
          update quake.quake set felt = 1 where code = '\(prefix)1'; commit;
          \\echo \(number)

          """
      }.joined()
      let process = try ToolProcess(
        psql, ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", conninfo], environment: Tools.environment,
        input: folder.write("script.sql", script))
      try watch(process, round: round, size: size, upTo: count)
    }
  }

  private mutating func watch(_ process: ToolProcess, round: Int, size: Int, upTo count: Int) throws
  {
    let last = Int.random(in: 1...count, using: &random)
    let pauses = Bool.random(using: &random)
    let isKilled = Bool.random(using: &random)
    // It ends early when its connection is taken away.
    for number in 1...last {
      guard let line = try? process.line() else { break }
      acknowledged(line, round, size)
      if pauses, number == last / 2 {
        process.signal(SIGSTOP)
        let before = log.committedChanges
        let deadline = ContinuousClock.now + .seconds(1)
        while log.committedChanges < before + 500, ContinuousClock.now < deadline {
          poll(nil, 0, 5)
        }
        process.signal(SIGCONT)
      }
    }
    if isKilled { process.signal(SIGKILL) }
    let outcome = try process.exit()
    for line in outcome.lines { acknowledged(line, round, size) }
    // The one that it was in the middle of may have drawn a number.
    if outcome.ending != .exited(0) { log.noteTermination() }
    // A server that is not there ends them at once.
    if outcome.status == 2 { poll(nil, 0, 50) }
  }

  private func acknowledged(_ line: String, _ round: Int, _ size: Int) {
    log.note("\(name)/\(round)/\(line)", .committed, changes: size + 1)
  }
}
