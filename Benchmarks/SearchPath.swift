import CommandLine
import Glibc

/// Programs of the machine.
enum SearchPath {
  /// Where a program is: a path as it stands, a name by PATH; nil: nowhere.
  static func find(_ name: String) -> String? {
    if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
    let folders = Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in folders.split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    return nil
  }
}
