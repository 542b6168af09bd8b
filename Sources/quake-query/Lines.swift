import Basics
import CommandLine
import Glibc
import QuakeModel
import QuakeTool

/// Writes standard output, either one JSON object a line or lines for people.
final class Lines {
  /// Formats the lines for people.
  let text: ChangeText
  let isJSON: Bool
  private let output = StandardOutput()
  private var json = JSONWriter()

  init(_ arguments: ParsedArguments) {
    isJSON = arguments.flag("json")
    text = ChangeText(for: output)
  }

  /// Writes one line in the format that the user chose.
  ///
  /// - Parameter body: Writes the JSON. It calls the drain that it receives whenever a long line has grown.
  func write(
    text: @autoclosure () -> String,
    json body: (inout JSONWriter, (inout JSONWriter) throws -> Void) throws -> Void
  ) throws {
    if isJSON {
      try body(&json, drain)
      json.newline()
      try json.withBytes { try output.write($0) }
      json.removeAll()
    } else {
      try output.writeLine(text())
    }
  }

  /// Writes one line, which is a short object if the user chose JSON.
  func writeObject(
    text: @autoclosure () -> String, members: (inout JSONWriter) -> Void
  ) throws {
    try write(text: text()) { json, _ in json.object(members) }
  }

  /// Writes a part of a JSON line, which may be longer than the available memory.
  func writePart(
    _ body: (inout JSONWriter, (inout JSONWriter) throws -> Void) throws -> Void
  ) throws {
    try body(&json, drain)
    try drain(&json)
  }

  private func drain(_ json: inout JSONWriter) throws {
    try json.withBytes { try output.write($0) }
    json.removeWritten()
  }

  /// Ends a JSON line that was written in parts.
  func endLine() throws {
    json.removeAll()
    try output.write("\n")
  }

  /// Writes text unchanged.
  func write(_ text: String) throws { try output.write(text) }

  func flush() throws { try output.flush() }

  /// Ends a command that a signal interrupted before its answer was complete.
  func stop(_ message: String) throws -> Never {
    try output.flush()
    throw FileError(
      message, detail: "The output is not complete. A file that --output names is as it was before."
    )
  }
}

/// The program that shows long output on a terminal a screen at a time: `PAGER`, by default `less -FRX`.
struct Pager {
  let output: StandardOutput
  private let process: pid_t?

  /// Calls `body` with the output for lines for people: a pager if standard output is a terminal, else
  /// standard output. Returns when the pager has ended.
  static func run<Value>(_ body: (StandardOutput) throws -> Value) throws -> Value {
    let pager = start() ?? Pager(output: StandardOutput(), process: nil)
    let result = Result<Value, any Error> {
      let value = try body(pager.output)
      try pager.output.flush()
      return value
    }
    guard pager.end() else {
      throw FileError(
        "could not run the pager \"\(PrintableText.line(command ?? ""))\"",
        detail: "PAGER names another; if it is empty, the output is shown without one.")
    }
    return try result.get()
  }

  private static func start() -> Pager? {
    guard Terminal.isTerminal(1), Terminal.isTerminal(0) || Terminal.isTerminal(2),
      Environment.value("TERM") != "dumb", let command
    else { return nil }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    let program = ChildProcess("/bin/sh", ["-c", command])
    guard
      let process = try? program.spawn(input: ends[0], output: 1, errors: 2)
    else {
      close(ends[1])
      return nil
    }
    // The terminal sends an interrupt to both. The pager decides what it means; when it ends, writing to it
    // fails, and so ends this program.
    signal(SIGINT, SIG_IGN)
    Signals.ignoreFailedWrites()
    return Pager(output: StandardOutput(descriptor: ends[1]), process: process)
  }

  /// The command of the pager; nil: none.
  private static var command: String? {
    if let pager = Environment.value("PAGER") {
      return pager.isEmpty || pager == "cat" ? nil : pager
    }
    let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
    return folders.contains { access("\($0)/less", X_OK) == 0 } ? "less -FRX" : nil
  }

  /// Waits until the pager has ended; false if the shell could not run it.
  private func end() -> Bool {
    guard let process else { return true }
    close(output.descriptor)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    signal(SIGINT, SIG_DFL)
    return ![126 << 8, 127 << 8].contains(status)
  }
}
