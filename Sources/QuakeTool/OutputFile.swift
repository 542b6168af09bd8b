internal import Basics
package import CommandLine
internal import Glibc
package import QuakeModel

/// A file that is replaced as a whole: a crash leaves either the old contents or the new, and a reader
/// sees nothing in between.
///
/// The new contents are written to a new file in the same folder. Other users, who may be allowed to write
/// into the folder, cannot guess its name. A symbolic link at the path is replaced, not followed.
package struct AtomicFile {
  package let path: String

  /// The file at a path. It need not exist.
  package init(_ path: String) {
    self.path = path
  }

  /// The reason why the file cannot be written or read.
  package enum SystemError: Error, CustomStringConvertible {
    /// The system refused, with this error number.
    case refused(Int32)
    /// The path is a pipe, a device or a folder, which must not be replaced.
    case notAFile
    /// Every user may create files in the folder, and another user created this one.
    case foreign

    package var description: String {
      switch self {
      case .refused(let code): String(cString: strerror(code))
      case .notAFile: "it is not a regular file"
      case .foreign: "another user created it, in a folder to which all users may write"
      }
    }
  }

  package func write(_ bytes: [UInt8]) throws(SystemError) {
    let (temporary, descriptor) = try begin()
    var code: Int32 = 0
    do throws(SystemFailure) {
      try SystemCalls.write(bytes, to: descriptor)
    } catch {
      code = error.code
    }
    try end(temporary, descriptor, failure: code)
  }

  /// Replaces the contents by the parts that `body` hands over. If it throws, the contents stay.
  package func write(
    _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    let (temporary, descriptor) = try begin()
    do {
      try body { part in
        do throws(SystemFailure) {
          try SystemCalls.write(part, to: descriptor)
        } catch {
          throw SystemError.refused(error.code)
        }
      }
    } catch {
      close(descriptor)
      unlink(temporary)
      throw error
    }
    try end(temporary, descriptor, failure: 0)
  }

  private func begin() throws(SystemError) -> (path: String, descriptor: Int32) {
    var there = stat()
    if stat(path, &there) == 0, there.st_mode & S_IFMT != S_IFREG { throw .notAFile }
    return try makeTemporary()
  }

  private func end(
    _ temporary: String, _ descriptor: Int32, failure: Int32
  ) throws(SystemError) {
    var code = failure
    if code == 0, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(temporary, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(temporary)
      throw .refused(code)
    }
    syncFolder()
  }

  /// The umask of the process decides who may read the file.
  private func makeTemporary() throws(SystemError) -> (path: String, descriptor: Int32) {
    for _ in 0..<10 {
      let temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
      let descriptor = open(
        temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (temporary, descriptor) }
      guard errno == EEXIST else { throw .refused(errno) }
    }
    throw .refused(EEXIST)
  }

  /// Without this, the old contents may reappear after a power failure.
  private func syncFolder() {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }
}

extension AtomicFile {
  /// Reads the first `count` bytes; nil if there is no file. It never blocks.
  package func read(atMost count: Int) throws(SystemError) -> [UInt8]? {
    // Without O_NONBLOCK, opening a named pipe would block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .refused(errno)
    }
    defer { close(descriptor) }
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { throw .refused(errno) }
    guard file.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    try checkOwner(of: file)
    do throws(SystemFailure) {
      return try SystemCalls.read(descriptor, atMost: count)
    } catch {
      throw .refused(error.code)
    }
  }

  /// In a folder such as `/tmp`, another user may have planted the file, or a link. Only files of the reader,
  /// of root and of the folder's owner are trusted, as the kernel does for links in such folders.
  private func checkOwner(of file: stat) throws(SystemError) {
    var around = stat()
    guard stat(folder, &around) == 0, around.st_mode & S_ISVTX != 0,
      around.st_mode & S_IWOTH != 0
    else { return }
    var link = stat()
    guard lstat(path, &link) == 0 else { throw .refused(errno) }
    let trusted = [geteuid(), 0, around.st_uid]
    guard trusted.contains(file.st_uid), trusted.contains(link.st_uid) else { throw .foreign }
  }
}

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
