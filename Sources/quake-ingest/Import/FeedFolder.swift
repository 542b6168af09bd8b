import Basics
import Glibc
import QuakeFeed
import QuakeModel
import QuakeTool
import QuakeWorker

/// The files of events in a folder.
enum FeedFolder {
  private static let endings = [
    ".geojson", ".json", ".csv", ".txt", ".text", ".ndjson", ".jsonl", ".xml", ".quakeml", ".qml",
    ".scml",
  ]
  private static let compressed = [".gz", ".zst"]

  /// The absolute path of a file or folder, without symbolic links.
  static func absolute(_ path: String) throws(FeedError) -> String {
    guard let resolved = realpath(path, nil) else { throw unreadable(path, errno) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The file itself, or the files in and below the folder whose names end like those of feeds (plain
  /// or compressed), sorted by path. Hidden files are skipped, and symbolic links to folders are not followed.
  static func files(_ path: String) throws(FeedError) -> [BackfillFiles.File] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw unreadable(path, errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [file(path, status)] }
    var found: [BackfillFiles.File] = []
    try collect(path, into: &found)
    return found.sorted { $0.path < $1.path }
  }

  private static func collect(
    _ folder: String, into found: inout [BackfillFiles.File]
  ) throws(FeedError) {
    let names: [String]
    do throws(SystemFailure) {
      names = try SystemCalls.names(in: folder)
    } catch {
      throw unreadable(folder, error.code)
    }
    for name in names where !name.hasPrefix(".") {
      let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }  // deleted in the meantime
      if status.st_mode & S_IFMT == S_IFDIR {
        try collect(path, into: &found)
      } else if isFeed(name), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        found.append(file(path, status))
      }
    }
  }

  private static func isFeed(_ name: String) -> Bool {
    var name = Substring(name.lowercased())
    if let ending = compressed.first(where: { name.hasSuffix($0) }) {
      name.removeLast(ending.utf8.count)
    }
    return endings.contains { name.hasSuffix($0) }
  }

  private static func file(_ path: String, _ status: stat) -> BackfillFiles.File {
    BackfillFiles.File(
      path: path, size: Int64(status.st_size),
      modified: Timestamp(
        microseconds: Int64(status.st_mtim.tv_sec) * 1_000_000
          + Int64(status.st_mtim.tv_nsec) / 1000))
  }

  static func unreadable(_ path: String, _ code: Int32) -> FeedError {
    FeedError(
      code == ENOENT || code == ENOTDIR ? .fileNotFound : .unreadable,
      "could not open \"\(path)\"", detail: String(cString: strerror(code)) + ".")
  }
}

/// A snapshot of a feed in a file whose name says when it was taken.
struct SnapshotFile: Comparable {
  let path: String
  let taken: Timestamp

  /// Nil if the name holds no time of a form such as `2026-08-15T0040Z` or `20260815T004030Z`.
  init?(path: String) {
    guard let taken = Self.time(in: path.split(separator: "/").last ?? "") else { return nil }
    self.path = path
    self.taken = taken
  }

  static func < (left: SnapshotFile, right: SnapshotFile) -> Bool {
    (left.taken, left.path) < (right.taken, right.path)
  }

  /// The snapshots in a folder, sorted by time, and the number of other files.
  static func all(in folder: String) throws(FeedError) -> (snapshots: [SnapshotFile], others: Int) {
    let names: [String]
    do throws(SystemFailure) {
      names = try SystemCalls.names(in: folder)
    } catch {
      throw FeedFolder.unreadable(folder, error.code)
    }
    var snapshots: [SnapshotFile] = []
    var others = 0
    for name in names where !name.hasPrefix(".") {
      if let snapshot = SnapshotFile(path: "\(folder)/\(name)") {
        snapshots.append(snapshot)
      } else {
        others += 1
      }
    }
    return (snapshots.sorted(), others)
  }

  /// The last time in the text.
  private static func time(in name: Substring) -> Timestamp? {
    // A time of day follows a date and a T; dashes and colons are optional.
    for start in name.indices.reversed() where name[start].isNumber {
      let rest = name[start...].filter { $0 != "-" && $0 != ":" }
      let digits = rest.prefix(8)
      guard digits.count == 8, digits.allSatisfy(\.isNumber) else { continue }
      let afterDate = rest.dropFirst(8)
      guard afterDate.first == "T" else { continue }
      let clock = afterDate.dropFirst().prefix(while: \.isNumber)
      guard clock.count == 4 || clock.count == 6, afterDate.dropFirst(1 + clock.count).first == "Z"
      else { continue }
      let date = Array(digits)
      let time = Array(clock) + (clock.count == 4 ? ["0", "0"] : [])
      let (year, month, day) = (String(date[0..<4]), String(date[4..<6]), String(date[6...]))
      let (hour, minute, second) = (String(time[0..<2]), String(time[2..<4]), String(time[4...]))
      return Timestamp(iso8601: "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)Z")
    }
    return nil
  }
}
