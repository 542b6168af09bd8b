extension EmbeddedServer {
  /// The server's settings.
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
