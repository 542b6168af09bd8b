package import CommandLine
internal import Glibc
package import QuakeModel

/// Standard output that goes to a file instead (`--output FILE`). The file is replaced as a whole at the end: an
/// error or an interrupt leaves it as it was.
package enum OutputFile {
  /// Runs `body` with standard output going to the file.
  ///
  /// - Parameter path: The file; nil or `-`: standard output as it is.
  package static func run<Value>(to path: String?, _ body: () throws -> Value) throws -> Value {
    guard let path, path != "-" else { return try body() }
    let waiting = try unnamedFile(beside: path)
    defer { close(waiting) }
    guard dup2(waiting, 1) >= 0 else { throw failure(path, String(cString: strerror(errno))) }
    let value = try body()
    do {
      try AtomicFile(path).write { part in try copy(waiting, part) }
    } catch {
      throw failure(path, "\(error)")
    }
    return value
  }

  /// A file without a name, on the same disk, so that nothing is left of it whatever ends the program.
  private static func unnamedFile(beside path: String) throws -> Int32 {
    var name = Array((path + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure(path, String(cString: strerror(errno))) }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func copy(
    _ descriptor: Int32, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    lseek(descriptor, 0, SEEK_SET)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw AtomicFile.SystemError.refused(errno) }
      if count == 0 { return }
      try part(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  private static func failure(_ path: String, _ reason: String) -> FileError {
    FileError("could not write \"\(PrintableText.line(path))\": \(reason)")
  }
}

extension StandardOutput {
  /// Writes a line that tells what a command did. It is not what the command was asked to print, so that
  /// `--quiet` leaves it out.
  package func writeResult(
    _ line: String, _ diagnostics: Diagnostics
  ) throws(OutputError) {
    guard diagnostics.verbosity > .quiet else { return }
    try writeLine(line)
  }

  /// Writes a line of JSON.
  package func writeJSON(_ body: (inout JSONWriter) -> Void) throws(OutputError) {
    var json = JSONWriter()
    body(&json)
    json.newline()
    try write(json.bytes)
  }

  /// Writes values, as one JSON object a line or as text, and flushes.
  ///
  /// - Parameters:
  ///   - members: Writes the members of a value's object.
  ///   - text: Returns the text of all values, with a line feed at its end.
  package func write<Value>(
    _ values: [Value], isJSON: Bool, members: (Value, inout JSONWriter) -> Void,
    text: ([Value]) -> String
  ) throws {
    if isJSON {
      var json = JSONWriter()
      for value in values {
        json.object { members(value, &$0) }
        json.newline()
        try json.withBytes { try write($0) }
        json.removeAll()
      }
    } else {
      try write(text(values))
    }
    try flush()
  }
}

/// A result without anything in it. In a pipe nothing says so: a program counts lines.
package enum EmptyResult {
  /// Says so on standard error, if standard output is a terminal.
  package static func announce(_ what: String, _ diagnostics: Diagnostics) {
    guard Terminal.isTerminal(1) else { return }
    diagnostics.note(what)
  }
}
