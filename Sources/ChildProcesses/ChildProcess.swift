@preconcurrency public import Glibc  // for `environ`, a C global

/// Another program, run without a shell: an executable, its arguments, and what it is given.
///
/// The child inherits no descriptor beyond the three standard ones, no ignored or blocked signal.
public struct ChildProcess: Sendable {
  /// The variables that the child sees.
  public enum Environment: Sendable {
    /// The caller's own, with these added or, where `nil`, taken away.
    case inherited([String: String?])
    /// These and no others.
    case exactly([String: String])
  }

  /// The program: a path, not looked for in PATH.
  public var executable: String
  /// The arguments after the program's name.
  public var arguments: [String]
  /// The child's variables.
  public var environment: Environment = .inherited([:])
  /// The folder to run in; `nil` is the caller's.
  public var workingDirectory: String?
  /// What the child reads from its standard input; `nil` is `/dev/null`.
  public var input: [UInt8]?
  /// How many bytes of each output are kept. Of a longer output the end is kept, as that is where
  /// programs say why they failed.
  public var outputLimit = 1 << 20
  /// After this the child is told to stop, and killed if it does not; `nil` waits for ever.
  public var timeout: Duration?

  /// `executable` with `arguments`, nothing to read, the caller's environment.
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

  /// What a child left.
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

  /// A program that could not be run at all.
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

  /// Puts the program in the place of the caller, which ends: nothing after the call is run.
  ///
  /// The standard descriptors, the terminal and the environment stay the caller's.
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
    /// What it reads.
    public var input: Int32
    /// Where its output goes.
    public var output: Int32
    /// Where its messages go.
    public var errors: Int32

    /// Three descriptors, which stay the caller's.
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

  /// Starts the program and returns its process id, which the caller has to wait for.
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

  /// How a status of `waitpid` reads; the macros of C are not visible from Swift.
  static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}
