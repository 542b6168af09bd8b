import Basics
import CommandLine
import Glibc
import QuakeTool

/// A run of the program: a temporary folder, a server, the workloads one after the other, the report.
struct Run {
  private let options: BenchOptions
  private let diagnostics: Diagnostics

  init(_ options: BenchOptions, _ diagnostics: Diagnostics) {
    self.options = options
    self.diagnostics = diagnostics
  }

  func run() throws -> ExitStatus {
    let folder = try makeFolder()
    defer { _ = try? ChildProcess("/bin/rm", ["-rf", folder]).run() }
    let bench = try Bench(options, folder: folder, diagnostics)
    defer { bench.server.stop() }
    var report = try Report(bench)
    let output = StandardOutput()
    try output.write(options.writesJSON ? report.headJSON() : report.headText())
    try output.flush()
    for workload in WorkloadList.all where options.only?.contains(workload.letter) ?? true {
      try Self.stopIfAsked()
      diagnostics.note("workload \(workload.letter): \(workload.title)")
      let table = try workload.run(bench)
      report.add(table)
      try output.write(options.writesJSON ? table.json() : table.text())
      try output.flush()
      // After each workload, so that an interrupted run leaves its tables.
      try writeMarkdown(report)
    }
    guard bench.failures.isEmpty else {
      diagnostics.error("\(bench.failures.count) of the runs failed")
      return .failed
    }
    return .ok
  }

  /// Throws if a signal has requested a stop.
  static func stopIfAsked() throws {
    if Signals.stopRequested { throw BenchFailure("interrupted") }
  }

  private func writeMarkdown(_ report: Report) throws {
    guard let file = options.markdown else { return }
    do {
      try AtomicFile(file).write(Array(report.markdown().utf8))
    } catch {
      throw BenchFailure("could not write file \"\(file)\": \(error)")
    }
  }

  private func makeFolder() throws -> String {
    var path = Array("\(options.folder)/quake-bench-XXXXXX".utf8CString)
    guard mkdtemp(&path) != nil else {
      throw BenchFailure(
        "could not make a folder in \"\(options.folder)\": \(String(cString: strerror(errno)))")
    }
    let folder = path.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    // The server's account must be able to enter it.
    chmod(folder, 0o711)
    return folder
  }
}
