import Glibc

/// The process's environment variables.
public enum Environment {
  /// The variable's value, or nil when it is not set; an empty value is a value.
  public static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
