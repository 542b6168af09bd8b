@preconcurrency public import Glibc  // for `environ`, a C global

/// A program to run without a shell: an executable, its arguments, its environment and its input.
///
/// The child inherits no descriptors except the three standard ones, and no ignored or blocked signals.
public struct ChildProcess: Sendable {
  /// The environment variables of the child.
  public enum Environment: Sendable {
    /// The caller's variables, with these added or, if `nil`, removed.
    case inherited([String: String?])
    /// These and no others.
    case exactly([String: String])
  }

  /// The path of the program. PATH is not searched.
  public var executable: String
  /// The arguments after the program's name.
  public var arguments: [String]
  /// The child's environment.
  public var environment: Environment = .inherited([:])
  /// The folder to run in; `nil` is the caller's.
  public var workingDirectory: String?
  /// The standard input of the child; `nil` is `/dev/null`.
  public var input: [UInt8]?
  /// The most bytes kept of each output. Of a longer output the end is kept, because programs print their
  /// errors there.
  public var outputLimit = 1 << 20
  /// The time after which the child gets SIGTERM, and later SIGKILL; `nil` waits for ever.
  public var timeout: Duration?

  /// Runs `executable` with `arguments`, no input and the caller's environment.
  public init(_ executable: String, _ arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  /// How a child ended.
  public enum Ending: Equatable, Sendable {
    /// It exited with this status.
    case exited(Int32)
    /// This signal ended it.
    case signalled(Int32)
    /// It had not ended by its timeout, and was stopped.
    case timedOut
  }

  /// The result of a child.
  public struct Outcome: Sendable {
    /// How it ended.
    public var ending: Ending
    /// Its standard output, or the end of it.
    public var output: [UInt8]
    /// Its standard error, or the end of it.
    public var errors: [UInt8]

    /// Whether it exited with status 0.
    public var succeeded: Bool { ending == .exited(0) }
  }

  /// The error of a program that could not be started.
  public struct LaunchError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The program.
    public var executable: String
    /// The system's error number.
    public var code: Int32

    /// One line, lower case, no full stop.
    public var description: String {
      "could not run \"\(executable)\": \(String(cString: strerror(code)))"
    }
  }

  /// Replaces the calling process by the program (exec): on success, this function does not return.
  ///
  /// The program keeps the caller's standard descriptors, terminal and environment.
  public static func replaceProcess(
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
  /// The descriptors that become the child's standard ones.
  public struct Descriptors: Sendable {
    /// Its standard input.
    public var input: Int32
    /// Its standard output.
    public var output: Int32
    /// Its standard error.
    public var errors: Int32

    /// Three descriptors, which the caller continues to own.
    public init(input: Int32, output: Int32, errors: Int32) {
      self.input = input
      self.output = output
      self.errors = errors
    }
  }

  /// Which signals of a terminal reach the child.
  public enum Group: Sendable {
    /// Those that reach the caller.
    case callers
    /// None: it is in a process group of its own.
    case own
    /// None: it is in a session of its own, without a terminal.
    case ownSession
  }

  /// Starts the program and returns its process id. The caller must wait for the process.
  public func spawn(
    _ descriptors: Descriptors, in group: Group = .callers
  ) throws(LaunchError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, descriptors.input, 0)
    posix_spawn_file_actions_adddup2(&actions, descriptors.output, 1)
    posix_spawn_file_actions_adddup2(&actions, descriptors.errors, 2)
    var code = SpawnActions.closeFrom(&actions, 3)
    if code == 0, let workingDirectory {
      code = SpawnActions.changeDirectory(&actions, workingDirectory)
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
    case .ownSession: flags |= SpawnActions.newSession
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
