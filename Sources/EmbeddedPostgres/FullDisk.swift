import Glibc

extension EmbeddedServer {
  /// The error for a disk that is full, if there is too little space on it for the server; nil if there is enough.
  ///
  /// - Parameters:
  ///   - problem: What failed, for the detail.
  ///   - isCertain: Whether the server has said so itself. It may have removed what it could not write to its end.
  package func fullDisk(_ problem: String, isCertain: Bool = false) -> EmbeddedServerError? {
    let free = Files.freeSpace(home: folder.home) ?? (isCertain ? 0 : .max)
    guard isCertain || free < Self.leastSpace else { return nil }
    let space = """
      \(free >> 20) MiB are free, and the server needs \(Self.leastSpace >> 20) MiB at a time.
      """
    return EmbeddedServerError(
      .unavailable, "the disk with \"\(folder.home)\" is full",
      detail: problem.isEmpty ? space : "\(space)\n\(problem)",
      hint: "Free some space on it, and repeat the command. What was committed is not lost.")
  }

  /// The same, if that is why one of the server's programs or a system call failed.
  ///
  /// - Parameters:
  ///   - output: What the program printed.
  ///   - code: The error number of the system call.
  func fullDisk(after output: [UInt8] = [], code: Int32 = 0) -> EmbeddedServerError? {
    fullDisk(
      Files.lastLines(output),
      isCertain: [ENOSPC, EDQUOT].contains {
        code == $0 || Files.contains(output, Files.reason($0))
      })
  }

  /// The server adds files of this size to its log; without the space for one, it can neither commit nor start.
  private static let leastSpace = 16 << 20
}

extension EmbeddedServer.Files {
  /// The bytes that programs of users may still write to the disk of a folder, or of the first of its parents that
  /// exists; nil if the system does not say.
  static func freeSpace(home: String) -> Int? {
    var path = home[...]
    var state = statvfs()
    while statvfs(String(path), &state) != 0 {
      guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        return nil
      }
      path = path[..<slash]
    }
    return Int(state.f_bavail) * Int(state.f_frsize)
  }
}
