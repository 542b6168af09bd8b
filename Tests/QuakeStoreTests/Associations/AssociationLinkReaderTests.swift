import TestSupport
import Testing

@testable import QuakeQuery

@Suite struct AssociationLinkReaderTests {
  @Test func aLongChainOfLinksIsReadInFewRoundsToItsEnds() throws {
    let world = try AssociationWorld()
    let length = 2000
    // Each is near the one before and the one after; then nothing, and another chain.
    try world.connection.run(
      """
      insert into quake.quake (code, source, time, latitude, longitude, magnitude, depth, status, place)
      select 'e' || n, case n % 2 when 0 then 'usgs' else 'emsc' end,
             timestamptz '2026-01-01Z' + make_interval(secs => 10 * n + case when n > \(length) then 1000 else 0 end),
             10, 20, 4, 10, 'reviewed', 'somewhere'
        from generate_series(1, \(length) + 500) n
      """)
    var reader = AssociationLinkReader(
      settings: try AssociationSettings(over: world.connection), connection: world.connection)
    var known: Set = ["e700"]
    var next = ["e700"]
    while !next.isEmpty {
      let codes = next
      next = []
      try reader.read(codes)
      for code in codes {
        for link in reader.links[code] ?? [] {
          for end in [link.pair.code, link.pair.other] where known.insert(end).inserted {
            next.append(end)
          }
        }
      }
    }
    #expect(known.count == length)
    #expect(reader.rounds < 25, "\(reader.rounds) rounds")
    // One event that changes leads to the same result as a comparison of all.
    try world.associations.noteAll()
    try world.associations.update()
    let all = try world.earthquakes()
    #expect(all.count > 1000)
    try world.connection.run("update quake.quake set depth = 11 where code = 'e700'")
    try world.associations.update()
    #expect(try world.earthquakes() == all)
    #expect(try world.faults() == [])
  }
}
