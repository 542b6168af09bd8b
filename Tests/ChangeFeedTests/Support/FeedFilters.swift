/// Filters of the watchers under test, each with the same in SQL.
enum FeedFilters {
  static let magnitude = KnownHistory.Filter(
    name: "magnitude", options: ["--min-magnitude", "6.5"],
    condition: "op = 'truncate' or (n).magnitude >= 6.5 or (o).magnitude >= 6.5")
  static let operations = KnownHistory.Filter(
    name: "operations", options: ["--op", "insert,delete"], condition: "op in ('insert', 'delete')")
  static let author = KnownHistory.Filter(
    name: "author", options: ["--author", "w3", "--author", "p0"],
    condition: "author in ('w3', 'p0')")
  static let box = KnownHistory.Filter(
    name: "box", options: ["--bbox", "10,-90,60,45"],
    condition: """
      op = 'truncate' or (n).longitude between 10 and 60 and (n).latitude <= 45
      or (o).longitude between 10 and 60 and (o).latitude <= 45
      """)
  static let place = KnownHistory.Filter(
    name: "place", options: ["--changed", "place"], condition: "'place' = any (changed)")

  static let all = [magnitude, operations, author, box, place]
}
