import Basics
import CommandLine
import Postgres

/// The options, server, data and contenders that all workloads share.
final class Bench {
  let options: BenchOptions
  let diagnostics: Diagnostics
  /// The temporary folder.
  let folder: String
  let server: BenchServer
  let databases: Databases
  let data: DataFolder
  /// The selected contenders that are installed, with their versions.
  private(set) var contenders: [(contender: Contender, version: String)] = []
  /// The selected contenders that are not installed.
  private(set) var absent: [Contender] = []
  /// The failures, in sentences.
  private(set) var failures: [String] = []

  init(_ options: BenchOptions, folder: String, _ diagnostics: Diagnostics) throws {
    self.options = options
    self.folder = folder
    self.diagnostics = diagnostics
    data = try DataFolder(folder + "/data", options, diagnostics)
    server = try BenchServer(home: folder + "/server")
    databases = Databases(server)
    for contender in Contender.all where options.contenders?.contains(contender.name) ?? true {
      if let version = contender.version(self) {
        contenders.append((contender, version))
      } else {
        absent.append(contender)
        diagnostics.note("no \(contender.name): \(contender.hint)")
      }
    }
  }

  /// `quake-ingest import`, if it was selected and is installed.
  var quake: Contender? {
    contenders.first { $0.contender.name == Contender.quake.name }?.contender
  }

  /// Throws if a signal has requested a stop.
  static func stopIfAsked() throws {
    if Signals.stopRequested { throw BenchFailure("interrupted") }
  }

  /// Records a failure of a contender. The run continues without it, and fails at its end.
  /// Throws if a signal has requested a stop.
  func fail(_ name: String, _ error: any Error) throws {
    try Self.stopIfAsked()
    let failure = error as? BenchFailure ?? BenchFailure("\(name) failed", detail: "\(error)")
    diagnostics.error(failure.message, detail: failure.detail)
    failures.append(failure.message)
  }

  /// Runs each of `count` things as often as the options say. A round begins with another one each time,
  /// so that background load affects all equally.
  func alternate(_ count: Int, _ run: (_ index: Int, _ round: Int) throws -> Void) rethrows {
    for round in 0..<options.repeats {
      for place in 0..<count { try run((place + round) % count, round) }
    }
  }

  /// Makes the database `run` a copy of another, and returns its name.
  func freshDatabase(from template: String) throws -> String {
    try server.drop("run")
    try server.create("run", from: template)
    return "run"
  }

  /// Runs a program that works on a database, and measures it.
  func measure(_ program: ChildProcess, on database: String) throws -> Measurement {
    try Self.stopIfAsked()
    try server.checkpoint()
    let position = try server.walPosition()
    let before = server.processes.cpu
    var run = try Measurement(of: program, in: folder)
    try server.waitUntilLeft(database)
    run.serverCPU = server.processes.cpu - before
    run.wal = try server.wal(since: position)
    return run
  }

  /// Reports the time of a run.
  func progress(_ letter: String, _ name: String, _ round: Int, _ run: Measurement) {
    diagnostics.note(
      "\(letter): \(name), run \(round + 1): \(Readable.decimal(run.seconds, places: 3)) s")
  }

  /// A program of Quake or another, in a small environment with the database in `DATABASE_URL`.
  func program(
    _ executable: String, _ arguments: [String], database: String? = nil
  ) -> ChildProcess {
    var child = ChildProcess(executable, arguments)
    var variables = [
      "PATH": Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin", "HOME": folder,
      "LC_ALL": "C.UTF-8", "TZ": "UTC", "QUAKE_SERVER_HOME": "/dev/null/quake",
    ]
    if let database { variables["DATABASE_URL"] = server.conninfo(database) }
    child.environment = .exactly(variables)
    child.workingDirectory = folder
    return child
  }

  /// One of Quake's tools.
  func tool(_ name: String, _ arguments: [String], database: String? = nil) -> ChildProcess {
    program(options.bin + "/" + name, arguments, database: database)
  }

  /// psql with a command, which ends with an error if the command fails.
  func psql(_ command: String, _ database: String) throws -> ChildProcess {
    program(
      try server.psqlPath,
      ["-qX", "-v", "ON_ERROR_STOP=1", "-d", server.conninfo(database), "-c", command])
  }

  /// A program that PATH leads to.
  func found(_ name: String, _ arguments: [String], database: String? = nil) -> ChildProcess {
    program("/usr/bin/env", [name] + arguments, database: database)
  }

  /// The first line that a program prints; nil if it is missing or fails.
  func firstLine(of program: ChildProcess) -> String? {
    var child = program
    child.timeout = .seconds(60)
    guard let outcome = try? child.run(), outcome.succeeded else { return nil }
    let lines = String(decoding: outcome.output, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.first.map(String.init)
  }
}

/// A workload and its measurement. Each has a line in `WorkloadList.all`.
protocol Workload: Sendable {
  /// Its name on the command line and in the tables.
  var letter: String { get }
  /// The work, in a few words.
  var title: String { get }

  /// Measures it. A failure of one contender is passed to `bench.fail`, and the others continue; an
  /// error that is thrown ends the whole run.
  func run(_ bench: Bench) throws -> ResultTable
}

/// The workloads, in the order they are run in.
enum WorkloadList {
  static let all: [any Workload] = [
    LoadWorkload(letter: "a", title: "month feed, first load", file: .month),
    LoadWorkload(letter: "b", title: "month feed, unchanged", file: .month, before: .month),
    LoadWorkload(
      letter: "c", title: "month feed, 2 % revised", file: .revisedMonth, before: .month),
    LoadWorkload(letter: "d", title: "large file, first load", file: .million),
    LoadWorkload(letter: "e", title: "large file, unchanged", file: .million, before: .million),
    LoadWorkload(
      letter: "f", title: "large file, 5 % revised", file: .revisedMillion, before: .million),
    DecodeWorkload(letter: "g", title: "decoding alone"),
    LatencyWorkload(letter: "h", title: "from a commit to its watchers"),
    CatchUpWorkload(letter: "i", title: "catching up"),
    SmallTransactionsWorkload(letter: "j", title: "small transactions"),
    GrowthWorkload(letter: "k", title: "a store that has grown"),
    ReadingWorkload(letter: "l", title: "reading all of it"),
  ]
}
