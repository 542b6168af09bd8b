import CommandLine
import Glibc
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
    let events = kind.isLarge ? options.events : options.monthEvents
    var writer = FeedFileWriter(seed: options.seed, events: events, now: Self.now)
    writer.revised = events * kind.revisedPercent / 100
    writer.serial = serial
    diagnostics.note("making \(name).geojson of \(Readable.count(events)) events")
    let path = "\(self.path)/\(name).geojson"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("make file", path) }
    defer { close(descriptor) }
    let bytes = try writer.write(to: descriptor) { _ in !Signals.stopRequested }
    try Run.stopIfAsked()
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

  /// A path in the folder, for another file that a contender needs.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  private static func failure(_ what: String, _ path: String) -> BenchFailure {
    BenchFailure("could not \(what) \"\(path)\": \(String(cString: strerror(errno)))")
  }
}
