import Foundation
import Postgres
import QuakeLive
import QuakeModel
import TestSupport
import Testing

@Suite("The example in docs/library.md")
struct LibraryExampleTests {
  private struct Enough: Error {}

  @Test("is the one that is compiled here")
  func text() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let example = try String(
      contentsOf: folder.appendingPathComponent("LibraryExample.swift"), encoding: .utf8)
    let document = try String(
      contentsOf: folder.appendingPathComponent("../../docs/library.md"), encoding: .utf8)
    #expect(document.contains("```swift\n\(example)```\n"))
  }

  @Test("does what it says")
  func running() async throws {
    let database = try LiveDatabase()
    let connection = try database.test.connect()
    try connection.insertQuakes("small", magnitude: 5)
    try connection.insertQuakes("large", magnitude: 7)
    var codes: [String?] = []
    await #expect(throws: Enough.self) {
      try await follow(database.live, after: HistoryCursor(token: .beginning)) { change in
        codes.append(change.code)
        throw Enough()
      }
    }
    #expect(codes == ["large1"])
    try connection.run("update quake.quake set place = code")
    var drawn: [[String]] = []
    await #expect(throws: Enough.self) {
      try await show(database.live) { rows in
        drawn.append(rows)
        guard drawn.count < 2 else { throw Enough() }
        try connection.run("update quake.quake set magnitude = 8 where code = 'small1'")
      }
    }
    #expect(drawn == [["large1", "small1"], ["small1", "large1"]])
  }
}
