import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

/// Random snapshots, compared with a model of their meaning.
@Suite final class IdentityModelTests: DatabaseSuite {
  /// Thrown where an import begins anew.
  private struct BegunAnew: Error {}

  private static let rounds = Tools.isSoak ? 25 : 3
  private static let snapshots = 10
  private static let noon = Timestamp(microseconds: 1_700_049_600_000_000)

  /// - Parameter number: The number of the snapshot; nil: its age is unknown.
  private func apply(
    _ features: [IdentityModel.Feature], _ number: Int?, scope: Bool
  ) throws {
    var options = ImportOptions(source: "-", feed: "all_day", program: "tests 1", author: "a")
    if scope {
      options.scope = FeedScope(name: "all_day", source: "usgs", window: 86_400)
      var limits = SnapshotLimits()
      limits.missing = 1
      limits.refusesOlder = false
      options.limits = limits
    }
    let records = features.map { feature in
      var record = EventRecord(
        feature.code, magnitude: feature.magnitude,
        ids: "," + feature.ids.joined(separator: ",") + ",")
      record.set(.time, Self.noon.advanced(bySeconds: -40_000))
      return record
    }
    let generated = number.map { Self.noon.advanced(bySeconds: Int64($0) * 60) }
    var source = FakeSource(records, generated: generated?.description)
    // Without a scope in batches, which must be enough.
    let report = try Importer(connection: connection, options: options)
      .run(from: &source, reopen: scope ? nil : { _, _, _ in throw BegunAnew() })
    #expect(report.quarantine == nil)
  }

  private func state(withdrawals: Bool) throws -> [String] {
    try connection.table(
      """
      select code, magnitude, coalesce(superseded_by, '-'),
             coalesce(case when superseded_by is null and \(withdrawals)
               then (extract(epoch from withdrawn_at - to_timestamp(1700049600)) / 60)::integer::text end, '-')
        from quake.quake
      """
    ).sorted()
  }

  private func aliases() throws -> [String] {
    try connection.table("select id, code from quake.quake_alias").sorted()
  }

  /// Events that lead to no preferred row.
  private func lost() throws -> [String] {
    try connection.table(
      """
      select q.code from quake.quake q
       where not exists (select from quake.find(q.code) f where f.superseded_by is null)
      """)
  }

  private func clear() throws {
    try connection.execute(
      "truncate quake.quake, quake.quake_alias, quake.absence, quake.import cascade")
    // The next round's events would be known, as events that SQL has deleted.
    try connection.execute("truncate quake.quake_version, quake.change_transaction cascade")
  }

  @Test(arguments: Seeds.first(1, of: 1...3))
  func identitiesFollowTheNewestSnapshotInOrder(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for round in 0..<Self.rounds {
      let scope = round % 2 == 0
      let all = IdentityModel.snapshots(
        Self.snapshots, vanishing: round % 3 == 0 ? 0 : 25, using: &generator)
      var model = IdentityModel()
      for (number, features) in all.enumerated() {
        model.apply(features, number)
        try apply(features, number, scope: scope)
        let place = Comment("seed \(seed), round \(round), snapshot \(number)")
        try #require(
          try state(withdrawals: scope) == model.state(withdrawals: scope), place)
        try #require(try aliases() == model.aliases(), place)
      }
      try clear()
    }
  }

  /// The rows, without the contents of superseded ones.
  private func withoutPast(_ rows: [String]) -> [String] {
    rows.map { row in
      let fields = row.split(separator: "|")
      return fields[2] == "-" ? row : "\(fields[0]) is superseded by \(fields[2])"
    }
  }

  @Test(arguments: Seeds.first(1, of: 4...6))
  func identitiesFollowTheNewestSnapshotInAnyOrder(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for round in 0..<Self.rounds {
      let all = IdentityModel.snapshots(
        Self.snapshots, vanishing: round % 3 == 0 ? 0 : 25, using: &generator)
      var model = IdentityModel()
      for (number, features) in all.enumerated() { model.apply(features, number) }
      let order =
        round % 5 == 0
        ? all.indices.reversed() : Array(all.indices).shuffled(using: &generator)
      for number in order {
        try apply(all[number], number, scope: true)
        try #require(try lost() == [], "seed \(seed), round \(round), \(order), after \(number)")
      }
      let place = Comment("seed \(seed), round \(round), \(order)")
      // A superseded row keeps contents that it had, but it does not matter of when.
      try #require(
        try withoutPast(state(withdrawals: true)) == withoutPast(model.state(withdrawals: true)),
        place)
      try #require(try aliases() == model.aliases(), place)
      try clear()
    }
  }

  @Test(arguments: Seeds.first(1, of: 7...8))
  func noEventIsLostIfTheAgeOfASnapshotIsUnknown(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for round in 0..<Self.rounds {
      let all = IdentityModel.snapshots(Self.snapshots, vanishing: 0, using: &generator)
      for number in Array(all.indices).shuffled(using: &generator) {
        let isDated = Int.random(in: 0..<3, using: &generator) > 0
        try apply(all[number], isDated ? number : nil, scope: false)
        try #require(try lost() == [], "seed \(seed), round \(round), after \(number)")
      }
      try clear()
    }
  }
}
