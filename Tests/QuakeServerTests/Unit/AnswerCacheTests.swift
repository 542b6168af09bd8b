import QuakeModel
import Testing

@testable import QuakeServer

@Suite struct AnswerCacheTests {
  private func response(_ size: Int) -> Response {
    let document = Document([UInt8](repeating: 0x61, count: size), contentType: "text/plain")
    return Response(body: .document(document))
  }

  private func has(_ cache: AnswerCache, _ key: String, _ token: ChangeToken) -> Bool {
    cache.answer(key, token: token, notOlderThan: .seconds(60)) != nil
  }

  @Test func anAnswerIsKeptUntilTheStoreChanges() throws {
    let cache = AnswerCache()
    let (old, new) = (
      try #require(ChangeToken("1.00000001")), try #require(ChangeToken("2.00000002"))
    )
    cache.keep(response(10), "a", token: old)
    #expect(has(cache, "a", old))
    #expect(!has(cache, "a", new))
    #expect(cache.answer("a", token: old, notOlderThan: .zero) == nil)
    #expect(!has(cache, "b", old))
  }

  @Test func theNumberAndTheBytesOfAnswersAreLimited() throws {
    let token = try #require(ChangeToken("1.00000001"))
    let few = AnswerCache(limit: 2)
    for key in ["a", "b", "c"] { few.keep(response(10), key, token: token) }
    #expect(!has(few, "a", token) && has(few, "b", token) && has(few, "c", token))
    let small = AnswerCache(mostBytes: 100)
    small.keep(response(60), "a", token: token)
    small.keep(response(60), "b", token: token)
    #expect(!has(small, "a", token) && has(small, "b", token))
    // One that is too large by itself is not kept.
    small.keep(response(101), "c", token: token)
    #expect(!has(small, "b", token) && !has(small, "c", token))
  }
}
