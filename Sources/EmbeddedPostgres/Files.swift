internal import Basics
import Glibc

extension EmbeddedServer {
  /// Reads and writes small files and folders with system calls. No function follows a symbolic link in the
  /// last component: as root, they work in a folder that belongs to a less privileged account.
  enum Files {
    /// A file's contents if it can be read, else `nil`. For small files.
    static func read(_ path: String, last limit: Int? = nil) -> [UInt8]? {
      // Without O_NONBLOCK, opening a named pipe would block.
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      guard isPlain(descriptor) else { return nil }
      if let limit, lseek(descriptor, off_t(-limit), SEEK_END) < 0 {
        lseek(descriptor, 0, SEEK_SET)  // the file is shorter
      }
      return try? SystemCalls.read(descriptor)
    }

    /// Opens a file of the server for locking or writing, and creates it if it does not exist.
    ///
    /// The account owns the folder, and the caller may be root. If the account had planted a hard link to
    /// another file there, root would truncate that file or change its owner.
    ///
    /// - Returns: A descriptor, or -1 with `errno` set.
    static func openOwn(_ path: String, _ how: Int32) -> Int32 {
      let descriptor = open(path, how | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
      guard descriptor >= 0 else { return -1 }
      guard isPlain(descriptor, alone: true) else {
        close(descriptor)
        errno = EACCES
        return -1
      }
      return descriptor
    }

    /// Whether it is a regular file.
    ///
    /// - Parameter alone: Whether it must also have only one hard link.
    private static func isPlain(_ descriptor: Int32, alone: Bool = false) -> Bool {
      var state = stat()
      return fstat(descriptor, &state) == 0 && state.st_mode & S_IFMT == S_IFREG
        && (!alone || state.st_nlink == 1)
    }

    static func text(_ path: String) -> String? {
      read(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Overwrites an existing file or appends to it, and flushes it to disk. Returns an error number or 0.
    static func write(_ text: String, to path: String, appending: Bool = false) -> Int32 {
      let how = appending ? O_APPEND : 0
      let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | how)
      guard descriptor >= 0 else { return errno }
      defer { close(descriptor) }
      guard isPlain(descriptor, alone: true) else { return EINVAL }
      if !appending, ftruncate(descriptor, 0) != 0 { return errno }
      do throws(SystemFailure) {
        try SystemCalls.write(Array(text.utf8), to: descriptor)
      } catch {
        return error.code
      }
      return fsync(descriptor) == 0 ? 0 : errno
    }

    /// The names in a folder; none if it cannot be read.
    static func names(in path: String) -> [String] {
      (try? SystemCalls.names(in: path)) ?? []
    }

    /// Flushes the entries of a folder (such as a rename) to disk.
    static func flushFolder(_ path: String) {
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      fsync(descriptor)
      close(descriptor)
    }

    static func reason(_ code: Int32) -> String {
      String(cString: strerror(code))
    }

    /// The last lines of a program's output, for an error's detail.
    static func lastLines(_ bytes: [UInt8], count: Int = 12) -> String {
      String(decoding: bytes, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: true)
        .suffix(count)
        .joined(separator: "\n")
    }
  }
}

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
        code == $0 || output.contains(Files.reason($0).utf8)
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
