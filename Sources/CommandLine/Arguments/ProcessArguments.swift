internal import Glibc

/// The arguments with which the process was started.
public enum ProcessArguments {
  /// All of them except the program's name.
  ///
  /// A program that imports this module cannot write `CommandLine.arguments`: the module hides the
  /// standard library's type of the same name.
  public static var current: [String] { Array(Swift.CommandLine.arguments.dropFirst()) }

  /// Overwrites an option's value in the process list, where other users of the machine could read it.
  public static func hide(_ value: String) {
    let argv = Swift.CommandLine.unsafeArgv
    for index in 1..<max(1, Int(Swift.CommandLine.argc)) {
      guard let argument = argv[index] else { continue }
      let text = String(cString: argument)
      guard text == value || text.hasSuffix("=" + value) || text == "-d" + value else { continue }
      let count = value.utf8.count
      memset(argument + (text.utf8.count - count), 0x78, count)
    }
  }
}
