import CommandLine
import Glibc
import Postgres
import QuakeFeed
import QuakeModel
import QuakeSimulator

/// The files that are loaded. Each is made when it is first needed.
final class DataFolder {
  private let path: String
  private let options: BenchOptions
  private let diagnostics: Diagnostics
  private var files: [String: DataFile] = [:]

  /// All events have happened before this time, 1 June 2026.
  private static let now = Timestamp(microseconds: 1_780_272_000_000_000)

  /// Files in the folder `path`.
  init(_ path: String, _ options: BenchOptions, _ diagnostics: Diagnostics) throws {
    self.path = path
    self.options = options
    self.diagnostics = diagnostics
    guard mkdir(path, 0o755) == 0 else { throw Self.failure("make folder", path) }
  }

  /// A file.
  ///
  /// - Parameter serial: The number in the first event's id. Files of different events must not use
  ///   the same numbers.
  func file(_ kind: DataFile.Kind, serial: Int = 0) throws -> DataFile {
    let name = serial == 0 ? kind.rawValue : "\(kind.rawValue)-\(serial)"
    if let file = files[name] { return file }
    let events =
      switch kind {
      case .month, .revisedMonth: options.monthEvents
      case .million, .revisedMillion: options.events
      case .grown, .revisedGrown: options.grownEvents
      }
    var writer = FeedFileWriter(seed: 1, events: events, now: Self.now)
    writer.revised = events * kind.revisedPercent / 100
    writer.serial = serial
    diagnostics.note("making \(name).geojson of \(Readable.count(events)) events")
    let path = self.path(name + ".geojson")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("make file", path) }
    defer { close(descriptor) }
    let bytes = try writer.write(to: descriptor) { _ in !Signals.stopRequested }
    try Bench.stopIfAsked()
    // So that it is not written to disk during a measurement.
    fsync(descriptor)
    let file = DataFile(
      name: name, path: path, bytes: bytes, revised: writer.revised,
      contents: try Contents(file: path))
    guard file.contents.events == events else {
      throw BenchFailure("file \"\(path)\" does not have the events it should")
    }
    files[name] = file
    return file
  }

  /// A path in the folder.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  private static func failure(_ what: String, _ path: String) -> BenchFailure {
    BenchFailure("could not \(what) \"\(path)\": \(String(cString: strerror(errno)))")
  }
}

/// A file of events.
struct DataFile: Sendable {
  /// The kinds of files.
  enum Kind: String, Sendable {
    case month = "month"
    case revisedMonth = "month-revised"
    case million = "million"
    case revisedMillion = "million-revised"
    case grown = "grown"
    case revisedGrown = "grown-revised"

    /// The percentage of its events that have been revised.
    var revisedPercent: Int {
      switch self {
      case .month, .million, .grown: 0
      case .revisedMonth: 2
      case .revisedMillion: 5
      case .revisedGrown: 100
      }
    }
  }

  /// The name of the file, and of what is made from it.
  var name: String
  var path: String
  var bytes: Int
  /// The number of its events that have been revised.
  var revised: Int
  var contents: Contents

  /// Its contents, in a few words.
  var size: String {
    let revisions = revised == 0 ? "" : "\(Readable.count(revised)) revised, "
    return "\(Readable.count(contents.events)) events, \(revisions)"
      + "\(Readable.decimal(Double(bytes) / 1e6, places: 0)) MB"
  }
}

/// The figures of events that are compared between a file and a table.
struct Contents: Equatable, CustomStringConvertible {
  /// The number of events, and of those with a magnitude.
  var events = 0
  var magnitudes = 0
  /// The sums of their origin times and of the times they were updated, in milliseconds since `epoch`.
  var times = 0
  var updates = 0

  /// July 2017 in milliseconds since 1970. It is amid the events, so that the sums stay small.
  private static let epoch = 1_500_000_000_000

  /// The figures of a file.
  init(file: String) throws {
    let reader = try FeedReader(source: FileSource(path: file), name: file)
    var record = EventRecord()
    while let item = try reader.next(into: &record) {
      guard item == .record else { throw BenchFailure("file \"\(file)\" has a bad record") }
      events += 1
      if record.has(.magnitude) { magnitudes += 1 }
      times += Self.milliseconds(record.timestamp(.time))
      updates += Self.milliseconds(record.timestamp(.updated))
    }
  }

  /// The figures of a table with the columns of `quake.quake`.
  init(of table: String, over connection: Connection) throws {
    (events, magnitudes, times, updates) = try connection.row(
      """
      select count(*), count(magnitude),
             coalesce(sum((extract(epoch from time) * 1000)::bigint - \(Self.epoch)), 0)::bigint,
             coalesce(sum((extract(epoch from updated) * 1000)::bigint - \(Self.epoch)), 0)::bigint
        from \(sql: SQL(trusted: table))
      """, as: (Int, Int, Int, Int).self)
  }

  private static func milliseconds(_ time: Timestamp?) -> Int {
    time.map { Int($0.microseconds / 1000) - epoch } ?? 0
  }

  var description: String {
    "\(events) events, \(magnitudes) magnitudes, times \(times), updates \(updates)"
  }
}
