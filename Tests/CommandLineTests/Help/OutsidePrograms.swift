import Glibc

/// Runs programs of the system that check the generated scripts.
enum OutsideProgram {
  static func isInstalled(_ name: String) -> Bool {
    run("command -v \(name)", input: "").status == 0
  }

  /// Runs a shell command with `input` in the file `$FILE`; output and messages come back together.
  static func run(_ command: String, input: String) -> (status: Int32, output: String) {
    var name = Array("/tmp/quake-command-line.XXXXXX".utf8CString)
    let file = mkstemp(&name)
    let path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    defer { unlink(path) }
    _ = input.withCString { write(file, $0, strlen($0)) }
    close(file)
    guard let stream = popen("FILE=\(path); { \(command); } 2>&1 </dev/null", "r") else {
      return (-1, "popen failed")
    }
    let output = readAvailable(fileno(stream))
    return (pclose(stream), output)
  }
}
