import Basics
import Glibc
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite struct RecoveryTests {
  /// Kills the postmaster with SIGKILL and waits until it has ended.
  private func crash(_ server: EmbeddedServer) throws {
    let pid = try #require(try server.status().pid)
    kill(pid, SIGKILL)
    try eventually("the postmaster ends") { EmbeddedServer.ServerProcess(pid) == nil }
  }

  @Test func theServerStartsAgainWithWhatWasCommittedBesideAZombie() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      try server.start()
      _ = try server.ask("create table public.kept as select 42 as answer")
      try crash(server)
      #expect(try server.startIfNeeded() == .started)
      #expect(try server.ask("select answer from public.kept") == "42")
    }
  }

  @Test func theServerWaitsForBackendsThatHaveNotNoticedTheCrashYet() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      try server.start()
      let backend = Backend(server)
      defer { backend.resume() }
      let pid = try backend.open()
      // Stopped, it cannot notice that its postmaster has gone.
      kill(pid, SIGSTOP)
      try crash(server)

      var impatient = temporary.options
      var detail: String?
      // A busy machine may need longer until the new postmaster has noticed the backend, and has ended.
      for limit in [Duration.milliseconds(500), .seconds(10), .seconds(60)] where detail == nil {
        impatient.startTimeout = limit
        let error = #expect(throws: EmbeddedServerError.self) {
          try EmbeddedServer(impatient).start()
        }
        #expect(error?.kind == .tryLater)
        detail = error?.detail
      }
      #expect(detail?.contains(String(pid)) == true)

      kill(pid, SIGCONT)
      #expect(try server.startIfNeeded() == .started)
    }
  }

  @Test func aServerWhoseCheckpointerHangsIsStopped() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      try server.start()
      let checkpointer = try server.ask(
        "select pid from pg_stat_activity where backend_type = 'checkpointer'")
      kill(try #require(pid_t(checkpointer)), SIGSTOP)
      #expect(try server.stop(timeout: .seconds(1)))
      #expect(try server.startIfNeeded() == .started)
    }
  }

  @Test func theServerIgnoresAPidFileThatNamesALiveProcessOtherThanPostgreSQL() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      try server.start()
      let text = try #require(EmbeddedServer.Files.text(server.folder.pidFile))
      try server.stop(mode: .immediate)
      // A process of the server's own account: PostgreSQL itself recognises those of others.
      let other = try Bystander(server.account)
      defer { other.end() }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let forged = (["\(other.pid)"] + lines.dropFirst()).joined(separator: "\n")
      temporary.write(forged, to: server.folder.pidFile)
      chown(server.folder.pidFile, server.account.user, server.account.group)
      temporary.write("\(other.pid)\n", to: server.folder.socketPath + ".lock")
      chown(server.folder.socketPath + ".lock", server.account.user, server.account.group)

      let status = try server.status()
      #expect(!status.running && status.pid == nil)
      #expect(try !server.stop())
      #expect(try server.startIfNeeded() == .started)
      #expect(EmbeddedServer.ServerProcess(other.pid) != nil)
    }
  }

  @Test func theServerStartsDespiteAnEmptyPidFileAndAFileInPlaceOfTheSocket() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      try server.start()
      try server.stop()
      temporary.write("", to: server.folder.pidFile)
      temporary.write("", to: server.folder.socketPath)
      #expect(try server.startIfNeeded() == .started)
    }
  }

  @Test func theServerMayExceedTheTimeoutWhileItRecovers() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      var options = temporary.options
      var server = try EmbeddedServer(options)
      try server.start()
      try server.stop(mode: .immediate)
      // A recovery that lasts until the pipe of its archive is opened.
      let archive = options.home + "/archive"
      mkfifo(archive, 0o600)
      chown(archive, server.account.user, server.account.group)
      let signal = server.folder.data + "/recovery.signal"
      temporary.write("", to: signal)
      chown(signal, server.account.user, server.account.group)
      options.settings["restore_command"] = "cat '\(archive)' && false"
      // As in crash recovery, the server accepts no connections before it is over.
      options.settings["hot_standby"] = "off"

      var phases: [EmbeddedServer.Phase] = []
      let archiveIsOpen = Tally()
      var opener: BackgroundThread?
      func start(within limit: Duration) throws -> EmbeddedServer.Outcome {
        options.startTimeout = limit
        server = try EmbeddedServer(options)
        let begun = ContinuousClock.now
        return try server.startIfNeeded { phase in
          phases.append(phase)
          guard phase == .recovering, opener == nil else { return }
          opener = BackgroundThread {
            try eventually("the recovery has exceeded the timeout") {
              ContinuousClock.now - begun > limit + .milliseconds(500)
            }
            archiveIsOpen.add(1)
            // A process that is reading the archive continues; later ones do not find it.
            let descriptor = open(archive, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            unlink(archive)
            close(descriptor)
          }
        }
      }

      var limit = Duration.milliseconds(1500)
      var outcome: EmbeddedServer.Outcome?
      while outcome == nil {
        do {
          outcome = try start(within: limit)
        } catch let error as EmbeddedServerError where error.kind == .tryLater {
          // On a busy machine the recovery may begin later than that, and the server may be ready long after its end.
          // But as long as it recovers, the start does not fail.
          try #require(opener == nil || archiveIsOpen.total > 0, "\(error)")
          limit = limit * 4
        }
      }
      try opener?.join()
      #expect(phases.first == .starting && phases.contains(.recovering), "\(phases)")
      #expect(outcome == .started || archiveIsOpen.total > 0 && outcome == .alreadyRunning)
      #expect(try server.ask("select pg_is_in_recovery()") == "f")
    }
  }

  @Test func theServerIsCreatedAgainAfterAnInterruptedInitialisation() throws {
    try TemporaryServer.with { temporary in
      let server = try temporary.embedded()
      try server.folder.prepare(for: server.account)
      let left = server.folder.home + "/data.new.1.1"
      _ = try server.account.command("/bin/mkdir", ["-p", left + "/base"]).run()
      #expect(access(left, F_OK) == 0)
      #expect(try server.startIfNeeded() == .initialised)
      #expect(access(left, F_OK) != 0)
    }
  }

  @Test func theServerReportsADataFolderOfAnotherVersion() throws {
    try TemporaryServer.with { temporary in
      let server = try temporary.embedded()
      try server.folder.prepare(for: server.account)
      mkdir(server.folder.data, 0o700)
      temporary.write("12\n", to: server.folder.data + "/PG_VERSION")
      let error = #expect(throws: EmbeddedServerError.self) { try server.start() }
      #expect(error?.kind == .configuration)
      #expect(error?.message.contains("PostgreSQL 12,") == true)
      #expect(error?.message.contains("version 15.") == true)
      #expect(error?.hint?.contains("postgresql-12") == true)
    }
  }

  @Test func theServerDoesNotTouchAFolderWithOtherContents() throws {
    try TemporaryServer.with { temporary in
      let server = try temporary.embedded()
      try server.folder.prepare(for: server.account)
      mkdir(server.folder.data, 0o700)
      temporary.write("mine", to: server.folder.data + "/letter")
      let error = #expect(throws: EmbeddedServerError.self) { try server.start() }
      #expect(error?.kind == .configuration)
      #expect(access(server.folder.data + "/letter", F_OK) == 0)
    }
  }

  @Test func theServerNamesTheMissingPackageIfThereAreNoPrograms() throws {
    try TemporaryServer.with { temporary in
      var options = temporary.options
      options.searchPath = ["/nonexistent"]
      options.packageRoot = "/nonexistent"
      var error = #expect(throws: EmbeddedServerError.self) { try EmbeddedServer(options).start() }
      #expect(error?.kind == .configuration)
      #expect(error?.hint?.contains("apt install postgresql") == true)

      options.binDirectory = "/usr/bin"
      error = #expect(throws: EmbeddedServerError.self) { try EmbeddedServer(options).start() }
      #expect(error?.message.contains("\"/usr/bin\"") == true)
    }
  }
}

/// A process of the server's account that is not PostgreSQL; it ends with its input.
private struct Bystander {
  let pid: pid_t
  private let input: Int32

  init(_ account: EmbeddedServer.Account) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    input = ends[1]
    pid = try account.command("/bin/cat", []).spawn(input: ends[0], output: 2, errors: 2)
  }

  func end() {
    close(input)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
  }
}

/// A session with the server that stays open.
private final class Backend {
  private let server: EmbeddedServer
  private var psql: pid_t = 0
  private var backend: pid_t = 0
  private var input: Int32 = -1

  init(_ server: EmbeddedServer) {
    self.server = server
  }

  /// Connects, and returns the process id of the server's end.
  func open() throws -> pid_t {
    var toChild: [Int32] = [-1, -1]
    var fromChild: [Int32] = [-1, -1]
    try #require(pipe(&toChild) == 0 && pipe(&fromChild) == 0)
    _ = fcntl(toChild[1], F_SETFD, FD_CLOEXEC)
    _ = fcntl(fromChild[0], F_SETFD, FD_CLOEXEC)
    defer { for end in [toChild[0], fromChild[0], fromChild[1]] { close(end) } }
    input = toChild[1]
    psql = try ChildProcess(try server.psqlPath, ["-X", "-A", "-t", "-q", "-d", server.conninfo])
      .spawn(input: toChild[0], output: fromChild[1], errors: 2)
    let query = "select pg_backend_pid();\n"
    _ = query.withCString { write(input, $0, strlen($0)) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(fromChild[0], &bytes, bytes.count)
    let line = String(decoding: bytes.prefix(max(count, 0)).prefix { $0 != 10 }, as: UTF8.self)
    backend = try #require(pid_t(line))
    return backend
  }

  /// Lets the backend run again, and ends psql.
  func resume() {
    if backend > 0 { kill(backend, SIGCONT) }
    close(input)
    var status: Int32 = 0
    waitpid(psql, &status, 0)
  }
}
