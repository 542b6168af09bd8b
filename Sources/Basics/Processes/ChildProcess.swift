internal import CLinux
@preconcurrency internal import Glibc  // for `environ`, a C global
package import SwiftOverlayShims  // where this compiler finds pid_t and the members of timespec

/// A program to run without a shell: an executable, its arguments, its environment and its input.
///
/// The child inherits no descriptors except the three standard ones, and no ignored or blocked signals.
package struct ChildProcess: Sendable {
  package enum Environment: Sendable {
    /// The caller's variables, with these added or, if `nil`, removed.
    case inherited([String: String?])
    /// These and no others.
    case exactly([String: String])
  }

  /// The path of the program. PATH is not searched.
  package var executable: String
  package var arguments: [String]
  package var environment: Environment = .inherited([:])
  /// The folder to run in; `nil` is the caller's.
  package var workingDirectory: String?
  /// The standard input of the child; `nil` is an empty one.
  package var input: [UInt8]?
  /// The most bytes kept of each output. Of a longer output the end is kept, because programs print their
  /// errors there.
  package var outputLimit = 1 << 20
  /// The time after which the child gets SIGTERM, and later SIGKILL; `nil` waits for ever.
  package var timeout: Duration?

  /// Runs `executable` with `arguments`, no input and the caller's environment.
  package init(_ executable: String, _ arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  package enum Ending: Equatable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// It had not ended by its timeout, and was stopped.
    case timedOut
  }

  package struct Outcome: Sendable {
    package var ending: Ending
    /// Its standard output, or the end of it.
    package var output: [UInt8]
    /// Its standard error, or the end of it.
    package var errors: [UInt8]

    package var succeeded: Bool { ending == .exited(0) }
  }

  /// The error of a program that could not be started.
  package struct LaunchError: Error, Equatable, Sendable, CustomStringConvertible {
    package var executable: String
    /// The system's error number.
    package var code: Int32

    package var description: String {
      "could not run \"\(executable)\": \(String(cString: strerror(code)))"
    }
  }

  /// Replaces the calling process by the program (exec): on success, this function does not return.
  ///
  /// The program keeps the caller's standard descriptors, terminal and environment.
  package static func replaceProcess(
    _ executable: String, _ arguments: [String]
  ) throws(LaunchError) -> Never {
    let code = withCStrings([executable] + arguments) { pointers -> Int32 in
      execv(executable, pointers)
      return errno
    }
    throw LaunchError(executable: executable, code: code)
  }
}

extension ChildProcess {
  /// Which signals of a terminal reach the child.
  package enum Group: Sendable {
    /// Those that reach the caller.
    case callers
    /// None: it is in a process group of its own.
    case own
    /// None: it is in a session of its own, without a terminal.
    case ownSession
  }

  /// Starts the program and returns its process id. The caller must wait for the process.
  ///
  /// - Parameters:
  ///   - input: What becomes the child's standard input. The caller continues to own the descriptors.
  ///   - output: What becomes its standard output.
  ///   - errors: What becomes its standard error.
  package func spawn(
    input: Int32, output: Int32, errors: Int32, in group: Group = .callers
  ) throws(LaunchError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    var code = quake_spawn_close_from(&actions, 3)
    if code == 0, let workingDirectory {
      code = quake_spawn_change_directory(&actions, workingDirectory)
    }
    guard code == 0 else { throw LaunchError(executable: executable, code: code) }

    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
    switch group {
    case .callers: break
    case .own:
      posix_spawnattr_setpgroup(&attributes, 0)
      flags |= Int32(POSIX_SPAWN_SETPGROUP)
    case .ownSession: flags |= 0x80  // POSIX_SPAWN_SETSID
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var pid: pid_t = 0
    code = Self.withCStrings([executable] + arguments) { arguments in
      Self.withCStrings(variables) { variables in
        posix_spawn(&pid, executable, &actions, &attributes, arguments, variables)
      }
    }
    guard code == 0 else { throw LaunchError(executable: executable, code: code) }
    return pid
  }

  /// The child's environment as `NAME=value`.
  private var variables: [String] {
    switch environment {
    case .exactly(let variables):
      return variables.map { "\($0.key)=\($0.value)" }
    case .inherited(let overlay):
      var result: [String] = []
      var next = environ
      while let entry = next.pointee {
        let text = String(cString: entry)
        let name = String(text.prefix { $0 != "=" })
        if overlay[name] == nil { result.append(text) }
        next += 1
      }
      for case (let name, let value?) in overlay { result.append("\(name)=\(value)") }
      return result
    }
  }

  /// Calls `body` with a NULL-terminated array of C strings.
  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }

  /// Decodes a status of `waitpid`, because Swift does not import the C macros.
  static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}

/// The two ends of a pipe; -1 is a closed end.
struct Pipe {
  private(set) var reading: Int32 = -1
  private(set) var writing: Int32 = -1

  /// Both ends close-on-exec, and above the standard descriptors: in a program started with one
  /// of those closed, the pipe would take its place and then be overwritten in the child.
  /// (`pipe2` cannot be called from Swift; the moment between is harmless for our own children,
  /// which close everything.)
  init?() {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 3)
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 3)
    let code = errno
    close(ends[0])
    close(ends[1])
    if reading < 0 || writing < 0 {
      closeAll()
      errno = code
      return nil
    }
  }

  mutating func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  mutating func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  mutating func closeAll() {
    closeReading()
    closeWriting()
  }
}

/// Writes to a pipe whose reader may have gone, without the SIGPIPE that would end the program.
enum BrokenPipe {
  /// Like `write`, but a closed pipe only causes the error EPIPE. SIGPIPE is sent to the writing thread, so
  /// it is enough to block it there, and to consume it if this call has caused it.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    var signal = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    sigemptyset(&signal)
    sigaddset(&signal, SIGPIPE)
    sigpending(&pending)
    pthread_sigmask(SIG_BLOCK, &signal, &before)
    let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    let code = errno
    if count < 0, code == EPIPE, sigismember(&pending, SIGPIPE) == 0 {
      var now = timespec()
      _ = sigtimedwait(&signal, nil, &now)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
  }
}
