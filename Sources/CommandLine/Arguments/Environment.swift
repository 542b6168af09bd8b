import Glibc

/// The process's environment variables.
public enum Environment {
  /// The variable's value, which may be empty, or nil if the variable is not set.
  public static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
