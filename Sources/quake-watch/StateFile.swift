import CommandLine
import QuakeModel
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
  func load() throws -> HistoryCursor? {
    let bytes: [UInt8]?
    do throws(AtomicFile.ReadingError) {
      bytes = try AtomicFile(path).read(atMost: 256)
    } catch {
      throw StateFileError(description: "could not read state file \"\(path)\": \(error)")
    }
    guard let bytes else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    guard let place = HistoryCursor(text) else {
      throw StoreError(
        .token(.malformed), "state file \"\(path)\" does not hold a token",
        hint: "If it is the right file, remove it and begin again, with --snapshot or --after.")
    }
    return place
  }

  /// Puts the place into the file. Should a power failure bring the older place back, some changes come
  /// twice, which is allowed after a crash.
  func save(_ place: HistoryCursor) throws {
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array("\(place)\n".utf8))
    } catch {
      throw StateFileError(description: "could not write state file \"\(path)\": \(error)")
    }
  }
}
