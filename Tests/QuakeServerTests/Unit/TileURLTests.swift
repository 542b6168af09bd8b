import Testing

@testable import QuakeServer

@Suite struct TileURLTests {
  @Test(arguments: [
    ("https://tiles.example.org/{z}/{x}/{y}.png", "https://tiles.example.org"),
    ("http://127.0.0.1:8081/{z}/{y}/{x}?key=a&b=c%20d", "http://127.0.0.1:8081"),
    ("https://[::1]:9/t?z={z}&x={x}&y={y}", nil),
    ("https://[::1]:9/t/{z}/{x}/{y}", "https://[::1]:9"),
    ("/tiles/{z}/{x}/{y}.webp", ""),
  ])
  func aTemplateHasItsOrigin(text: String, origin: String?) {
    guard let origin else { return #expect(TileURL(text)?.template == text) }
    let tiles = TileURL(text)
    #expect(tiles?.template == text)
    #expect(tiles.map { $0.origin ?? "" } == origin)
  }

  @Test(arguments: [
    "", "tiles.example.org/{z}/{x}/{y}", "ftp://a/{z}/{x}/{y}", "https:///{z}/{x}/{y}",
    "https://a/{z}/{x}", "https://a/{z}/{x}/{y}/{y}", "https://a/{z}/{x}/{y}/{s}",
    "https://{z}.example.org/{x}/{y}/{z}", "https://a b/{z}/{x}/{y}", "https://a/{z}/{x}/{y};",
    "https://a/{z}/{x}/{y}, b", "https://user@a/{z}/{x}/{y}", "https://a'/{z}/{x}/{y}",
    "https://a/{z}/{x}/{y}\n", "//a/{z}/{x}/{y}", "javascript:alert(1)//{z}{x}{y}",
    "https://a/#{z}/{x}/{y}", "https://ä/{z}/{x}/{y}", "https://:80/{z}/{x}/{y}",
    "https://a/{z}/{x}/{y}" + String(repeating: "a", count: 2000),
  ])
  func anythingElseIsRefused(text: String) {
    #expect(TileURL(text) == nil)
  }
}
