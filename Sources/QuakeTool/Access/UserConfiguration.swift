internal import CommandLine
internal import Glibc
internal import QuakeConsumers
internal import Synchronization

/// The settings of a user and of a machine for every tool, in the files `~/.config/quake/config`
/// ($XDG_CONFIG_HOME instead of ~/.config) and `/etc/quake/config`.
///
/// Options and environment variables have precedence over both, and the user's file over the system's.
struct UserConfiguration: Sendable {
  /// The database for which no option and no variable names another one.
  private(set) var database: Setting?
  private var timeZone: Setting?
  private var colour: Setting?

  private static let keys = ["database", "time-zone", "colour"]
  private static let loaded = Mutex(UserConfiguration())

  /// The settings of this process; empty before `load`.
  static var current: UserConfiguration { loaded.withLock { $0 } }

  /// Reads the files, and applies the time zone and the colours.
  ///
  /// - Parameter tool: The tool that reads them, for errors.
  /// - Throws: `UsageError` with file and line if a file cannot be read or has an entry that is not valid.
  static func load(for tool: String, _ diagnostics: Diagnostics) throws(UsageError) {
    var configuration = UserConfiguration()
    if let path = systemPath { try configuration.add(path, tool) }
    if let path = userPath, isTrusted(path, diagnostics) { try configuration.add(path, tool) }
    try configuration.apply(tool)
    let result = configuration
    loaded.withLock { $0 = result }
  }

  // MARK: - The files

  /// The file of the machine. Tests and containers name another one; empty: none.
  private static var systemPath: String? {
    let path = Environment.value("QUAKE_SYSTEM_CONFIG") ?? "/etc/quake/config"
    return exists(path) ? path : nil
  }

  private static var userPath: String? {
    let folder: String
    if let named = Environment.value("XDG_CONFIG_HOME"), named.hasPrefix("/") {
      // The XDG specification says that relative paths are ignored.
      folder = named
    } else if let home = Environment.value("HOME"), home.hasPrefix("/") {
      folder = home + "/.config"
    } else {
      return nil
    }
    let path = folder + "/quake/config"
    return exists(path) ? path : nil
  }

  /// A folder that this account may not enter counts as none: services run with protected home folders.
  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return !path.isEmpty && stat(path, &status) == 0
  }

  /// Whether a user's file is that of this account. With "sudo" HOME may be that of another user, who must not
  /// decide which database root changes.
  private static func isTrusted(_ path: String, _ diagnostics: Diagnostics) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    if status.st_uid == geteuid() || status.st_uid == 0 { return true }
    let message = "ignored the configuration file \"\(path)\", which belongs to another user"
    if geteuid() == 0 { diagnostics.verbose(message) } else { diagnostics.warning(message) }
    return false
  }

  // MARK: - The entries

  private mutating func add(_ path: String, _ tool: String) throws(UsageError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw UsageError(
        "could not read the configuration file \"\(path)\": it is not a regular file", command: tool
      )
    }
    var known: [String: Setting] = [:]
    for setting in try ConfigurationFile.read(path, for: tool) {
      let key = setting.key == "color" ? "colour" : setting.key
      guard Self.keys.contains(key) else {
        throw UsageError(
          "\(setting.place): unknown key '\(setting.key)': expected database, time-zone or colour",
          suggestion: Suggestion.nearest(to: setting.key, among: Self.keys), command: tool)
      }
      if let earlier = known[key] {
        throw UsageError(
          "\(setting.place): key '\(setting.key)' is given more than once, first in line"
            + " \(earlier.line)", command: tool)
      }
      known[key] = setting
    }
    if let named = known["database"] {
      guard !named.value.isEmpty else { throw Self.invalid(named, "a database", tool) }
      // libpq ignores such a password file. To ignore this one would lead to another database.
      if SecretFile.holdsPassword(named.value), SecretFile.isReadableByOthers(path) {
        throw UsageError(
          """
          \(named.place): the value of key 'database' contains a password, and other users can read the \
          file: run "chmod 600" on it, or put the password into a libpq password file
          """, command: tool)
      }
      database = named
    }
    timeZone = known["time-zone"] ?? timeZone
    colour = known["colour"] ?? colour
  }

  private func apply(_ tool: String) throws(UsageError) {
    if let colour {
      switch colour.value.lowercased() {
      case "auto": break
      case "yes", "true", "on", "always": ColourChoice.prefer(.always)
      case "no", "false", "off", "never": ColourChoice.prefer(.never)
      default: throw Self.invalid(colour, "auto, yes or no", tool)
      }
    }
    if let zone = Environment.value("QUAKE_TIME_ZONE"), !zone.isEmpty {
      guard Self.use(zone) else {
        throw UsageError(
          "invalid value '\(PrintableText.line(zone))' for variable QUAKE_TIME_ZONE: expected \(Self.zones)",
          command: tool)
      }
      // Also what the variable overrides must be valid.
      if let timeZone, !Self.isZone(timeZone.value) {
        throw Self.invalid(timeZone, Self.zones, tool)
      }
    } else if let timeZone, !Self.use(timeZone.value) {
      throw Self.invalid(timeZone, Self.zones, tool)
    }
  }

  private static func invalid(
    _ setting: Setting, _ expected: String, _ tool: String
  ) -> UsageError {
    UsageError(
      "\(setting.place): invalid value '\(PrintableText.line(setting.value))' for key '\(setting.key)': expected \(expected)",
      command: tool)
  }

  // MARK: - The time zone

  private static let zones = "UTC, local, or the name of a time zone such as Europe/Berlin"

  private static func isZone(_ name: String) -> Bool {
    name == "local" || TimeZoneFile(named: name) != nil
  }

  /// Shows moments in a time zone from now on; false if there is no such zone.
  private static func use(_ name: String) -> Bool {
    guard isZone(name) else { return false }
    guard name != "UTC" else { return true }
    // No other thread runs yet that could read the environment meanwhile.
    if name != "local" { setenv("TZ", name, 1) }
    MomentText.useLocalTime()
    return true
  }
}
