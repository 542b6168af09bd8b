import QuakeModel
import Testing

@Suite struct QuakeColumnTests {
  @Test func theColumnsAreFoundByTheirNamesWhichAreAllDifferent() {
    #expect(Set(QuakeColumn.allCases.map(\.name)).count == QuakeColumn.allCases.count)
    for column in QuakeColumn.allCases { #expect(QuakeColumn(name: column.name) == column) }
    #expect(QuakeColumn(name: "netCode") == nil)
    #expect(QuakeColumn(name: "CODE") == nil)
    #expect(QuakeColumn(name: "") == nil)
  }

  @Test func theColumnsOfAFeedAreAllExceptQuakesOwnState() {
    let own: [QuakeColumn] = [
      .asOf, .validated, .withdrawnAt, .supersededBy, .firstStored,
    ]
    #expect(QuakeColumn.feed == QuakeColumn.allCases.filter { !own.contains($0) })
  }

  @Test func theColumnsFitTheRecordsBitMask() {
    #expect(QuakeColumn.allCases.count <= 64)
  }
}
