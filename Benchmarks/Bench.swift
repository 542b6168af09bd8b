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

  /// An installed contender, by its name.
  func contender(_ name: String) -> Contender? {
    contenders.first { $0.contender.name == name }?.contender
  }

  /// Records a failure of a contender. The run continues without it, and fails at its end.
  /// Throws if a signal has requested a stop.
  func fail(_ name: String, _ error: any Error) throws {
    try Run.stopIfAsked()
    let failure = error as? BenchFailure ?? BenchFailure("\(name) failed", detail: "\(error)")
    diagnostics.error(failure.message, detail: failure.detail)
    failures.append(failure.message)
  }

  /// Runs a program that works on a database, and measures it.
  func measure(_ program: ChildProcess, on database: String) throws -> Measurement {
    try Run.stopIfAsked()
    try server.checkpoint()
    let position = try server.walPosition()
    let before = server.processes.cpu
    let usage = try MeasuredChild(folder: folder).run(program)
    try server.waitUntilLeft(database)
    let serverCPU = server.processes.cpu - before
    return Measurement(
      usage, serverCPU: serverCPU, wal: try server.wal(since: position))
  }

  /// A program of Quake or of a peer, in a small environment with the database in `DATABASE_URL`.
  func program(
    _ executable: String, _ arguments: [String], database: String? = nil,
    environment: [String: String] = [:]
  ) -> ChildProcess {
    var child = ChildProcess(executable, arguments)
    var variables = [
      "PATH": Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin", "HOME": folder,
      "LC_ALL": "C.UTF-8", "TZ": "UTC", "QUAKE_SERVER_HOME": "/dev/null/quake",
    ]
    if let database { variables["DATABASE_URL"] = server.conninfo(database) }
    child.environment = .exactly(variables.merging(environment) { $1 })
    child.workingDirectory = folder
    return child
  }

  /// One of Quake's tools.
  func tool(_ name: String, _ arguments: [String], database: String? = nil) -> ChildProcess {
    program(options.bin + "/" + name, arguments, database: database)
  }

  /// The first line that a program prints; nil if it is missing or fails.
  func firstLine(of executable: String, _ arguments: [String]) -> String? {
    var child = program(executable, arguments)
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
