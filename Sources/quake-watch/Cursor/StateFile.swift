import CommandLine
import QuakeModel
import QuakeTool

/// A file that holds the cursor up to which changes have been handed over: one line with the last token
/// and, within a transaction, the number of its changes.
struct StateFile {
  private let path: String

  init(_ path: String) {
    self.path = path
  }

  /// The cursor in the file; nil if there is no file.
  func load() throws -> HistoryCursor? {
    let bytes: [UInt8]?
    do throws(AtomicFile.ReadingError) {
      bytes = try AtomicFile(path).read(atMost: 256)
    } catch {
      throw FileError("could not read state file \"\(path)\": \(error)")
    }
    guard let bytes else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    guard let cursor = HistoryCursor(text) else {
      throw StoreError(
        .token(.malformed), "state file \"\(path)\" does not hold a token",
        hint: "If it is the right file, remove it and begin again, with --snapshot or --after.")
    }
    return cursor
  }

  /// Replaces the cursor in the file. If a power failure restores the older one, some changes are repeated,
  /// which is allowed after a crash.
  func save(_ cursor: HistoryCursor) throws {
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array("\(cursor)\n".utf8))
    } catch {
      throw FileError("could not write state file \"\(path)\": \(error)")
    }
  }
}
