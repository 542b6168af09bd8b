import Foundation
import TestSupport
import Testing

/// A suite whose tests run commands with a watcher, each test with a database and a folder of its own.
class ExecSuite: ToolSuite {
  func watch(_ arguments: [String], environment: [String: String] = [:]) throws -> ToolProcess {
    try Tools.start(
      "quake-watch", database.option + arguments,
      environment: ["XDG_STATE_HOME": folder.path].merging(environment) { $1 },
      folder: folder.path)
  }

  /// Runs a watcher over the whole history to its end.
  func run(_ arguments: [String]) throws -> ToolProcess.Outcome {
    try watch(["--from-start", "--no-follow"] + arguments).exit()
  }

  /// A transaction that inserts events.
  func insert(_ codes: String...) throws { try insert(codes) }

  func insert(_ codes: [String]) throws {
    let values = codes.map { "('\($0)', '2024-05-06 07:08:09+00', 4.5, 'Nowhere')" }
    try database.psql(
      "insert into quake.quake (code, time, magnitude, place) values \(values.joined(separator: ","));"
    )
  }

  func file(_ name: String) -> String { folder.path + "/" + name }

  /// The lines of a file; none if there is no such file.
  func lines(of name: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: file(name)) else { return [] }
    return try contents(of: file(name)).split(separator: "\n").map(String.init)
  }

  func make(_ name: String) throws { try folder.write(name, "") }

  /// A gate at which a command waits that reads a line from the file `name`.
  func gate(_ name: String = "gate") throws -> Gate { try Gate(file(name)) }

  /// The tokens in the history, in their order.
  func tokens() throws -> [String] {
    try database.tokens()
  }

  /// The contents of the state file.
  func state() throws -> String { try lines(of: "state").first ?? "none" }
}

/// A named pipe at which commands wait until the test lets them through.
final class Gate {
  private let descriptor: Int32

  init(_ path: String) throws {
    try #require(mkfifo(path, 0o600) == 0)
    // Opened for reading and writing, so that readers get no end of file.
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
  }

  deinit { close(descriptor) }

  /// Lets one command through, which waits or will come, and waits until it has passed.
  func letOneThrough() throws {
    try #require(write(descriptor, "\n", 1) == 1)
    try eventually("a command passes the gate") {
      var count: Int32 = 0
      return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count == 0
    }
  }
}

extension ToolProcess.Outcome {
  /// The messages, without the one with which a watch begins.
  var problems: String {
    errors.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("quake-watch: watching after ") }.joined(separator: "\n")
  }
}
