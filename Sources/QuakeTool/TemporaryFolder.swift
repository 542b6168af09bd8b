public import CommandLine

/// Where temporary files lie.
public enum TemporaryFolder {
  /// The folder that `TMPDIR` names; `/tmp` if it names none.
  public static var path: String {
    guard let named = Environment.value("TMPDIR"), !named.isEmpty else { return "/tmp" }
    return named
  }

  /// What the tools that need it say of the variable.
  public static let variable = Command.Variable(
    "TMPDIR", "folder of temporary files; by default /tmp")
}
