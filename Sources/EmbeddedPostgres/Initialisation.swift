import Basics
import Glibc

extension EmbeddedServer {
  /// Creates the data folder under another name, and renames it when it is complete. Call this under the
  /// lock.
  func initialise(with binaries: Binaries) throws(EmbeddedServerError) {
    removeUnfinished()
    guard Files.names(in: folder.data).isEmpty else {
      throw EmbeddedServerError(
        .configuration, "folder \"\(folder.data)\" is not a PostgreSQL data folder",
        detail: "It is not empty, and there is no file PG_VERSION in it.",
        hint: "Move it away, or choose another folder.")
    }
    // The name is random, because initdb of a killed program may still be writing to an earlier folder.
    let unique = UInt32.random(in: 0 ... .max)
    let new = "\(folder.home)/\(Self.unfinishedPrefix)\(getpid()).\(unique)"
    do throws(EmbeddedServerError) {
      try runInitdb(binaries, new)
      try write(Configuration.initial, to: new + "/postgresql.conf", appending: true)
      try write(Configuration.authentication, to: new + "/pg_hba.conf")
      try createDatabase(binaries, new)
      guard rename(new, folder.data) == 0 else {
        throw EmbeddedServerError(
          .unavailable, "could not rename \"\(new)\" to \"\(folder.data)\": \(Files.reason(errno))")
      }
    } catch {
      removeUnfinished()
      throw error
    }
    Files.flushFolder(folder.home)
  }

  private static let unfinishedPrefix = "data.new."

  /// Whether the settings turn fsync off, as tests do.
  private var isUnsafe: Bool { options.settings["fsync"] == "off" }

  private func runInitdb(_ binaries: Binaries, _ new: String) throws(EmbeddedServerError) {
    func arguments(locale: String) -> [String] {
      [
        "-D", new, "-U", "quake", "--auth-local=trust", "--auth-host=reject", "--data-checksums",
        "--encoding=UTF8", "--locale=\(locale)", "--text-search-config=english",
        // The same order as C.UTF-8, but lookups in an index of texts take a third of the time.
        "--lc-collate=C", "--no-instructions",
      ] + (isUnsafe ? ["--no-sync"] : [])
    }
    var outcome = try run(binaries.initdb, arguments(locale: "C.UTF-8"))
    if !outcome.succeeded, outcome.errors.contains("invalid locale".utf8) {
      removeUnfinished()
      outcome = try run(binaries.initdb, arguments(locale: "C"))
    }
    try check(outcome, "could not initialise the embedded server's data folder \"\(folder.data)\"")
  }

  /// Creates the database with a single-user server, so that no client ever finds a server without it.
  private func createDatabase(_ binaries: Binaries, _ new: String) throws(EmbeddedServerError) {
    let outcome = try run(
      binaries.postgres,
      ["--single", "-D", new, "-c", "logging_collector=off"]
        + (isUnsafe ? ["-c", "fsync=off"] : []) + ["postgres"],
      input: "create database quake\n")
    let message = "could not create the database of the embedded server"
    try check(outcome, message)
    // It exits with status 0 even if the statement failed.
    if ["ERROR:", "FATAL:"].contains(where: { outcome.errors.contains($0.utf8) }) {
      throw fullDisk(after: outcome.errors)
        ?? EmbeddedServerError(.unavailable, message, detail: Files.lastLines(outcome.errors))
    }
  }

  /// Removes the unfinished folders of killed programs. Folders that cannot be removed yet, because initdb is
  /// still writing to them, are left for the next call.
  private func removeUnfinished() {
    let left = Files.names(in: folder.home).filter { $0.hasPrefix(Self.unfinishedPrefix) }
    guard !left.isEmpty else { return }
    // Run under the account, so that root does not follow links that the account may have created there.
    _ = try? account.command("/bin/rm", ["-rf", "--"] + left.map { folder.home + "/" + $0 }).run()
  }

  private func run(
    _ executable: String, _ arguments: [String], input: String? = nil
  ) throws(EmbeddedServerError) -> ChildProcess.Outcome {
    var child = account.command(executable, arguments)
    child.input = input.map { Array($0.utf8) }
    child.outputLimit = 64 << 10
    do throws(ChildProcess.LaunchError) {
      return try child.run()
    } catch {
      throw EmbeddedServerError(.unavailable, error.description)
    }
  }

  private func check(
    _ outcome: ChildProcess.Outcome, _ message: String
  ) throws(EmbeddedServerError) {
    switch outcome.ending {
    case .exited(0): return
    case .exited:
      let output = outcome.output + outcome.errors
      throw fullDisk(after: output)
        ?? EmbeddedServerError(.unavailable, message, detail: Files.lastLines(output))
    case .signalled(let signal):
      throw EmbeddedServerError(
        .tryLater, message, detail: "It was interrupted by signal \(signal).")
    case .timedOut:
      throw EmbeddedServerError(.tryLater, message, detail: "It took too long.")
    }
  }

  /// Overwrites a file, or appends to it.
  func write(
    _ text: String, to path: String, appending: Bool = false
  ) throws(EmbeddedServerError) {
    let code = Files.write(text, to: path, appending: appending)
    guard code == 0 else {
      throw fullDisk(code: code)
        ?? EmbeddedServerError(
          .unavailable, "could not write file \"\(path)\": \(Files.reason(code))")
    }
  }
}

extension EmbeddedServer {
  enum Configuration {
    /// Appended to `postgresql.conf` when the data folder is created. Afterwards the administrator may change
    /// them.
    static let initial = """

      # Quake's embedded server. Written once, when the data folder was created; you may edit it.
      # Address, socket, port and log folder are set at each start and cannot be changed here.
      cluster_name = 'quake'
      max_connections = 600           # each watcher has one
      shared_buffers = 128MB
      jit = off                       # compiling many small statements would cost more than it saves
      timezone = 'UTC'
      log_timezone = 'UTC'

      # Committed transactions survive a crash.
      fsync = on
      full_page_writes = on
      synchronous_commit = on

      # Fewer checkpoints during bulk imports.
      max_wal_size = 4GB
      checkpoint_timeout = 15min
      wal_buffers = 16MB

      # A log file for each day of the week, truncated after a week.
      logging_collector = on
      log_destination = 'stderr'
      log_filename = 'server-%a.log'
      log_rotation_age = 1d
      log_rotation_size = 0
      log_truncate_on_rotation = on
      log_line_prefix = '%m [%p] %q%a '

      """

    /// `pg_hba.conf`: trusts every local connection, because the mode of the socket's folder admits only its
    /// account.
    static let authentication = """
      # Quake's embedded server: one local socket, in a folder that only its account can enter.
      local all all trust

      """

    /// Arguments of `postgres` for settings that override the configuration files at every start.
    ///
    /// - Parameter port: The TCP port; nil: none.
    static func arguments(_ folder: Folder, port: Int?, _ more: [String: String]) -> [String] {
      var settings = [
        ("listen_addresses", port == nil ? "" : "127.0.0.1"),
        // Quoted, because the value is a list separated by commas.
        ("unix_socket_directories", "\"" + doubled(folder.socket) + "\""),
        ("unix_socket_permissions", "0700"),
        ("port", String(port ?? Folder.port)),
        ("log_directory", folder.log),
        ("log_file_mode", "0600"),
      ]
      settings += more.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      return settings.flatMap { ["-c", "\($0.0)=\($0.1)"] }
    }

    private static func doubled(_ text: String) -> String {
      text.reduce(into: "") { $0 += $1 == "\"" ? "\"\"" : String($1) }
    }
  }
}
