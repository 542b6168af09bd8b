import Glibc
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite struct EmbeddedServerTests {
  @Test func theServerIsCreatedStartedQueriedStoppedAndStartedAgain() throws {
    try TemporaryServer.with { temporary in
      let server = try temporary.embedded()
      var status = try server.status()
      #expect(!status.running && status.pid == nil && status.version == nil)
      #expect(try !server.stop())

      var phases: [EmbeddedServer.Phase] = []
      #expect(try server.startIfNeeded { phases.append($0) } == .initialised)
      #expect(phases == [.initialising, .starting])
      #expect(try server.startIfNeeded { phases.append($0) } == .alreadyRunning)
      #expect(phases.count == 2)
      status = try server.status()
      #expect(status.running)
      #expect(status.version == "15")
      // The server does not wait until its logger has told its file.
      try eventually("the log file is known") {
        try server.status().logFile.hasPrefix(temporary.options.home + "/log/server-")
      }
      #expect(try server.ask("select pg_catalog.pg_backend_pid() > 0") == "t")
      // Only its account may enter its folders.
      for path in [server.folder.home, server.folder.data, server.folder.socket] {
        var state = stat()
        #expect(stat(path, &state) == 0)
        #expect(state.st_mode & 0o777 == 0o700, "\(path)")
        #expect(state.st_uid == server.account.user, "\(path)")
      }

      #expect(try server.stop())
      status = try server.status()
      #expect(!status.running && status.pid == nil)
      #expect(try server.startIfNeeded() == .started)
    }
  }

  @Test func theServerHasThePromisedSettingsDatabaseRoleAndEncoding() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      var temporary = temporary
      temporary.options.settings = [:]
      let server = try temporary.embedded()
      try server.start()
      let expected = [
        "listen_addresses": "", "fsync": "on", "full_page_writes": "on",
        "synchronous_commit": "on", "jit": "off", "shared_buffers": "128MB",
        "max_connections": "600", "data_checksums": "on", "max_wal_size": "4GB",
        "TimeZone": "UTC", "server_encoding": "UTF8", "unix_socket_permissions": "0700",
      ]
      for (name, value) in expected {
        #expect(try server.ask("show \(name)") == value, "\(name)")
      }
      #expect(
        try server.ask(
          """
          select current_database(), current_user, rolsuper, datcollate, datctype
          from pg_database, pg_roles
          where datname = current_database() and rolname = current_user
          """) == "quake|quake|t|C|C.UTF-8")
      #expect(
        try server.ask("select type, auth_method, error from pg_hba_file_rules") == "local|trust|")
    }
  }

  @Test func theServerInheritsNoDescriptorAndNoTerminal() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      // Without close-on-exec, as from a careless library.
      let leaking = open("/etc/hostname", O_RDONLY)
      defer { close(leaking) }
      let server = try temporary.embedded()
      try server.start()
      let pid = try #require(try server.status().pid)
      #expect(getsid(pid) == pid)
      let home = server.folder.home
      for name in EmbeddedServer.Files.names(in: "/proc/\(pid)/fd") {
        var bytes = [CChar](repeating: 0, count: 4096)
        // One that has been closed since the folder was read has no target.
        guard readlink("/proc/\(pid)/fd/\(name)", &bytes, bytes.count - 1) > 0 else { continue }
        let target = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        let isItsOwn =
          target.hasPrefix(home) || target == "/dev/null" || target.hasPrefix("anon_inode:")
          || target.hasPrefix("/dev/shm/") || target.hasPrefix("pipe:")
          || target.hasPrefix("socket:")
        #expect(isItsOwn, "\(name) is \(target)")
        // The pipes are its log's and its death watch's, made after it began.
        for mine in EmbeddedServer.Files.names(in: "/proc/self/fd")
        where target.hasPrefix("pipe:") || target.hasPrefix("socket:") {
          var own = [CChar](repeating: 0, count: 4096)
          guard readlink("/proc/self/fd/\(mine)", &own, own.count - 1) > 0 else { continue }
          #expect(own != bytes, "\(name) is ours: \(target)")
        }
      }
    }
  }

  @Test func theServerIsTheSameForTwentyWhoStartItAtOnce() async throws {
    let home = TestFolders.path("starters")
    var options = EmbeddedServer.Options(home: home)
    options.settings = ["fsync": "off", "shared_buffers": "16MB"]
    options.startTimeout = ToolProcess.patience
    let server = try EmbeddedServer(options)
    defer {
      _ = try? server.stop(mode: .immediate)
      TestFolders.remove(home)
    }
    let outcomes = await Starters.start(20, server)
    #expect(outcomes.count == 20)
    #expect(outcomes.filter { $0.outcome == .initialised }.count == 1)
    #expect(outcomes.filter { $0.outcome == .alreadyRunning }.count == 19)
    #expect(Set(outcomes.map(\.pid)).count == 1)
    #expect(try server.ask("select 1") == "1")
  }

  @Test func theServerHasASocketElsewhereWhenItsOwnPathIsTooLong() throws {
    let prefix = "quake-" + String(repeating: "long-", count: 20)
    try TemporaryServer.with(prefix, isInitialised: true) { temporary in
      let server = try temporary.embedded()
      #expect(server.folder.socket.hasPrefix("/tmp/quake-\(server.account.user)-"))
      #expect(server.folder.socketPath.utf8.count <= 107)
      try server.start()
      #expect(try server.ask("select 1") == "1")
    }
  }

  @Test func aMovedFolderHasItsLogInsideAndAFailedStartNamesTheFileWithTheReason() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      var temporary = temporary
      temporary.options.settings["shared_buffers"] = "none"
      let server = try temporary.embedded()
      let log = try server.status().logFile
      #expect(log.hasPrefix(server.folder.log + "/server-"), "\(log)")
      let error = #expect(throws: EmbeddedServerError.self) { try server.start() }
      #expect(error?.kind == .unavailable)
      #expect(error?.detail?.contains("invalid value for parameter \"shared_buffers\"") == true)
      #expect(error?.hint == "Its log: \(server.folder.startLog).")
    }
  }

  @Test func theServerDoesNotUseASocketFolderThatAnotherUserHasMade() throws {
    let prefix = "quake-" + String(repeating: "long-", count: 20)
    try TemporaryServer.with(prefix) { temporary in
      let server = try temporary.embedded()
      mkdir(server.folder.socket, 0o755)
      if geteuid() == 0 { chown(server.folder.socket, 65_534, 65_534) }
      let error = #expect(throws: EmbeddedServerError.self) { try server.start() }
      #expect(error?.kind == .notAllowed)
    }
  }

  @Test func theServerCopesWithBlanksQuotesCommasAndDollarsInItsPath() throws {
    try TemporaryServer.with("quake '\"$(x),\\ ü") { temporary in
      let server = try temporary.embedded()
      try server.start()
      #expect(try server.ask("select 1") == "1")
    }
    try TemporaryServer.with("quake '\"\\ ü") { temporary in
      let server = try temporary.embedded()
      #expect(server.folder.hasSocketInside)
      try server.start()
      #expect(try server.ask("select 1") == "1")
    }
  }
}

/// Threads that start a server at the same moment.
enum Starters {
  struct Result: Sendable {
    var outcome: EmbeddedServer.Outcome?
    var pid: Int32?
  }

  static func start(_ count: Int, _ server: EmbeddedServer) async -> [Result] {
    await withTaskGroup(of: Result.self) { group in
      for _ in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            Self.thread {
              let outcome = try? server.startIfNeeded()
              let pid = try? server.status().pid
              continuation.resume(returning: Result(outcome: outcome, pid: pid))
            }
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// The calls block, and the cooperative pool has only as many threads as the machine has cores.
  private static func thread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    if code == 0 { pthread_detach(thread) } else { body() }
  }
}
