import Basics
import Testing

@testable import QuakeFeed

/// Which parts of a URL are shown in messages.
@Suite struct URLSecretsTests {
  @Test(arguments: ["hunter%2F2", "hunter%2f2", "hunter/2"])
  func aServerMayRepeatASecretInAnotherEncoding(repeated: String) {
    let url = FeedURL("https://h/x?key=hunter%2F2")
    #expect(url.leading(to: "https://h/ok/\(repeated)/y").shown == "https://h/ok/***/y")
    #expect(url.redact("no such file: \(repeated).") == "no such file: ***.")
  }

  @Test(
    arguments: [
      // Parameters that are known to be harmless stay readable.
      ("https://h/summary/all_day.geojson", "https://h/summary/all_day.geojson"),
      (
        "https://h:80/q?starttime=2020-01-01T00:00:00&MinMagnitude=4.5&format=text",
        "https://h:80/q?starttime=2020-01-01T00:00:00&MinMagnitude=4.5&format=text"
      ),
      ("http://[::1]:80/x", "http://[::1]:80/x"), ("https://h/@user/x", "https://h/@user/x"),
      ("/var/feeds/all_day.geojson", "/var/feeds/all_day.geojson"),
      ("what?.geojson", "what?.geojson"),
      // Unknown parameters.
      ("https://h/x?token=hunter2", "https://h/x?token=***"),
      (
        "https://h/x?format=csv&api_key=hunter2&limit=1",
        "https://h/x?format=csv&api_key=***&limit=1"
      ),
      ("https://h/x?a=hunter2;limit=1", "https://h/x?a=***;limit=1"),
      ("https://h/x?aHVudGVyMg==", "https://h/x?***"),
      ("https://h/x?hunter2=", "https://h/x?***"),
      ("https://h/x?%74oken=hunter2", "https://h/x?%74oken=***"),
      ("https://h/x?format=\u{22}hunter2\u{22}", "https://h/x?format=***"),
      ("https://h/x#hunter2", "https://h/x#***"),
      ("https://h/x;sid=hunter2/y", "https://h/x;sid=***/y"),
      // User name and password, in every form that a user may type.
      ("https://me:hunter2@h/x", "https://h/x"), ("https://hunter2@h/x", "https://h/x"),
      ("https://me:hun@ter2@h:80/x", "https://h:80/x"), ("http:///me:hunter2@h/x", "http:///h/x"),
      ("http:/me:hunter2@h/x", "http:/h/x"), ("http:me:hunter2@h/x", "http:h/x"),
      ("HTTP:////hunter2@h/x", "HTTP:////h/x"), ("http:\\\\me:hunter2@h/x", "http:\\\\h/x"),
      ("me:hunter2@h/x", "h/x"), ("ftp://me:hunter2@h/x", "ftp://h/x"),
      ("https://me:hun/ter2@h/x", "https://h/x"), ("https://me:hun?ter2@h/x", "https://h/x"),
      ("https://me:hun#ter2@h/x", "https://h/x"), ("https://me:12/34hunter2@h/x", "https://h/x"),
      ("https://me:12?hunter2@h/x", "https://h/x"), ("https://me:hunter2/x", "https://me:***/x"),
      ("h/x.geojson?token=hunter2", "h/x.geojson?token=***"),
    ])
  func aURLIsShownWithItsSecretsMasked(url: String, expected: String) {
    #expect(URLSecrets(url).shown == expected)
    #expect(!URLSecrets(url).shown.contains("hunter2"))
  }

  @Test func knownSecretsAreMaskedEverywhere() {
    let url = FeedURL("https://h/hunter2/x?limit=hunter2", secrets: ["hunter2"])
    #expect("\(url)" == "https://h/***/x?limit=***")
    #expect(url.text == "https://h/hunter2/x?limit=hunter2")
    #expect(url.redact("no hunter2 there") == "no *** there")
    #expect("\(url.appending("/hunter2"))" == "https://h/***/x?limit=***")
  }

  @Test func noPartOfASecretRemainsWhereTwoOverlap() {
    let url = FeedURL("https://h/x?key=hunter2&other=r2d2")
    #expect(url.redact("no hunter2d2, r2d2 or hunter2") == "no ***, *** or ***")
  }

  /// Otherwise a URL of 250 bytes had a form without secrets of gigabytes.
  @Test func aMaskIsNotMaskedAgain() {
    let secrets = (1...9).filter { $0 != 3 }.map { "key=\(String(repeating: "*", count: $0))" }
    let url = FeedURL("https://h/x?" + secrets.joined(separator: "&"))
    #expect(url.leading(to: "https://h/*/a").shown == "https://h/***/a")
    #expect(url.leading(to: "https://h/**").shown == "https://h/***")
    #expect(url.redact("no ****") == "no ***")
  }

  @Test(
    arguments: [
      ("https://h/x?token=hunter2", true), ("https://me:hunter2@h/x", true),
      ("https://hunter2@h/x", true), ("https://h/x?token=a${B}", true),
      ("https://h/x?token=${B}", false), ("https://me:${file:/etc/b}@h/x", false),
      ("https://${B}@h/x", false), ("https://h/${B}/x?limit=1", false), ("${B}", false),
      ("all_day", false), ("/a/b.geojson", false),
    ])
  func aSecretIsDistinguishedFromAReferenceToOne(text: String, holds: Bool) {
    #expect(FeedURL.holdsSecret(text) == holds)
  }

  @Test(
    arguments: [
      "http:/me:hunter2@h/x", "http:me:hunter2@h/x", "http:///me:hunter2@h/x", "https:hunter2@h",
      "me:hunter2@h/x.geojson", "h/x.geojson?token=hunter2",
    ])
  func theErrorOfAnInvalidURLHidesItsSecrets(text: String) throws {
    let error = try #require(throws: FeedError.self) { try FeedReference(text) }
    #expect(!error.description.contains("hunter2"), "\(error)")
  }

  @Test func textsThatAreTooLongAreRefused() {
    let long = "https://h/" + String(repeating: "x", count: FeedReference.maximumBytes)
    for text in [long, String(long.dropFirst(8))] {
      #expect {
        try FeedReference(text)
      } throws: { error in
        let error = error as? FeedError
        return error?.category == .usage && error?.message.contains("8192 are allowed") == true
          && (error?.description.utf8.count ?? 0) < 200
      }
    }
    #expect(throws: FeedError.self) { try EventService(base: long) }
  }
}
