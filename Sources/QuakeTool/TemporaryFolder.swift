public import CommandLine

/// The folder of temporary files.
public enum TemporaryFolder {
  /// The folder that `TMPDIR` names; `/tmp` if it names none.
  public static var path: String {
    guard let named = Environment.value("TMPDIR"), !named.isEmpty else { return "/tmp" }
    return named
  }

  /// The variable's entry in the help of the tools that use it.
  public static let variable = Command.Variable(
    "TMPDIR", "folder of temporary files; by default /tmp")
}
