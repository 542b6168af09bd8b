import Testing

@Suite struct SeedTests {
  @Test(arguments: FuzzTarget.all.map(\.name))
  func thePropertiesHoldForWhatTheFuzzerBeginsWith(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let seeds = target.seeds() + RealFeeds.seeds(for: target)
    #expect(!seeds.isEmpty)
    for seed in seeds { target.check(Array(seed.prefix(target.longest))) }
  }
}
