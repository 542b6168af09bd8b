import Basics
import CommandLine
import Glibc
import QuakeModel

/// Where the witness of a named watcher is.
enum WitnessPlace {
  /// Nowhere: there is none.
  case none
  /// In a file that the user has chosen.
  case file(String)
  /// In the folder for the state of this account, or of this service. Where there is none, the watcher does without a
  /// witness.
  case stateFolder

  /// Why the folder cannot be used.
  struct Unusable: Error {
    let reason: String
  }

  /// The path in the folder for the watcher `name` of a store. It does not depend on the host or on the name of the
  /// database: both may be others after a failover or a restore.
  ///
  /// - Parameter store: When the store was created, which tells it from others.
  static func path(of name: String, store: Timestamp) throws(Unusable) -> String {
    try path(of: name, source: "\(store.microseconds)")
  }

  /// The path in the folder for the watcher `name` of a server.
  static func path(of name: String, server: String) throws(Unusable) -> String {
    try path(of: name, source: server)
  }

  private static func path(of name: String, source: String) throws(Unusable) -> String {
    let folder = try folder() + "/watch"
    try create(folder)
    let prefix = String(
      String.UnicodeScalarView(
        name.unicodeScalars.prefix(40).map {
          ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
            ? $0 : "_"
        }))
    // FNV-1a, 64 bits: enough to tell the watchers of one account apart.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(source) \(name)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return "\(folder)/\(prefix)-\(String(hash, radix: 16))"
  }

  /// The folder: that of the service (systemd's `StateDirectory=`), else the user's.
  private static func folder() throws(Unusable) -> String {
    // There may be several, with colons in between.
    if let first = Environment.value("STATE_DIRECTORY")?.split(separator: ":").first,
      first.hasPrefix("/")
    {
      return String(first)
    }
    // The XDG specification says that relative paths are ignored.
    if let named = Environment.value("XDG_STATE_HOME"), named.hasPrefix("/") {
      return named + "/quake"
    }
    guard let home = Environment.value("HOME"), home.hasPrefix("/") else {
      throw Unusable(reason: "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set")
    }
    var status = stat()
    guard stat(home, &status) == 0 else {
      throw Unusable(reason: "home folder \"\(home)\": \(String(cString: strerror(errno)))")
    }
    // "sudo" may have kept it.
    guard status.st_uid == geteuid() else {
      throw Unusable(reason: "home folder \"\(home)\" belongs to another user")
    }
    return home + "/.local/state/quake"
  }

  /// Creates a folder that only this account may enter, with its parents.
  private static func create(_ folder: String) throws(Unusable) {
    var path = ""
    for part in folder.split(separator: "/") {
      path += "/" + part
      guard mkdir(path, 0o700) != 0 else { continue }
      let code = errno
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw Unusable(
          reason: "could not create folder \"\(path)\": \(String(cString: strerror(code)))")
      }
    }
  }
}
