import QuakeHistory
import QuakeModel
import QuakeTool

/// The file that holds the witness of one named watcher: see `WitnessText`.
struct WitnessFile {
  let path: String
  private let name: String

  /// The file for the watcher of that name.
  init(_ path: String, of name: String) {
    self.path = path
    self.name = name
  }

  /// The longest file that is read: a name has up to 200 characters, a token up to 28 bytes.
  private static let longest = 16 << 10

  /// The witness; nil if there is no file.
  func load() throws -> Witness? {
    let bytes: [UInt8]?
    do throws(AtomicFile.ReadingError) {
      bytes = try AtomicFile(path).read(atMost: Self.longest)
    } catch {
      throw FileError(
        "could not read witness \"\(path)\": \(error)", detail: "--state names another file.")
    }
    guard let bytes else { return nil }
    guard let text = WitnessText(bytes) else {
      throw StoreError(
        .badData, "file \"\(path)\" is not a witness, or is damaged",
        hint: """
          If it is the witness of this watcher, remove it: the watcher then continues after its cursor in the \
          database, and with --url it begins anew. If it is another file, name another one with --state.
          """)
    }
    guard text.watcher == WitnessText.line(name) else {
      throw StoreError(
        .badData, "file \"\(path)\" is the witness of watcher \"\(text.watcher)\"",
        hint: "Name another file with --state: each watcher needs its own.")
    }
    return text.witness
  }

  /// Replaces the file.
  func save(_ witness: Witness) throws {
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array("\(WitnessText(witness, of: name))".utf8))
    } catch {
      throw FileError(
        "could not write witness \"\(path)\": \(error)", detail: "--state names another file.")
    }
  }
}
