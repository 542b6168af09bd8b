import Glibc
import Postgres
import QuakeImport
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

/// Random earthquakes that several sources report with errors: the truth is known.
@Suite struct RandomAssociationTests {
  private typealias Report = AssociationWorld.Report

  /// Reports of earthquakes all over the Earth, at the poles and the 180th meridian too, some of them ten
  /// seconds after another one at the same place; and the associations that they should have.
  private static func catalogue(
    _ generator: inout SeededGenerator, count: Int
  ) -> (reports: [Report], truth: [String]) {
    var reports: [Report] = []
    var truth: [String] = []
    for number in 0..<count {
      let special = [(89.9, 10.0), (-89.95, -170), (12, 179.99), (-30, -179.98), (0, 0)]
      let (latitude, longitude) =
        number % 3 == 0
        ? special[number / 3 % special.count]
        : (
          Double.random(in: -90...90, using: &generator),
          Double.random(in: -180...180, using: &generator)
        )
      // A pair of shocks is seen by all sources: if one missed a shock, the other might well be its partner.
      let isDouble = number % 5 == 0
      for shock in 0...(isDouble ? 1 : 0) {
        var members: [String] = []
        for source in ["usgs", "emsc", "geonet"]
        where isDouble || Double.random(in: 0...1, using: &generator) < 0.8 {
          let exact = Report(
            code: "\(source)\(number).\(shock)", source: source, seconds: Double(number) * 900,
            latitude: latitude, longitude: longitude)
          var report = exact
          report.seconds +=
            Double(shock) * 10
            + Double.random(in: -1...1, using: &generator) * (isDouble ? 1 : 7)
          (report.latitude, report.longitude) = exact.moved(
            Double.random(in: 0...(isDouble ? 5 : 45), using: &generator),
            towards: Double.random(in: 0...(2 * .pi), using: &generator))
          report.magnitude =
            Bool.random(using: &generator)
            ? 4 + Double.random(in: -0.6...0.6, using: &generator) : nil
          reports.append(report)
          members.append(report.code)
        }
        // USGS comes first in a new store, then the sources by name.
        let order = ["usgs", "emsc", "geonet"].compactMap { source in
          members.first { $0.hasPrefix(source) }
        }
        if order.count > 1 {
          truth.append(([order[0]] + order.dropFirst().sorted()).joined(separator: " "))
        }
      }
    }
    return (reports, truth.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
  }

  @Test(arguments: Seeds.first(1, of: 1...100))
  func randomAssociationsAreTheTruthInAnyOrderOfArrival(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let (reports, truth) = Self.catalogue(&generator, count: 60)
    for round in 0..<3 {
      let world = try AssociationWorld()
      var rest = reports.shuffled(using: &generator)
      while !rest.isEmpty {
        let part = Array(rest.prefix(Int.random(in: 1...40, using: &generator)))
        rest.removeFirst(part.count)
        // First somewhere else, and near others, then revised.
        let wrong = part.map { report in
          var wrong = report
          if Int.random(in: 0..<4, using: &generator) == 0,
            let other = reports.randomElement(using: &generator)
          {
            (wrong.seconds, wrong.latitude, wrong.longitude) = (
              other.seconds, other.latitude, other.longitude
            )
          }
          return wrong
        }
        try world.store(wrong)
        if round != 1 { try world.associations.update() }
        try world.store(part)
        if round != 2 { try world.associations.update() }
        #expect(try world.faults().isEmpty || round == 2)
      }
      try world.associations.update()
      let found = try world.earthquakes()
      #expect(found == truth)
      #expect(try world.faults() == [])
      #expect(
        try world.shown().count == reports.count
          - found.map { $0.split(separator: " ").count - 1 }.reduce(0, +))
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...20))
  func randomAssociationsEndWithoutATrace(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let (reports, truth) = Self.catalogue(&generator, count: 40)
    let world = try AssociationWorld(enabled: false)
    try world.store(reports)
    let rows = "select q::text from quake.quake q order by code collate \"C\""
    let before = try world.connection.table(rows)
    #expect(try world.connection.ask("select count(*) from quake.association_pending") == "0")
    #expect(try world.associations.trial().earthquakes.count == truth.count)
    #expect(try world.connection.table(rows) == before)
    try world.enable()
    #expect(try world.earthquakes() == truth)
    #expect(try world.connection.table(rows) != before)
    try world.disable()
    #expect(try world.connection.table(rows) == before)
    #expect(try world.connection.ask("select count(*) from quake.association") == "0")
    // The history has every step, and ends where it began.
    #expect(
      try world.connection.table(
        """
        select count(*) from quake.difference(
          (select token || '.' || nonce from quake.change_transaction where updated = 0 order by token desc limit 1),
          quake.latest_token())
        """) == ["0"])
  }

  @Test(arguments: 0..<(Tools.isSoak ? 4 : 2))
  func randomAssociationsAreCompleteAfterSimultaneousImports(round: Int) throws {
    let world = try AssociationWorld()
    let count = 300
    let threads = ["usgs", "emsc"].map { source in
      let database = world.database
      return BackgroundThread {
        let connection = try database.connect()
        for part in 0..<6 {
          let records = (0..<count).filter { $0 % 6 == part }.map { number -> EventRecord in
            var record = EventRecord("\(source)\(number)", source: source)
            record.set(
              .time, Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number) * 600_000_000))
            record.set(.latitude, Double(number % 80))
            record.set(.longitude, Double(number % 170))
            return record
          }
          try connection.load(FakeSource(records, generated: "2026-01-01T00:00:0\(part)Z")) {
            $0.commitEvery = round % 2 == 0 ? nil : 20
          }
        }
      }
    }
    for thread in threads { try thread.join() }
    #expect(try world.earthquakes().count == count)
    #expect(try world.faults() == [])
    #expect(try world.connection.ask("select count(*) from quake.association_pending") == "0")
    #expect(
      try world.connection.table("select distinct context from quake.change_transaction order by 1")
        .contains("association"))
  }
}
