import QuakeModel
import Testing

@Suite("The columns")
struct QuakeColumnTests {
  @Test("are found by their names, which are all different")
  func names() {
    #expect(Set(QuakeColumn.allCases.map(\.name)).count == QuakeColumn.allCases.count)
    for column in QuakeColumn.allCases { #expect(QuakeColumn(name: column.name) == column) }
    #expect(QuakeColumn(name: "netCode") == nil)
    #expect(QuakeColumn(name: "CODE") == nil)
    #expect(QuakeColumn(name: "") == nil)
  }

  @Test("of a feed are all except Quake's own state")
  func feed() {
    let own: [QuakeColumn] = [
      .asOf, .validated, .withdrawnAt, .supersededBy, .firstStored,
    ]
    #expect(QuakeColumn.feed == QuakeColumn.allCases.filter { !own.contains($0) })
  }

  @Test("fit the record's bit mask")
  func count() {
    #expect(QuakeColumn.allCases.count <= 64)
  }
}
