import QuakeSinks
import Testing

/// Keys and addresses as they are written in files.
@Suite struct WebhookSettingTests {
  @Test(
    arguments: [
      ("", 0), ("whsec_", 1), ("AAAA", 1), ("whsec_AAAA", 1),
      ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\nwhsec_!!!!", 2),
      ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA=\n", 1),
      ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz===", 1),
    ])
  func aFileOfOtherThingsIsRefused(text: String, line: Int) {
    let error = #expect(throws: WebhookKey.Invalid.self) { try WebhookKey.read(Array(text.utf8)) }
    #expect(error?.line == line)
    #expect(error?.expected.contains("MDEy") == false)
  }

  @Test func aFileHasOneOrTwoKeys() throws {
    let key = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA"
    #expect(try WebhookKey.read(Array("\(key)==\n".utf8)).count == 1)
    #expect(
      try WebhookKey.read(Array("\(key)==".utf8)) == WebhookKey.read(Array("\n\(key)\n".utf8)))
    #expect(try WebhookKey.read(Array("\(key)\n\(key)==\n".utf8)).count == 2)
    #expect(throws: WebhookKey.Invalid.self) {
      try WebhookKey.read(Array("\(key)\n\(key)\n\(key)\n".utf8))
    }
  }

  @Test func aKeyIsNeverWritten() throws {
    let keys = try WebhookKey.read(Array("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz".utf8))
    #expect("\(keys)" == "[***]")
  }

  @Test func anAddressIsShownWithoutWhatOnlyItsOwnerKnows() throws {
    for (text, shown) in [
      ("https://hooks.example.org/services/T0/B0/abcdefgh", "https://hooks.example.org/***"),
      ("HTTP://user:password@[::1]:8080/", "http://[::1]:8080"),
      ("https://example.org?token=abc", "https://example.org/***"),
      ("http://127.0.0.1:80", "http://127.0.0.1:80"),
    ] {
      #expect(try ReceiverURL(text).shown == shown)
    }
    for text in [
      "", "example.org", "ftp://example.org", "https://", "https://a b", "http://\u{E9}/",
      "https:/example.org/x://secret/", "https:///example.org/",
    ] {
      #expect(throws: ReceiverURL.Invalid.self) { try ReceiverURL(text) }
    }
  }
}
