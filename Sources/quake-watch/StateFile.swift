import CommandLine
import Glibc
import QuakeModel
import QuakeStore
import QuakeTool

/// A file that holds how far the changes have been handed over: one line, the last token and, within
/// a transaction, how many of its changes.
struct StateFile {
  private let path: String

  init(_ path: String) {
    self.path = path
  }

  /// Why the file cannot be used.
  struct StateFileError: Error, CustomStringConvertible {
    let description: String
  }

  /// The place in the file; nil if there is no file.
  func load() throws -> HistoryPlace? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("read")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw failure("read") }
    let text = String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    guard let place = HistoryPlace(text) else {
      throw StoreError(
        .token(.malformed), "state file \"\(path)\" does not hold a token",
        hint: "If it is the right file, remove it and begin again, with --snapshot or --after.")
    }
    return place
  }

  /// Puts the place into the file so that a crash leaves either the old one or the new one.
  func save(_ place: HistoryPlace) throws {
    let temporary = path + ".new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure("write") }
    let line = Array("\(place)\n".utf8)
    let written = write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
    guard close(descriptor) == 0, written, rename(temporary, path) == 0 else {
      throw failure("write")
    }
    syncFolder()
  }

  /// Without this the rename may be lost in a power failure: then the older place is there, and some
  /// changes come twice, which is allowed after a crash.
  private func syncFolder() {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private func failure(_ doing: String) -> StateFileError {
    StateFileError(
      description: "could not \(doing) state file \"\(path)\": \(String(cString: strerror(errno)))")
  }
}
