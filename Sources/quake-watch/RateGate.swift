import CommandLine
import QuakeModel
import QuakeTool

/// Lets as many changes pass as `--limit-rate` allows, and reports what it holds back.
final class RateGate {
  private var limiter: RateLimiter
  private let diagnostics: Diagnostics
  private let text = ChangeText(colour: Colour(isEnabled: false))
  /// The decision about the transaction that is handed over as a whole.
  private var decision: (token: ChangeToken, admits: Bool)?
  /// The number of changes that were held back and not yet reported, and the largest event among them.
  private var unreported = 0
  private var largest: EventRecord?

  init(_ limit: RateLimit, diagnostics: Diagnostics) {
    limiter = RateLimiter(limit)
    self.diagnostics = diagnostics
  }

  /// Whether a change may be handed over.
  ///
  /// - Parameters:
  ///   - event: The event that it concerns, for the report.
  ///   - token: Its transaction, if all of its changes count as one; nil if the change counts by itself.
  func admits(_ event: EventRecord?, of token: ChangeToken?) -> Bool {
    if let token, let decision, decision.token == token {
      if !decision.admits { hold(event, isCounted: false) }
      return decision.admits
    }
    let admits = limiter.admits()
    decision = token.map { ($0, admits) }
    if admits { report() } else { hold(event, isCounted: true) }
    return admits
  }

  private func hold(_ event: EventRecord?, isCounted: Bool) {
    if !isCounted { limiter.hold() }
    if unreported == 0 {
      diagnostics.note("more changes than \(limiter.limit.text): holding back the next ones")
    }
    unreported += 1
    if let event, let magnitude = event.magnitude,
      largest?.magnitude.map({ $0 < magnitude }) ?? true
    {
      largest = event
    }
  }

  /// How many changes were held back since the last call.
  func takeHeldBack() -> Int { limiter.takeHeldBack() }

  /// How long until `reportIfDue` has something to do; nil if there is nothing to report.
  var timeToReport: Duration? { unreported > 0 ? limiter.timeToNext : nil }

  /// Reports what was held back, if changes may pass again.
  func reportIfDue() {
    if timeToReport == .zero { report() }
  }

  /// Reports what was held back since the last report.
  func report() {
    guard unreported > 0 else { return }
    diagnostics.warning(
      "held back \(Readable.count(unreported, "change")) because of --limit-rate \(limiter.limit.text)",
      detail: largest.map { "The largest: \(text.describe($0))" })
    (unreported, largest) = (0, nil)
  }
}

extension ParsedArguments {
  /// The limit of `limit-rate`, an option of the command line and a key of a consumer; nil if it is not given.
  func rateLimit() throws(UsageError) -> RateLimit? {
    guard let text = string("limit-rate") else { return nil }
    guard let limit = RateLimit(text: text) else {
      throw invalidValue(
        text, for: "limit-rate",
        expected: "a number from 1 to 1000000 and a unit (s, m, h or d), such as 10/h")
    }
    return limit
  }
}
