import CommandLine
import Glibc

/// Finds programs.
enum SearchPath {
  /// The path of a program: a path is taken as it is, a name is looked up in PATH; nil if there is
  /// none.
  static func find(_ name: String) -> String? {
    if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
    let folders = Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in folders.split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    return nil
  }
}
