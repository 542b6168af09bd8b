extension EmbeddedServer {
  /// The server's settings.
  enum Configuration {
    /// Appended to `postgresql.conf` when the data folder is made. From then on they are the
    /// administrator's to change.
    static let initial = """

      # Quake's embedded server. Set once, when the data folder was made; change what you like.
      # Address, socket, port and log folder are given at each start and cannot be changed here.
      cluster_name = 'quake'
      max_connections = 600           # a watcher is one
      shared_buffers = 128MB
      jit = off                       # many small statements: compiling them costs more than it saves
      timezone = 'UTC'
      log_timezone = 'UTC'

      # What is committed survives a crash.
      fsync = on
      full_page_writes = on
      synchronous_commit = on

      # Bulk loads: fewer checkpoints while one runs, and room for its log.
      max_wal_size = 4GB
      checkpoint_timeout = 15min
      wal_buffers = 16MB

      # A file for each day of the week, begun anew when its day comes again.
      logging_collector = on
      log_destination = 'stderr'
      log_filename = 'server-%a.log'
      log_rotation_age = 1d
      log_rotation_size = 0
      log_truncate_on_rotation = on
      log_line_prefix = '%m [%p] %q%a '

      """

    /// `pg_hba.conf`: whoever gets at the socket, which takes passing the folder's mode.
    static let authentication = """
      # Quake's embedded server: one local socket, in a folder that only its account can enter.
      local all all trust

      """

    /// What holds at every start, whatever the configuration files say, as `postgres` takes it.
    static func arguments(_ folder: Folder, _ more: [String: String]) -> [String] {
      var settings = [
        ("listen_addresses", ""),
        // A list separated by commas, hence the quotes.
        ("unix_socket_directories", "\"" + doubled(folder.socket) + "\""),
        ("unix_socket_permissions", "0700"),
        ("port", String(Folder.port)),
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
