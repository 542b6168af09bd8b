import Basics
import CommandLine
import Glibc
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
    do throws(AtomicFile.SystemError) {
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

  func save(_ witness: Witness) throws {
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array("\(WitnessText(witness, of: name))".utf8))
    } catch {
      throw FileError(
        "could not write witness \"\(path)\": \(error)", detail: "--state names another file.")
    }
  }
}

/// Writes a witness when that is worth it.
final class WitnessKeeper {
  let file: WitnessFile
  private let delivered: DeliveredTransactions
  /// The cursor that the file does not have yet, and when it was created.
  private var unwritten: (cursor: HistoryCursor, created: Timestamp)?
  /// When the last write began, and how long it took.
  private var lastWrite: (begun: Duration, lasted: Duration)?

  /// - Parameter delivered: The transactions that the watcher has delivered.
  init(_ file: WitnessFile, _ delivered: DeliveredTransactions) {
    self.file = file
    self.delivered = delivered
  }

  /// Whether it has written the file.
  var hasWritten: Bool { lastWrite != nil }

  /// Takes a cursor for the next write.
  func note(_ cursor: HistoryCursor, of created: Timestamp) { unwritten = (cursor, created) }

  /// Forgets the cursor that is not written yet.
  func drop() { unwritten = nil }

  /// Whether to write now although the next cursor comes soon. A write takes as long as the disk needs to store the
  /// file, of which this leaves a small part of the time.
  var isDue: Bool {
    guard let (begun, lasted) = lastWrite else { return true }
    let interval = min(max(.milliseconds(200), lasted * 40), .seconds(5))
    return MonotonicClock.now() - begun >= interval
  }

  /// Writes what the file does not have yet.
  func writePending() throws {
    guard let (cursor, created) = unwritten else { return }
    unwritten = nil
    let begun = MonotonicClock.now()
    try file.save(
      Witness(cursor: cursor, created: created, delivered: delivered.last(upTo: cursor)))
    lastWrite = (begun, MonotonicClock.now() - begun)
  }
}

/// Where the witness of a named watcher is.
enum WitnessPlace {
  /// Nowhere: there is none.
  case none
  /// In a file that the user has chosen.
  case file(String)
  /// In the folder for the state of this account, or of this service. Where there is none, the watcher does without a
  /// witness.
  case stateFolder

  /// Why the folder cannot be used.
  struct Unusable: Error {
    let reason: String
  }

  /// The path in the folder for the watcher `name` of a store. It does not depend on the host or on the name of the
  /// database: both may be others after a failover or a restore.
  ///
  /// - Parameter store: When the store was created, which tells it from others.
  static func path(of name: String, store: Timestamp) throws(Unusable) -> String {
    try path(of: name, source: "\(store.microseconds)")
  }

  /// The path in the folder for the watcher `name` of a source, such as the address of a server.
  static func path(of name: String, source: String) throws(Unusable) -> String {
    let folder = try folder() + "/watch"
    try create(folder)
    let prefix = String(
      String.UnicodeScalarView(
        name.unicodeScalars.prefix(40).map {
          ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
            ? $0 : "_"
        }))
    // FNV-1a, 64 bits: enough to tell the watchers of one account apart.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(source) \(name)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return "\(folder)/\(prefix)-\(String(hash, radix: 16))"
  }

  /// The folder: that of the service (systemd's `StateDirectory=`), else the user's.
  private static func folder() throws(Unusable) -> String {
    // There may be several, with colons in between.
    if let first = Environment.value("STATE_DIRECTORY")?.split(separator: ":").first,
      first.hasPrefix("/")
    {
      return String(first)
    }
    // The XDG specification says that relative paths are ignored.
    if let named = Environment.value("XDG_STATE_HOME"), named.hasPrefix("/") {
      return named + "/quake"
    }
    guard let home = Environment.value("HOME"), home.hasPrefix("/") else {
      throw Unusable(reason: "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set")
    }
    var status = stat()
    guard stat(home, &status) == 0 else {
      throw Unusable(reason: "home folder \"\(home)\": \(String(cString: strerror(errno)))")
    }
    // "sudo" may have kept it.
    guard status.st_uid == geteuid() else {
      throw Unusable(reason: "home folder \"\(home)\" belongs to another user")
    }
    return home + "/.local/state/quake"
  }

  /// Creates a folder that only this account may enter, with its parents.
  private static func create(_ folder: String) throws(Unusable) {
    var path = ""
    for part in folder.split(separator: "/") {
      path += "/" + part
      guard mkdir(path, 0o700) != 0 else { continue }
      let code = errno
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw Unusable(
          reason: "could not create folder \"\(path)\": \(String(cString: strerror(code)))")
      }
    }
  }
}
