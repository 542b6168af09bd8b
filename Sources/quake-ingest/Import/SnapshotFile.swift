import Glibc
import QuakeFeed
import QuakeModel
import QuakeTool

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
    guard let directory = opendir(folder) else {
      throw FeedError(
        errno == ENOENT || errno == ENOTDIR ? .fileNotFound : .unreadable,
        "could not open folder \"\(folder)\"", detail: String(cString: strerror(errno)) + ".")
    }
    defer { closedir(directory) }
    var snapshots: [SnapshotFile] = []
    var others = 0
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
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
