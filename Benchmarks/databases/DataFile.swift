import CommandLine

/// A file of events.
struct DataFile: Sendable {
  /// The kinds of files.
  enum Kind: String, CaseIterable, Sendable {
    case month = "month"
    case revisedMonth = "month-revised"
    case million = "million"
    case revisedMillion = "million-revised"

    /// The percentage of its events that have been revised.
    var revisedPercent: Int {
      switch self {
      case .month, .million: 0
      case .revisedMonth: 2
      case .revisedMillion: 5
      }
    }

    var isLarge: Bool { self == .million || self == .revisedMillion }
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
    let events = "\(Readable.count(contents.events)) events"
    let size = "\(Readable.decimal(Double(bytes) / 1e6, places: 0)) MB"
    return revised == 0
      ? "\(events), \(size)" : "\(events), \(Readable.count(revised)) revised, \(size)"
  }
}
