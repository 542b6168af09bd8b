@testable import Basics
@testable import QuakeClient
@testable import QuakeFeed
@testable import QuakeModel

/// The head and the body of an answer of a feed's server, and the addresses in it.
enum AnswerCheck {
  /// Lines up to an empty one, and a body.
  @Sendable static func check(_ text: String) {
    var headers = HTTPHeaders()
    var rest = Array(text.utf8)[...]
    while let end = rest.firstIndex(of: 0x0A) {
      let line = Array(rest[...end])
      rest = rest[(end + 1)...]
      line.withUnsafeBytes { headers.add(line: $0) }
      if headers.isComplete { break }
    }
    checkTimes(headers)
    let body = Array(rest)
    if let explanation = ServerAnswer.explanation(body) {
      require(explanation.count <= 501, "an explanation is short")
    }
    if let address = try? ServerAddress("http://localhost") {
      _ = ServerAnswer.error(headers, body, from: address)
    }
    for url in [headers.value("location") ?? "", String(decoding: body, as: UTF8.self)] {
      checkAddress(url)
    }
  }

  private static func checkTimes(_ headers: HTTPHeaders) {
    let now = Timestamp(microseconds: 1_700_000_000_000_000)
    if let age = headers.maxAge { require(age >= 0, "an age is not negative") }
    if let pause = headers.retryAfter(now: now) { require(pause >= 0, "a pause is not negative") }
    var schedule = FeedSchedule(every: .seconds(60))
    for pause in [
      schedule.succeeded(freshFor: headers.maxAge, chance: 1),
      schedule.failed(retryAfter: headers.retryAfter(now: now), chance: 1),
    ] {
      require(pause.length <= .seconds(2 * 86_400), "no server stops the polling")
    }
    for name in ["etag", "last-modified"] {
      let value = FeedValidators.usable(headers.value(name))
      require(value?.utf8.count ?? 0 <= FeedValidators.maximumBytes, "a validator is short")
    }
    _ = headers.date("last-modified")
  }

  private static func checkAddress(_ text: String) {
    let url = FeedURL("https://user:s3cr3tpassword@example.org/?key=" + text)
    // A user who repeats the password in the name of a parameter shows it.
    require(
      text.contains("s3cr3tpassword") || !url.shown.contains("s3cr3tpassword"),
      "a password is masked: \(url.shown)")
    let other = url.leading(to: text)
    require(!other.shown.contains("s3cr3tpassword"), "a password stays masked: \(other.shown)")
    _ = FeedURL.holdsSecret(text)
    if URLText.scheme(of: text) != nil { _ = try? FeedReference(text) }
    _ = CurlURL(text)
    if let address = try? ServerAddress(text) {
      require(!address.shown.contains("@") || address.shown.contains("/"), "no user is shown")
      _ = address.url("/v1/changes", [("a", text)])
    }
  }
}
