import Basics
import CLinux
package import Foundation

/// A program that runs beside the test: its output is read line by line, every wait has a deadline, and
/// the program is killed with the last reference to this object.
///
/// Used from one thread.
package final class ToolProcess {
  /// How a program ended.
  package enum Ending: Equatable, Sendable {
    /// With this status.
    case exited(Int32)
    /// By this signal.
    case killed(by: Int32)
  }

  /// A wait that timed out, or a program or call that failed.
  package struct Failure: Error, CustomStringConvertible {
    /// What failed, and what was there instead.
    package let description: String

    /// A failure with a text.
    package init(description: String) {
      self.description = description
    }
  }

  /// The result of a program.
  package struct Outcome: Sendable {
    /// How it ended.
    package var ending: Ending
    /// The part of standard output that had not been read yet.
    package var output: String
    /// All of standard error.
    package var errors: String

    /// The exit status; -1 for a program that a signal ended.
    package var status: Int32 { if case .exited(let status) = ending { status } else { -1 } }
    /// Its lines that are not empty, without their ends: LF, or a terminal's CR LF.
    package var lines: [String] {
      var text = output
      return text.withUTF8 { bytes in
        var lines: [String] = []
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
          let end = rest.firstNewline ?? rest.count
          let line = rest.prefix(end)
          let isTerminals = line.last == UInt8(ascii: "\r")
          let text = isTerminals ? line.dropLast() : line
          if !text.isEmpty { lines.append(String(decoding: text, as: UTF8.self)) }
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end + 1))
        }
        return lines
      }
    }
  }

  /// Generous, because other programs may load the machine.
  package static let patience = Duration.seconds(180)

  /// Its process id.
  package let pid: pid_t
  private let name: String
  private var outputDescriptor: Int32
  private var errorDescriptor: Int32
  private var output: [UInt8] = []
  /// The bytes at the beginning of `output` that were returned as lines.
  private var returned = 0
  private var errors: [UInt8] = []
  private var ending: Ending?

  /// Starts `executable`. It sees the variables in `environment` and no others.
  ///
  /// - Parameters:
  ///   - input: A file for its standard input.
  ///   - folder: The folder to start it in.
  ///   - output: A descriptor for its standard output, for a test that reads it itself. The caller
  ///     closes it.
  package init(
    _ executable: String, _ arguments: [String], environment: [String: String],
    input: String = "/dev/null", folder: String? = nil, output: Int32? = nil
  ) throws {
    name = ([executable.split(separator: "/").last.map(String.init) ?? executable] + arguments)
      .joined(separator: " ")
    var outputEnds: [Int32] = [-1, -1]
    var errorEnds: [Int32] = [-1, -1]
    guard pipe(&outputEnds) == 0, pipe(&errorEnds) == 0 else {
      throw Failure(description: "could not make pipes: \(String(cString: strerror(errno)))")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output ?? outputEnds[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errorEnds[1], 2)
    // Close the descriptors of other tests: their pipes would stay open while this program runs.
    _ = quake_spawn_close_from(&actions, 3)
    if let folder { _ = quake_spawn_change_directory(&actions, folder) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigfillset(&defaults)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    var child: pid_t = 0
    let code = Self.withCStrings([executable] + arguments) { argv in
      Self.withCStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
        posix_spawn(&child, executable, &actions, &attributes, argv, envp)
      }
    }
    close(outputEnds[1])
    close(errorEnds[1])
    outputDescriptor = outputEnds[0]
    errorDescriptor = errorEnds[0]
    pid = child
    for descriptor in [outputDescriptor, errorDescriptor] {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    guard code == 0 else {
      ending = .exited(127)
      throw Failure(description: "could not run \(executable): \(String(cString: strerror(code)))")
    }
  }

  deinit {
    if ending == nil {
      kill(pid, SIGKILL)
      var status: Int32 = 0
      waitpid(pid, &status, 0)
    }
    if outputDescriptor >= 0 { close(outputDescriptor) }
    if errorDescriptor >= 0 { close(errorDescriptor) }
  }

  private static func withCStrings<Value>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
  ) -> Value {
    let pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
  }

  // MARK: Signals and output

  /// Sends it a signal, unless it has ended.
  package func signal(_ number: Int32) {
    if ending == nil { kill(pid, number) }
  }

  /// Stops it until it gets a SIGCONT. When this returns, none of its threads runs any more.
  package func stop() throws {
    signal(SIGSTOP)
    try eventually("process \(pid) is stopped") {
      var found = siginfo_t()
      return waitid(P_PID, id_t(pid), &found, WSTOPPED | WNOHANG | WNOWAIT) == 0
        && found.si_signo == SIGCHLD
    }
  }

  /// Closes the reading end of its standard output.
  package func closeOutput() {
    close(outputDescriptor)
    outputDescriptor = -1
  }

  /// Reads what the program has written so far, for a test that looks at it later: a full pipe would
  /// block the program.
  package func takeIn() {
    while pump(milliseconds: 0) {}
  }

  /// Reads what the program has written to standard output so far, and forgets it.
  package func discardOutput() {
    repeat {
      output.removeAll(keepingCapacity: true)
      returned = 0
    } while pump(milliseconds: 0)
  }

  /// All of standard error so far.
  package var errorText: String { String(decoding: errors, as: UTF8.self) }

  /// The next line of standard output.
  package func line(within patience: Duration = ToolProcess.patience) throws -> String {
    try wait(for: "a line", within: patience) { self.takeLine() }
  }

  /// The next lines of standard output.
  package func lines(_ count: Int, within patience: Duration = ToolProcess.patience) throws
    -> [String]
  {
    try (0..<count).map { _ in try line(within: patience) }
  }

  /// Waits until standard error holds `text`, `count` times.
  package func waitForError(
    _ text: String, count: Int = 1, within patience: Duration = ToolProcess.patience
  ) throws {
    _ = try wait(for: "\"\(text)\" on standard error", within: patience) {
      self.errorText.components(separatedBy: text).count > count ? true : nil
    }
  }

  /// Whether it has ended; what it has written may not have been read.
  package var hasEnded: Bool { reap() }

  /// Waits for its end.
  package func exit(within patience: Duration = ToolProcess.patience) throws -> Outcome {
    let deadline = ContinuousClock.now + patience
    while !reap() || outputDescriptor >= 0 || errorDescriptor >= 0 {
      guard ContinuousClock.now < deadline else { throw timeout("its end") }
      pump(milliseconds: 10)
      // Its child processes may have inherited the pipes and outlive it.
      if ending != nil, !pump(milliseconds: 0) { break }
    }
    guard let ending else { throw timeout("its end") }
    let rest = String(decoding: output[returned...], as: UTF8.self)
    output = []
    returned = 0
    return Outcome(ending: ending, output: rest, errors: errorText)
  }

  private func wait<Value>(
    for what: String, within patience: Duration, _ find: () -> Value?
  ) throws -> Value {
    let deadline = ContinuousClock.now + patience
    while true {
      if let value = find() { return value }
      guard ContinuousClock.now < deadline else { throw timeout(what) }
      let wasOver = reap()
      if !pump(milliseconds: 20), wasOver {
        if let value = find() { return value }
        throw Failure(
          description: "\(name) ended (\(ending as Ending?)) before \(what)\n\(errorText)")
      }
    }
  }

  private func timeout(_ what: String) -> Failure {
    Failure(
      description: """
        timed out waiting for \(what) of: \(name)
        standard output not read: \(String(decoding: output[returned...].prefix(2000), as: UTF8.self))
        standard error: \(errorText.suffix(4000))
        """)
  }

  private func takeLine() -> String? {
    output.withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(returned))
      guard let end = rest.firstNewline else { return nil }
      returned += end + 1
      return String(decoding: rest.prefix(end), as: UTF8.self)
    }
  }

  private func reap() -> Bool {
    if ending != nil { return true }
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return false }
    let signal = status & 0x7F
    ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(by: signal)
    return true
  }

  /// Reads what the program has written; true if there was anything.
  @discardableResult
  private func pump(milliseconds: Int32) -> Bool {
    var descriptors = [
      pollfd(fd: outputDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errorDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&descriptors, 2, milliseconds) > 0 else { return false }
    var any = false
    if descriptors[0].revents != 0 {
      output.removeFirst(returned)
      returned = 0
      any = Self.take(&outputDescriptor, into: &output)
    }
    if descriptors[1].revents != 0 { any = Self.take(&errorDescriptor, into: &errors) || any }
    return any
  }

  private static func take(_ descriptor: inout Int32, into bytes: inout [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 {
      bytes += buffer[..<count]
      return true
    }
    if count == 0 || errno != EAGAIN && errno != EINTR {
      close(descriptor)
      descriptor = -1
    }
    return false
  }
}

extension UnsafeRawBufferPointer {
  /// The position of the first LF. Tests are not optimised, and read megabytes of lines.
  fileprivate var firstNewline: Int? {
    guard let baseAddress, let found = memchr(baseAddress, 0x0A, count) else { return nil }
    return UnsafeRawPointer(found) - baseAddress
  }
}
