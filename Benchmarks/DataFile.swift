/// A file of events.
struct DataFile: Sendable {
  /// Which ones there are.
  enum Kind: String, CaseIterable, Sendable {
    case month = "month"
    case revisedMonth = "month-revised"
    case million = "million"
    case revisedMillion = "million-revised"

    /// Of its events, how many in a hundred have been revised.
    var revisedPercent: Int {
      switch self {
      case .month, .million: 0
      case .revisedMonth: 2
      case .revisedMillion: 5
      }
    }

    var isLarge: Bool { self == .million || self == .revisedMillion }
  }

  /// Names it, and what is made from it.
  var name: String
  var path: String
  /// Bytes of it.
  var size: Int
  /// How many of its events have been revised.
  var revised: Int
  var contents: Contents
}
