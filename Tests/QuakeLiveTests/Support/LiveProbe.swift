import Basics
import Glibc
import TestSupport

/// The program that measures itself: memory belongs to a whole process, and the tests share one.
enum LiveProbe {
  struct Failure: Error {
    var output: String
  }

  static let applicationName = "test-probe"

  /// Runs it; the numbers that it prints.
  ///
  /// - Parameter pause: What it waits for after the first change.
  static func run(_ arguments: [String], pause: () throws -> Void = {}) throws -> [Int] {
    var input: [Int32] = [-1, -1]
    var output: [Int32] = [-1, -1]
    guard pipe(&input) == 0, pipe(&output) == 0 else { throw Failure(output: "no pipe") }
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child = ChildProcess(Tools.probe, arguments)
    let pid = try child.spawn(input: input[0], output: output[1], errors: 2)
    close(input[0])
    close(output[1])
    defer { close(output[0]) }
    do {
      try pause()
    } catch {
      kill(pid, SIGKILL)
      close(input[1])
      waitpid(pid, nil, 0)
      throw error
    }
    _ = write(input[1], "\n", 1)
    let text = readAll(output[0], from: pid)
    close(input[1])
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw Failure(output: "ended with \(status): \(text)") }
    return text.split(separator: "\n").compactMap { Int($0) }
  }

  /// What the probe prints until it ends, which it is made to if it is silent for too long.
  private static func readAll(_ descriptor: Int32, from pid: pid_t) -> String {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 600_000) == 0 { kill(pid, SIGKILL) }
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += buffer[..<count]
    }
  }
}
