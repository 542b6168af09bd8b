import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct ChangeWindowTests {
  /// A history of transactions with these numbers of changes.
  private static func history(_ counts: [Int]) -> [Change] {
    counts.enumerated().flatMap { index, count -> [Change] in
      guard let token = ChangeToken(number: Int64(index + 1), nonce: "0000000\(index % 10)") else {
        return []
      }
      let transaction = ChangeTransaction(
        token: token, author: nil, context: nil, application: nil, user: "u", processID: 1,
        client: nil, at: Timestamp(microseconds: 0), importID: nil,
        counts: ChangeCounts(inserted: Int64(count)))
      return (0..<count).map { position in
        var record = EventRecord()
        record.set(.code, "c\(index)x\(position)")
        return Change(
          transaction: transaction, position: Int64(position), op: .insert,
          code: "c\(index)x\(position)", changed: [], old: nil, new: record)
      }
    }
  }

  @Test(arguments: Seeds.first(40, of: 1...400))
  func eachCursorIsFoundWhereItBelongs(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let changes = Self.history((0..<12).map { _ in Int.random(in: 1...6, using: &random) })
    var window = ChangeWindow(
      after: HistoryCursor(token: .beginning), limit: Int.random(in: 500...8000, using: &random))
    var encoder = PageEncoder()
    var pages: [Int: [Int]] = [:]
    var next = 0
    while next < changes.count {
      let before = window.after
      let count = min(Int.random(in: 1...7, using: &random), changes.count - next)
      for change in changes[next..<next + count] { encoder.append(change) }
      pages[window.end] = Array(next..<next + count)
      let page = encoder.finish(after: before, isLive: true)
      window.append(try #require(page))
      window.remove(before: window.firstToKeep)
      next += count
    }
    let first = try #require(pages[window.first]?.first)
    for index in -1..<changes.count {
      let cursor =
        index < 0 ? HistoryCursor(token: .beginning) : changes[index].cursor
      guard case .at(let place) = window.find(cursor) else {
        // Only what is older than the window is not found.
        #expect(index + 1 < first)
        continue
      }
      #expect(index + 1 >= first)
      let found = place.page < window.end ? pages[place.page]?[place.change] : changes.count
      // The end of a page is the beginning of the next.
      #expect(found == index + 1)
      #expect(window.cursor(at: place) == cursor)
    }
    // A token of another history, and cursors that no event has.
    let last = try #require(changes.last?.transaction)
    for text in [
      "\(last.token.number).ffffffff", "99.00000000", "\(last.token)-\(last.changeCount)",
      "\(last.token)-99",
    ] {
      let cursor = try #require(HistoryCursor(eventID: text))
      #expect(window.find(cursor) == .outside, "\(text)")
    }
  }

  @Test func oldPagesAreRemoved() throws {
    var window = ChangeWindow(after: HistoryCursor(token: .beginning), limit: 2000)
    var encoder = PageEncoder()
    for change in Self.history(Array(repeating: 1, count: 50)) {
      encoder.append(change)
      let page = encoder.finish(after: window.after, isLive: true)
      window.append(try #require(page))
      window.remove(before: window.firstToKeep)
    }
    #expect(window.size <= 2000)
    #expect(window.end == 50)
    #expect(window.first > 40)
  }

  @Test func idsAreReadAsTheyAreWritten() {
    for text in ["0", "1042.9f3ac2d1", "1042.9f3ac2d1-7"] {
      #expect(HistoryCursor(eventID: text)?.eventID == text)
    }
    #expect(HistoryCursor(eventID: "1042.9f3ac2d1 7")?.eventID == "1042.9f3ac2d1-7")
    for text in [
      "", "-", "1042", "1042.9f3ac2d1-", "1042.9f3ac2d1-0", "1042.9f3ac2d1-07", "1042.9f3ac2d1--7",
      "0-1", "-1.9f3ac2d1", "1042.9F3AC2D1", "1042.9f3ac2d1-99999999999999999999", "x", "1 2 3",
      String(repeating: "1", count: 1000),
    ] {
      #expect(HistoryCursor(eventID: text) == nil, "\(text)")
    }
  }
}
