internal import Basics
import Glibc

extension EmbeddedServer {
  /// The paths of the server, and the creation of its folders with the right owner and mode.
  struct Folder: Sendable {
    /// The port is only part of the socket's name.
    static let port = 5432
    /// `sockaddr_un.sun_path` has 108 bytes, the last of them 0.
    static let longestSocketPath = 107

    /// PostgreSQL's programs cut paths after 1,023 bytes, those of files in the data folder included.
    static let longestPath = 900

    /// The folder that holds the others.
    let home: String
    let data: String
    /// The folder of the unix socket: in `home`, or, where its path would be too long for a
    /// socket, in `/tmp`.
    let socket: String
    let log: String
    /// The file for the server's output before it has opened its log.
    let startLog: String
    /// The file whose lock guards all changes.
    let lock: String
    /// The file with the port and the role of connections by TCP; without it there are none.
    let listenFile: String

    /// - Parameter user: The user id that the server runs as.
    init(home given: String, user: uid_t) throws(EmbeddedServerError) {
      guard given.hasPrefix("/") else {
        throw EmbeddedServerError(
          .configuration, "folder \"\(given)\" of the embedded server is not an absolute path")
      }
      guard given.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
        throw EmbeddedServerError(
          .configuration, "folder of the embedded server has a control character in its path",
          detail: "PostgreSQL keeps the path as a line of a file.")
      }
      home = Self.canonical(given)
      guard home.utf8.count <= Self.longestPath else {
        throw EmbeddedServerError(
          .configuration,
          "folder of the embedded server has a path of \(home.utf8.count) bytes, more than \(Self.longestPath)",
          hint: "Choose another folder in QUAKE_SERVER_HOME.")
      }
      data = home + "/data"
      log = home + "/log"
      startLog = home + "/start.log"
      lock = home + "/server.lock"
      listenFile = home + "/listen"
      let inside = home + "/socket"
      // libpq takes a comma in `host` for a separator of hosts.
      if (inside + "/" + Self.socketName).utf8.count <= Self.longestSocketPath,
        !inside.utf8.contains(UInt8(ascii: ","))
      {
        socket = inside
      } else {
        // Not in XDG_RUNTIME_DIR, which is removed when the user logs out, while the server continues. Also,
        // every program must determine the same folder, whatever its environment.
        socket = "/tmp/quake-\(user)-\(Self.fingerprint(home))"
      }
    }

    private static let socketName = socketName(port)

    /// The name of the socket of a server with this port.
    static func socketName(_ port: Int) -> String { ".s.PGSQL.\(port)" }

    var socketPath: String { socket + "/" + Self.socketName }
    /// Whether the socket is in the home folder.
    var hasSocketInside: Bool { socket.hasPrefix(home + "/") }
    /// The file in which a postmaster publishes its process id and state.
    var pidFile: String { data + "/postmaster.pid" }

    /// The major version that created the data folder; `nil` if there is none.
    var dataVersion: String? {
      guard let line = Files.text(data + "/PG_VERSION")?.split(separator: "\n").first else {
        return nil
      }
      return String(line)
    }

    /// The server's log file: the present one, or the one that it will open.
    var currentLogFile: String {
      // One line: `stderr <path>`. The folder may have been moved since.
      if let line = Files.text(data + "/current_logfiles")?.split(separator: "\n").first,
        let slash = line.lastIndex(of: "/")
      {
        return log + line[slash...]
      }
      return startLog
    }

    /// Resolves symbolic links in the existing part of a path, so that a folder always has the same path.
    private static func canonical(_ path: String) -> String {
      var rest: [Substring] = []
      var parts = path.split(separator: "/")
      while true {
        let existing = "/" + parts.joined(separator: "/")
        if let resolved = realpath(existing, nil) {
          defer { free(resolved) }
          let base = String(cString: resolved)
          let tail = rest.reversed().joined(separator: "/")
          if tail.isEmpty { return base }
          return base == "/" ? "/" + tail : base + "/" + tail
        }
        guard let last = parts.popLast() else { return path }
        rest.append(last)
      }
    }

    /// FNV-1a, 64 bits, in hexadecimal: short, and the same in every process.
    private static func fingerprint(_ text: String) -> String {
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      let digits = String(hash, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
  }
}

extension EmbeddedServer.Folder {
  /// Throws if the folder exists but the caller may not enter it.
  func checkAccess() throws(EmbeddedServerError) {
    guard access(home, R_OK | X_OK) != 0, errno == EACCES else { return }
    throw EmbeddedServerError(
      .notAllowed, "not allowed to use the folder \"\(home)\" of the embedded server",
      hint: "Use it as its owner, or name a database with --database.")
  }

  /// Creates the home folder, with its parents, and the folder of the socket.
  func prepare(for account: EmbeddedServer.Account) throws(EmbeddedServerError) {
    try checkAccess()
    var above = ""
    for part in home.split(separator: "/").dropLast() {
      above += "/" + part
      guard mkdir(above, account.isSwitched ? 0o755 : 0o700) == 0, account.isSwitched else {
        continue
      }
      // The account must be able to traverse the folders that root creates, whatever root's umask is.
      let descriptor = open(above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      fchmod(descriptor, 0o755)
      close(descriptor)
    }
    try makePrivate(home, for: account, mayTighten: true)
    // A folder in /tmp that other users could write to may contain their files.
    try makePrivate(socket, for: account, mayTighten: hasSocketInside)
  }

  /// Creates a folder that only the account may enter, or checks that an existing one is such.
  private func makePrivate(
    _ path: String, for account: EmbeddedServer.Account, mayTighten: Bool
  ) throws(EmbeddedServerError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      let code = errno
      throw EmbeddedServerError(
        code == EACCES || code == EPERM ? .notAllowed : .unavailable,
        "could not create folder \"\(path)\": \(EmbeddedServer.Files.reason(code))",
        hint: path == socket && !hasSocketInside
          ? """
          The server's socket is there because its path in "\(home)" would be too long. With a \
          shorter QUAKE_SERVER_HOME the socket is in that folder.
          """ : "")
    }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      let code = errno
      throw EmbeddedServerError(
        .notAllowed, "cannot use \"\(path)\" as a folder: \(EmbeddedServer.Files.reason(code))")
    }
    defer { close(descriptor) }
    var state = stat()
    fstat(descriptor, &state)
    // A folder of root was created here, or by a program that was killed before it changed the owner, or by
    // an administrator. The owner is changed only if it is empty: `home` might name another folder by
    // mistake.
    if state.st_uid != account.user, account.isSwitched, state.st_uid == 0,
      EmbeddedServer.Files.names(in: path).isEmpty
    {
      if fchown(descriptor, account.user, account.group) == 0, fchmod(descriptor, 0o700) == 0 {
        return
      }
    }
    // Another program that started at the same moment may have changed the owner since.
    fstat(descriptor, &state)
    guard state.st_uid == account.user else {
      throw EmbeddedServerError(
        .notAllowed, "folder \"\(path)\" belongs to another user",
        detail: "Its owner has user id \(state.st_uid); the server runs with \(account.user).",
        hint: "Remove it or change its owner, or choose another folder.")
    }
    guard state.st_mode & 0o077 != 0 else { return }
    guard mayTighten, fchmod(descriptor, 0o700) == 0 else {
      throw EmbeddedServerError(
        .notAllowed, "folder \"\(path)\" is open to other users",
        hint: "Check its contents, and remove it.")
    }
  }
}

extension EmbeddedServer {
  /// The lock that guards the initialisation, start and stop of the server. The system releases it when the
  /// process that holds it ends.
  struct Lock: ~Copyable {
    private let descriptor: Int32

    private init(descriptor: Int32) {
      self.descriptor = descriptor
    }

    deinit {
      close(descriptor)
    }

    /// Waits for the lock until `deadline`; `nil` if `isNeedless` becomes true meanwhile, because another
    /// holder has done the work.
    static func acquire(
      _ folder: Folder, account: Account, timeout: Duration, onWait: () -> Void = {},
      isNeedless: () -> Bool
    ) throws(EmbeddedServerError) -> Lock? {
      let descriptor = Files.openOwn(folder.lock, O_RDWR)
      guard descriptor >= 0 else {
        let code = errno
        throw EmbeddedServerError(
          code == EACCES || code == ELOOP ? .notAllowed : .unavailable,
          "could not open lock file \"\(folder.lock)\": \(Files.reason(code))")
      }
      let lock = Lock(descriptor: descriptor)
      if account.isSwitched { _ = fchown(descriptor, account.user, account.group) }

      let deadline = Deadline(after: timeout)
      var hasWaited = false
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else {
          throw EmbeddedServerError(
            .unavailable, "could not lock file \"\(folder.lock)\": \(Files.reason(code))")
        }
        if isNeedless() { return nil }
        guard !deadline.hasPassed else {
          throw EmbeddedServerError(
            .tryLater, "could not get the lock of the embedded server in time",
            detail: "Another program has held \"\(folder.lock)\" for \(timeout).",
            hint: "That program may be waiting for the server's crash recovery; try again later.")
        }
        if !hasWaited { onWait() }
        hasWaited = true
        // `flock` has no timeout, and the server is often ready before the lock is free.
        Pause.briefly()
      }
      return lock
    }
  }

  /// The pause of loops that poll where no event can be awaited: a lock with a deadline, a postmaster becoming
  /// ready, or the end of a postmaster that is not our child.
  enum Pause {
    /// 10 milliseconds.
    static func briefly() {
      var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&time, nil)
    }
  }
}
