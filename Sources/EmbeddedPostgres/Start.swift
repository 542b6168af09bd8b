import Basics
import Glibc

extension EmbeddedServer {
  /// Starts the server unless another program does so first.
  func start(
    creates: Bool, progress: (Phase) -> Void
  ) throws(EmbeddedServerError) -> Outcome {
    // Without data and lock there is no server, and no other program is creating one. The folder is left as
    // it is.
    guard creates || mayExist(folder.data) || mayExist(folder.lock) else { throw absence() }
    try folder.prepare(for: account)
    let lock = try Lock.acquire(
      folder, account: account, timeout: options.startTimeout,
      onWait: { progress(.waitingForLock) },
      isNeedless: { Postmaster.isAcceptingConnections(folder) })
    guard let lock else { return .alreadyRunning }
    // The lock must be held to the end. A noncopyable value may be destroyed after its last use.
    defer { withExtendedLifetime(lock) {} }
    if Postmaster.isAcceptingConnections(folder) { return .alreadyRunning }

    let dataVersion = folder.dataVersion
    guard creates || dataVersion != nil else { throw absence() }
    let binaries = try Binaries.find(options, for: account, preferring: dataVersion)
    if let dataVersion {
      guard binaries.major == dataVersion else {
        throw EmbeddedServerError(
          .configuration,
          "data folder of the embedded server was created by PostgreSQL \(dataVersion), "
            + "but the programs found are version \(binaries.version)",
          detail: "Data: \"\(folder.data)\". Programs: \"\(binaries.directory)\".",
          hint: "Install PostgreSQL \(dataVersion) (on Debian: apt install "
            + "postgresql-\(dataVersion)) beside it, convert the data with pg_upgrade, or move "
            + "the folder away to start with an empty database.")
      }
    } else {
      progress(.initialising)
      try initialise(with: binaries)
    }
    progress(.starting)
    try run(binaries, progress: progress)
    return dataVersion == nil ? .initialised : .started
  }

  private func mayExist(_ path: String) -> Bool {
    access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR
  }

  private func absence() -> EmbeddedServerError {
    EmbeddedServerError(
      .absent, "there is no embedded server in \"\(options.home)\" yet",
      hint: "\"quake-admin server start\" creates one.")
  }

  /// Launches the postmaster and waits until it accepts connections. Under the lock.
  private func run(
    _ binaries: Binaries, progress: (Phase) -> Void
  ) throws(EmbeddedServerError) {
    var wait = StartWait(timeout: options.startTimeout)
    var child: pid_t?
    var mustBeAlone = false
    while !Postmaster.isAcceptingConnections(folder) {
      if let pid = child {
        if Self.hasEnded(pid) {
          child = nil
          mustBeAlone = try judgeFailure() == .othersUseTheData
        }
      } else if Postmaster.current(folder) == nil,
        !mustBeAlone || ServerProcess.all(in: folder).isEmpty
      {
        child = try launch(binaries, progress)
      }
      // Otherwise there is a postmaster that is stopping, or is still starting after its program was killed.

      // Whether the time is up is asked once, so that no end passes between the look and the error.
      let isOver = wait.isOver
      if isOver || wait.isTimeToLook, ServerProcess.isRecovering(folder) {
        wait.foundRecovering(progress)
      } else if isOver {
        throw timeoutError()
      }
      // A postmaster sends no event when it is ready; pg_ctl polls the file, too.
      Pause.briefly()
    }
  }

  /// Runs `postgres` in a session of its own. It inherits only a file for its first output. `nil` if a
  /// postmaster is already starting.
  ///
  /// The file is locked, and the postmaster inherits the lock. It releases the lock when it opens its log,
  /// and by then its pid file exists. So if a program is killed right after the launch, the next one does not
  /// remove the socket that the postmaster is about to create.
  private func launch(
    _ binaries: Binaries, _ progress: (Phase) -> Void
  ) throws(EmbeddedServerError) -> pid_t? {
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    let words = Files.openOwn(folder.startLog, O_WRONLY | O_APPEND)
    guard nothing >= 0, words >= 0 else {
      let code = errno
      throw fullDisk(code: code)
        ?? EmbeddedServerError(
          .unavailable, "could not open file \"\(folder.startLog)\": \(Files.reason(code))")
    }
    defer { close(words) }
    guard flock(words, LOCK_EX | LOCK_NB) == 0, Postmaster.current(folder) == nil else {
      return nil
    }
    ftruncate(words, 0)
    if account.isSwitched { _ = fchown(words, account.user, account.group) }
    Postmaster.clearRemains(folder)
    var port = Self.listening(folder)?.port
    if let wanted = port, Self.isUsed(wanted) {
      // Start without TCP: the program that uses the port must not make the database unavailable.
      progress(.portInUse(wanted))
      port = nil
    }
    if let port, port != Folder.port {
      // PostgreSQL names its socket after the port. Clients know the usual name, whatever the port is.
      symlink(Folder.socketName(port), folder.socketPath)
    }
    let command = account.command(
      binaries.postgres,
      ["-D", folder.data] + Configuration.arguments(folder, port: port, options.settings))
    do throws(ChildProcess.LaunchError) {
      return try command.spawn(input: nothing, output: words, errors: words, in: .ownSession)
    } catch {
      throw EmbeddedServerError(.unavailable, error.description)
    }
  }

  /// Whether the postmaster that this process launched has ended. It is our child, so it stays a zombie until
  /// this call reaps it; see `Postmaster.clearRemains`.
  private static func hasEnded(_ pid: pid_t) -> Bool {
    var status: Int32 = 0
    let waited = waitpid(pid, &status, WNOHANG)
    return waited == pid || (waited < 0 && errno == ECHILD)
  }

  /// Why to try again after a postmaster that ended before it was ready.
  private enum Retry {
    /// Backends of a killed postmaster end only when they next check for it. Until then PostgreSQL refuses to
    /// start.
    case othersUseTheData
    /// Another program started a postmaster at the same moment.
    case anotherIsThere
  }

  /// Decides whether to try again after our postmaster ended before it was ready; throws if not.
  private func judgeFailure() throws(EmbeddedServerError) -> Retry {
    let words = Files.read(folder.startLog, last: 16 << 10) ?? []
    if words.contains("pre-existing shared memory block".utf8) { return .othersUseTheData }
    if Postmaster.current(folder) != nil { return .anotherIsThere }
    let isInLog = words.contains("redirecting log output".utf8)
    let output = isInLog ? Files.read(folder.currentLogFile, last: 4 << 10) ?? [] : words
    throw fullDisk(after: output)
      ?? EmbeddedServerError(
        .unavailable, "could not start the embedded server", detail: Files.lastLines(output),
        hint: "Its log: \(isInLog ? folder.currentLogFile : folder.startLog).")
  }

  private func timeoutError() -> EmbeddedServerError {
    if let postmaster = Postmaster.current(folder), postmaster.state == .ready {
      return EmbeddedServerError(
        .unavailable, "embedded server runs but does not answer",
        detail: "Process \(postmaster.pid), socket \"\(folder.socketPath)\".",
        hint: "Stop it (quake-admin server stop), then try again.")
    }
    let others = ServerProcess.all(in: folder)
    if Postmaster.current(folder) == nil, !others.isEmpty {
      return EmbeddedServerError(
        .tryLater, "processes of a crashed server still use the data in \"\(folder.data)\"",
        detail: "Process ids: \(others.map { String($0.pid) }.joined(separator: ", ")).",
        hint: "Wait until these processes end, or end them.")
    }
    return EmbeddedServerError(
      .tryLater, "embedded server did not become ready within \(options.startTimeout)",
      hint: "Its log: \(folder.currentLogFile).")
  }

  /// Measures the time that a start takes, and decides when it is too long.
  private struct StartWait {
    private var deadline: Deadline
    private var nextLook: Deadline
    private var hasReported = false

    init(timeout: Duration) {
      deadline = Deadline(after: timeout)
      nextLook = Deadline(after: .seconds(1))
    }

    var isOver: Bool { deadline.hasPassed }

    /// Whether to search all processes for a recovery, which is done once a second and when the time is up.
    var isTimeToLook: Bool {
      mutating get {
        guard nextLook.hasPassed else { return false }
        nextLook = Deadline(after: .seconds(1))
        return true
      }
    }

    /// Extends the time while the server is recovering.
    mutating func foundRecovering(_ progress: (Phase) -> Void) {
      if isOver { deadline = Deadline(after: .seconds(5)) }
      if !hasReported { progress(.recovering) }
      hasReported = true
    }
  }
}

extension EmbeddedServer {
  /// Stops the server and waits until its process has ended. Returns whether it was running.
  ///
  /// A postmaster that was told to stop while it recovered from a crash can wait for its checkpointer without an end.
  /// After the time-out, the fast mode therefore becomes the immediate one, after which the next start recovers.
  @discardableResult
  package func stop(
    mode: StopMode = .fast, timeout: Duration = .seconds(60)
  ) throws(EmbeddedServerError) -> Bool {
    try folder.checkAccess()
    guard Postmaster.current(folder) != nil else { return false }
    var deadline = Deadline(after: timeout)
    let lock = try Lock.acquire(
      folder, account: account, timeout: timeout,
      isNeedless: { Postmaster.current(folder) == nil })
    guard let lock else { return true }
    defer { withExtendedLifetime(lock) {} }
    guard let postmaster = Postmaster.current(folder) else { return true }

    var mode = mode
    try signal(postmaster, mode)
    while ServerProcess(postmaster.pid)?.belongs(to: folder) == true {
      if deadline.hasPassed {
        guard mode == .fast else {
          throw EmbeddedServerError(
            .tryLater, "embedded server did not stop within \(timeout)",
            detail: "Process \(postmaster.pid) still runs.",
            hint: "Its log: \(folder.currentLogFile).")
        }
        mode = .immediate
        try signal(postmaster, mode)
        // A postmaster kills children that do not end within five seconds.
        deadline = Deadline(after: max(timeout, .seconds(30)))
      }
      // It is the child of another process, so its end is no event here.
      Pause.briefly()
    }
    Postmaster.reap(postmaster.pid)
    return true
  }

  private func signal(_ postmaster: Postmaster, _ mode: StopMode) throws(EmbeddedServerError) {
    guard kill(postmaster.pid, mode.signal) != 0, errno != ESRCH else { return }
    throw EmbeddedServerError(
      errno == EPERM ? .notAllowed : .unavailable,
      "could not signal the embedded server (process \(postmaster.pid)): \(Files.reason(errno))")
  }
}

extension EmbeddedServer.StopMode {
  /// The signal that requests this mode from a postmaster.
  fileprivate var signal: Int32 {
    switch self {
    case .fast: SIGINT
    case .immediate: SIGQUIT
    }
  }
}

extension EmbeddedServer {
  /// The state of the server, determined without a connection to it.
  package struct Status: Equatable, Sendable {
    package var running: Bool
    /// The postmaster's process id; also while the server is starting or stopping.
    package var pid: Int32?
    package var dataDirectory: String
    package var socketDirectory: String
    /// The data folder's major version, such as `15`; `nil` if there is no data folder yet.
    package var version: String?
    /// The server's present log file, or the one that it will open.
    package var logFile: String
  }

  package enum Outcome: Equatable, Sendable {
    /// The server was running, or another program has just started it.
    case alreadyRunning
    /// It started the server with an existing data folder.
    case started
    /// It created the data folder, then started the server.
    case initialised
  }

  /// A phase of `startIfNeeded`, for a message to a waiting user.
  package enum Phase: Equatable, Sendable {
    /// Another program is starting or stopping the server.
    case waitingForLock
    /// A new data folder is being created, which takes some seconds.
    case initialising
    case starting
    /// The server is replaying its write-ahead log after a crash, which can take long.
    case recovering
    /// Another program has the TCP port, so that the server listens on its Unix socket only.
    case portInUse(Int)
  }

  /// How to stop the server, as in `pg_ctl stop -m`.
  package enum StopMode: Equatable, Sendable {
    /// Roll back open transactions, disconnect all clients, write a checkpoint.
    case fast
    /// Stop at once; the next start recovers from the write-ahead log.
    case immediate
  }
}
