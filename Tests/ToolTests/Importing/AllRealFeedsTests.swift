import Foundation
import Postgres
import QuakeModel
import TestSupport
import Testing

/// One `quake-ingest import` of the real feeds of USGS, of other catalogues and of single events. Each feed of USGS
/// is imported twice in a row; of the large ones, every third is imported once, and in soak tests each twice.
@Suite(.enabled(if: Feeds.hasReal, "no real feeds in QUAKE_REAL_FEEDS"))
struct AllRealFeedsTests {
  /// What the import left and what it reported; tests only read it.
  private struct Import {
    let database: TestDatabase
    let files: [String]
    /// Those of `files` that were imported twice in a row.
    let repeated: Set<String>
    let others: [String]
    /// A line for each import.
    let reports: [String]
    /// The events of each file.
    let events: [String: [Feeds.Event]]
  }

  private static let original = Result<Import, any Error> {
    let database = try TestDatabase()
    let all = try Feeds.real("usgs", ["geojson", "csv"])
    let large = try all.filter { try size(of: $0) >= 1_000_000 }
    let files =
      Tools.isSoak
      ? all : all.filter { file in large.firstIndex(of: file).map { $0 % 3 == 0 } ?? true }
    let repeated = Tools.isSoak ? files : files.filter { !large.contains($0) }
    let others = try Feeds.real("other", ["json"]) + Feeds.real("usgs", ["json"])
    let sources = files.flatMap { repeated.contains($0) ? [$0, $0] : [$0] } + others
    let outcome = try database.succeed("quake-ingest", ["import", "--json"] + sources)
    try #require(files.count > 30 && repeated.count > 20 && others.count >= 6)
    try #require(outcome.lines.count == sources.count)
    let events = try Dictionary(
      uniqueKeysWithValues: (files + others).map { ($0, try Feeds.events($0)) })
    return Import(
      database: database, files: files, repeated: Set(repeated), others: others,
      reports: outcome.lines, events: events)
  }

  /// The size of a file in bytes.
  private static func size(of file: String) throws -> Int {
    try #require(URL(fileURLWithPath: file).resourceValues(forKeys: [.fileSizeKey]).fileSize)
  }

  private let imported: Import
  private let lines: [JSONLine]

  init() throws {
    imported = try Self.original.get()
    lines = try imported.reports.map(JSONLine.init)
  }

  @Test func everyRecordIsCountedAndASecondImportChangesNothing() throws {
    var rest = lines.makeIterator()
    for file in imported.files {
      let line = rest.next()
      let first = try #require(line)
      let again = imported.repeated.contains(file) ? rest.next() : nil
      let expected = try #require(imported.events[file]).count
      for line in [first, again].compactMap(\.self) {
        let kinds = ["inserted", "updated", "unchanged", "rejected", "duplicate"]
        #expect(line.integer("seen") == expected, "\(file)")
        #expect(kinds.map { line.integer($0) ?? -1 }.reduce(0, +) == expected, "\(file)")
        #expect(line.integer("rejected") == 0, "\(file)")
        #expect(line.bool("complete") == true)
      }
      if let again {
        #expect(again.integer("inserted") == 0, "\(file)")
        #expect(again.integer("updated") == 0, "\(file)")
        #expect(again.isNull("token"), "\(file)")
      }
      let changed = try #require(first.integer("inserted")) + #require(first.integer("updated"))
      #expect(first.isNull("token") == (changed == 0), "\(file)")
    }
    // One transaction for each import that changed anything, none for the others.
    let changing = lines.filter { !$0.isNull("token") }.count
    #expect(try imported.database.count("quake.change_transaction") == changing)
    #expect(try imported.database.count("quake.import") == lines.count)
  }

  @Test func valuesThatSeemMissingOrWrongAreStored() throws {
    for condition in [
      "magnitude = 0", "magnitude < 0", "depth < 0", "magnitude is null", "place like '%Pāhala%'",
    ] {
      #expect(
        try imported.database.count("quake.quake where source = 'usgs' and \(condition)") > 0,
        "\(condition)")
    }
  }

  @Test func otherCataloguesAndSingleEventsAreImported() throws {
    for (file, line) in zip(imported.others, lines.suffix(imported.others.count)) {
      #expect(line.integer("seen") == imported.events[file]?.count, "\(file)")
      // GeoNet's sample has an event without a time.
      #expect(line.integer("rejected") == (file.contains("geonet") ? 1 : 0), "\(file)")
    }
  }

  /// Networks tx and ok used the same net code for two earthquakes.
  @Test func eventsWithTheSameNetCodeAreBothStored() throws {
    var pairs: [String: Set<String>] = [:]
    for file in imported.files {
      var seen: [String: Set<String>] = [:]
      for event in imported.events[file] ?? [] where event.id.hasPrefix(event.net) {
        seen[String(event.id.dropFirst(event.net.count)), default: []].insert(event.id)
      }
      for (code, ids) in seen where ids.count > 1 { pairs[code, default: []].formUnion(ids) }
    }
    try #require(!pairs.isEmpty)
    for (code, ids) in pairs {
      let stored = try imported.database.column(
        "select code from quake.quake where net_code = '\(code)' order by code")
      #expect(ids.isSubset(of: stored), "\(code)")
    }
    #expect(pairs.values.contains { ids in ids.contains { $0.hasPrefix("tx") } })
  }

  @Test func swiftAndSQLAgreeOnEveryRealPlace() throws {
    let rows = try imported.database.connect().execute(
      """
      select distinct place, quake.locality(place), quake.region(place) from quake.quake_version
       where place is not null
      """)
    #expect(rows.rowCount > 10_000)
    let wrong = (0..<rows.rowCount).compactMap { row -> String? in
      let place = rows.text(row, 0) ?? ""
      let isRight =
        rows.text(row, 1) == PlaceName.locality(place)
        && rows.text(row, 2) == PlaceName.region(place)
      return isRight ? nil : place
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }
}
