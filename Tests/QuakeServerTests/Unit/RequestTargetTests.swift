import QuakeModel
import Testing

@testable import QuakeServer

@Suite struct RequestTargetTests {
  @Test func pathAndQueryAreDecoded() throws {
    let target = try RequestTarget(
      "/v1/quakes/a%2Fb?place=P%C4%81hala+Hawaii&min-magnitude=4.5&flag")
    #expect(target.path == "/v1/quakes/a/b")
    #expect(target.segments == ["", "v1", "quakes", "a/b"])
    #expect(
      target.query == [
        QueryItem(name: "place", value: "Pāhala Hawaii"),
        QueryItem(name: "min-magnitude", value: "4.5"), QueryItem(name: "flag", value: ""),
      ])
  }

  @Test func aWholeAddressWithoutAPathHasItsParameters() throws {
    let target = try RequestTarget("http://host?after=a/b?c")
    #expect(target.path == "/")
    #expect(target.query == [QueryItem(name: "after", value: "a/b?c")])
  }

  @Test(arguments: ["http://host:8080/v1?x=1", "/v1?x=1"])
  func anAddressMayBeWhole(text: String) throws {
    let target = try RequestTarget(text)
    #expect(target.path == "/v1")
    #expect(target.query == [QueryItem(name: "x", value: "1")])
  }

  @Test(arguments: [
    "/a%", "/a%4", "/a%zz", "/a%00", "/?q=%00", "/?q=%FF", "/%C3", "/?q=%0a", "nothing",
    "/?a=%e2%28%a1",
  ])
  func whatIsNoTextIsRefused(text: String) {
    let error = #expect(throws: HTTPError.self) { try RequestTarget(text) }
    #expect(error?.status == 400)
  }

  /// SQL may have written any code.
  @Test(arguments: ["us1", "a~b", "100%", "%41", "us\t1\n", "\u{7F}é"])
  func thePageOfDifferencesAfterAnyCodeHasAnAddress(code: String) throws {
    let token = try #require(ChangeToken("3.01234567"))
    let cursor = DifferenceCursor(first: token, last: token, from: "1h", to: "", code: code)
    let target = try RequestTarget("/v1/diff?page=\(PercentEncoding.text(cursor.description))")
    let read = try #require(DifferenceCursor(target.query[0].value))
    #expect(read.code == code)
    #expect(read.description == cursor.description)
  }

  @Test func parametersAreLimited() throws {
    let many = "/?" + String(repeating: "a=1&", count: RequestTarget.mostParameters)
    #expect(try RequestTarget(many).query.count == RequestTarget.mostParameters)
    let error = #expect(throws: HTTPError.self) { try RequestTarget(many + "b=2") }
    #expect(error?.status == 400)
  }
}
