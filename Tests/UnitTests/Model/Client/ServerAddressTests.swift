import Testing

@testable import QuakeClient

/// Addresses of servers, and header files. No secret is shown.
@Suite struct ServerAddressTests {
  @Test(
    arguments: [
      ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
      ("HTTP://Host/", "http://Host"),
      ("https://[::1]:80//", "https://[::1]:80"),
      ("https://a.example/quakes/", "https://a.example/quakes"),
      ("https://a.example/quakes/v1/changes", "https://a.example/quakes"),
      ("http://u:p@host:1", "http://host:1"), ("http://u@host", "http://host"),
      ("http://u:p@ss@host/x", "http://host/x"),
    ])
  func anAddressIsShownWithoutSecrets(text: String, shown: String) throws {
    #expect(try ServerAddress(text).shown == shown)
  }

  @Test(
    arguments: [
      "", "host", "ftp://host", "http://", "http:///x", "http://:80", "http://u:p@", "http://a b",
      "http://host\n", "http://höst", "http://host?x=1", "http://host/#a", "http://%zz@host",
      "http://a%00:b@host", "http://" + String(repeating: "a", count: 3000),
    ])
  func whatIsNoAddressIsRefused(text: String) {
    #expect(throws: ServerAddress.Invalid.self) { try ServerAddress(text) }
  }

  @Test func userAndPasswordAreDecoded() throws {
    let address = try ServerAddress("http://us%65r:p%40%3A:s@host")
    #expect(address.user == "user")
    #expect(address.password == "p@::s")
  }

  @Test func headerFilesHaveOneFieldALine() throws {
    let text = "Authorization: Bearer a:b\r\n\n  \nX-Key:  \t1 \n"
    #expect(try HeaderFile.read(Array(text.utf8)) == ["Authorization: Bearer a:b", "X-Key: 1"])
    for (text, line) in [
      ("a", 1), ("A: b\n: c", 2), ("A b: c", 1), ("A:", 1), ("A: b\u{0}c", 1), ("\nA: \u{1}", 2),
    ] {
      let error = #expect(throws: HeaderFile.Invalid.self) {
        try HeaderFile.read(Array(text.utf8))
      }
      #expect(error?.line == line)
    }
  }
}
