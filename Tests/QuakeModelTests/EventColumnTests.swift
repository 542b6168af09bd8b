import QuakeModel
import Testing

@Suite struct EventColumnTests {
  @Test func theColumnsAreFoundByTheirNamesWhichAreAllDifferent() {
    #expect(Set(EventColumn.allCases.map(\.name)).count == EventColumn.allCases.count)
    for column in EventColumn.allCases { #expect(EventColumn(name: column.name) == column) }
    #expect(EventColumn(name: "netCode") == nil)
    #expect(EventColumn(name: "CODE") == nil)
    #expect(EventColumn(name: "") == nil)
  }

  @Test func theColumnsOfAFeedAreAllExceptQuakesOwnState() {
    let own: [EventColumn] = [
      .asOf, .validated, .withdrawnAt, .supersededBy, .firstStored,
    ]
    #expect(EventColumn.feed == EventColumn.allCases.filter { !own.contains($0) })
  }

  @Test func theColumnsFitTheRecordsBitMask() {
    #expect(EventColumn.allCases.count <= 64)
  }
}
