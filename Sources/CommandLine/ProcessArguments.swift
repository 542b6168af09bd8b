/// The arguments the process was started with.
public enum ProcessArguments {
  /// All of them but the program's own name.
  ///
  /// A program that imports this module cannot write `CommandLine.arguments`: the module hides the
  /// standard library's type of the same name.
  public static var current: [String] { Array(Swift.CommandLine.arguments.dropFirst()) }
}
