internal import Glibc

/// Whether a configuration file keeps its secrets.
public enum SecretFile {
  /// Whether a database's URL, or its keyword=value pairs, contain a password.
  public static func holdsPassword(_ conninfo: String) -> Bool {
    // As a keyword, or as a parameter of a URL.
    var rest = conninfo[...]
    while let word = rest.firstRange(of: "password") {
      rest = rest[word.upperBound...]
      if rest.first(where: { !$0.isWhitespace }) == "=" { return true }
    }
    // As libpq has it, a name and a password of a URL end before its first slash.
    guard let scheme = conninfo.firstRange(of: "://") else { return false }
    let authority = conninfo[scheme.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return false }
    return authority[..<at].contains(":")
  }

  /// Whether other users can read a file, by the rule that libpq applies to key files: a group may read a file
  /// of root.
  public static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o007 : 0o077) != 0
  }
}
