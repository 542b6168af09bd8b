import CommandLine
import QuakeModel
import Testing

@testable import QuakeServer

@Suite struct ChangeStreamParameterTests {
  private static func order(_ query: String, _ headers: HeaderFields = [:]) throws -> StreamOrder {
    let target = "/v1/changes?" + query
    let decoded = try RequestTarget(target)
    var request = Request(
      method: .get, target: target, path: decoded.path, query: decoded.query, client: "",
      baseURL: "")
    request.headers = headers
    return try ChangeStreamParameters.order(request)
  }

  private static func cursor(_ order: StreamOrder) -> String? {
    if case .after(let cursor) = order.start { cursor.eventID } else { nil }
  }

  @Test func theHeaderIsNewerThanTheAddress() throws {
    let headers: HeaderFields = ["Last-Event-ID": "7.9f3ac2d1-3"]
    #expect(Self.cursor(try Self.order("after=3.9f3ac2d1", headers)) == "7.9f3ac2d1-3")
    #expect(Self.cursor(try Self.order("snapshot=1", headers)) == "7.9f3ac2d1-3")
    #expect(Self.cursor(try Self.order("after=3.9f3ac2d1", ["Last-Event-ID": ""])) == "3.9f3ac2d1")
    #expect(Self.cursor(try Self.order("after=3.9f3ac2d1+4")) == "3.9f3ac2d1-4")
  }

  @Test(arguments: [
    "x", "x y", "1042", "1042.", "1042.9f3ac2", "1042.9F3AC2D1x", "1042.9f3ac2d1-",
    "1042.9f3ac2d1-x",
    "-1.9f3ac2d1", "99999999999999999999.9f3ac2d1", "1042.9f3ac2d1-99999999999999999999", "null",
    "\u{1F30B}", "1042.9f3ac2d1 1043.9f3ac2d1",
  ])
  func aMalformedIDHasOneAnswer(id: String) {
    for query in ["", "snapshot=1", "after=0", "wait=1"] {
      let error = #expect(throws: HTTPError.self) {
        _ = try Self.order(query, ["Last-Event-ID": id])
      }
      #expect(error?.status == 400 && error?.detail.contains("Last-Event-ID") == true)
    }
  }

  @Test func theFiltersOfQuakeWatch() throws {
    let order = try Self.order(
      "min-magnitude=4.5&op=insert,update&place=Hawaii&place=Alaska&not-author=me&limit=3")
    var filter = EventFilter()
    filter.minimumMagnitude = 4.5
    filter.operations = [.insert, .update]
    filter.places = ["Hawaii", "Alaska"]
    filter.excludedAuthors = ["me"]
    #expect(order.filter == filter)
    #expect(order.limit == 3)
  }

  @Test(arguments: [
    "min-magnitude=x", "limit=0", "limit=-1", "wait=-1", "wait=nan", "wait=1000000", "unknown=1",
    "snapshot=1&after=0", "after=0&after=0", "op=create", "bbox=1,2,3",
  ])
  func anInvalidParameterOfAStreamIsRefused(query: String) {
    #expect(throws: UsageError.self) { try Self.order(query) }
  }

  @Test(arguments: ["after=1", "after=x", "after="])
  func anInvalidCursorOfAStreamIsRefused(query: String) {
    #expect(throws: HTTPError.self) { try Self.order(query) }
  }

  @Test(arguments: [
    (nil, "", StreamForm.events), ("*/*", "", .events), ("text/event-stream", "", .events),
    ("application/x-ndjson", "", .lines), ("text/html, application/x-ndjson;q=0.9", "", .lines),
    ("text/event-stream;q=0.5, application/x-ndjson", "", .lines),
    (nil, "wait=1", .lines), ("*/*", "wait=1", .lines), ("text/event-stream", "wait=1", .events),
  ])
  func theFormThatTheClientAccepts(accept: String?, query: String, form: StreamForm) throws {
    #expect(try Self.order(query, accept.map { ["Accept": $0] } ?? [:]).form == form)
  }

  @Test(arguments: ["text/html", "image/*", "text/event-stream;q=0"])
  func noFormThatTheClientAccepts(accept: String) throws {
    let error = #expect(throws: HTTPError.self) { try Self.order("", ["Accept": accept]) }
    #expect(error?.status == 406)
  }
}
