import CommandLine
import QuakeConsumers
import QuakeModel
import QuakeTool

/// Counts of the messages of a rehearsal.
struct RehearsalReport {
  private let consumer: String
  private let from: Timestamp
  private let to: Timestamp
  private let threshold: Double?
  private let tellsEarthquakes: Bool
  private var kinds: [Message.Kind: Int] = [:]
  private var days: [Int64: Int] = [:]
  /// How many messages each earthquake or event has.
  private var messages: [String: Int] = [:]
  /// From the origin time to the commit, of the messages that open, or of all changes of new events.
  private var delays: [Double] = []
  private var retracted: Set<String> = []
  private var merged = 0
  private var below: Set<String> = []
  private var opened: Set<String> = []

  init(
    consumer: String, from: Timestamp, to: Timestamp, threshold: Double?, tellsEarthquakes: Bool
  ) {
    self.consumer = consumer
    self.from = from
    self.to = to
    self.threshold = threshold
    self.tellsEarthquakes = tellsEarthquakes
  }

  // MARK: - Counting

  /// Counts a message about an earthquake.
  ///
  /// - Parameter counts: Whether it is in the period.
  mutating func count(_ alert: Alert, counts: Bool) {
    guard counts else { return }
    count(alert.kind, of: alert.conversation, at: alert.at)
    switch alert.kind {
    case .opened:
      opened.insert(alert.conversation)
      delay(of: alert.event, at: alert.at)
    case .retracted where alert.mergedInto != nil: merged += 1
    case .retracted: retracted.insert(alert.conversation)
    default: break
    }
    if let threshold, alert.mergedInto == nil, let magnitude = alert.event?.magnitude,
      magnitude < threshold
    {
      below.insert(alert.conversation)
    }
  }

  /// Counts a message about a change.
  mutating func count(_ change: Change) {
    let code = change.code ?? ""
    if messages[code] == nil { delay(of: change.new, at: change.transaction.at) }
    opened.insert(code)
    count(.change, of: code, at: change.transaction.at)
  }

  private mutating func count(_ kind: Message.Kind, of subject: String, at moment: Timestamp) {
    kinds[kind, default: 0] += 1
    messages[subject, default: 0] += 1
    let day = moment.microseconds / 86_400_000_000 - (moment.microseconds < 0 ? 1 : 0)
    days[day, default: 0] += 1
  }

  private mutating func delay(of event: EventRecord?, at moment: Timestamp) {
    guard let time = event?.time else { return }
    delays.append((Double(moment.microseconds) - Double(time.microseconds)) / 1_000_000)
  }

  // MARK: - Results

  private var total: Int { kinds.values.reduce(0, +) }
  private var dayCount: Double {
    (Double(to.microseconds) - Double(from.microseconds)) / 86_400_000_000
  }
  /// nil for less than a day, from which no rate follows.
  private var messagesADay: Double? { dayCount >= 1 ? Double(total) / dayCount : nil }
  private var busiest: (day: String, count: Int)? {
    days.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { day, count in
      let time = Timestamp(microseconds: day * 86_400_000_000)
      return (String(time.description.prefix(10)), count)
    }
  }
  private var mean: Double? {
    messages.isEmpty ? nil : Double(total) / Double(messages.count)
  }
  private var revisedBelow: Set<String> { below.intersection(opened) }
  private var laterRetracted: Set<String> { retracted.intersection(opened) }

  /// The smallest value that at least a share of the values does not exceed.
  static func quantile(_ share: Double, of sorted: [Double]) -> Double? {
    guard !sorted.isEmpty else { return nil }
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted[max(0, min(sorted.count, rank) - 1)]
  }

  /// For people.
  var text: String {
    let days = "\(from.text) to \(to.text), \(Readable.decimal(dayCount)) days"
    var lines = ["consumer \"\(PrintableText.line(consumer))\": \(days)"]
    guard total > 0 else { return lines[0] + "\n  no message" }
    lines.append(
      "  \(Readable.count(total, "message"))"
        + (messagesADay.map { ", \(Readable.decimal($0)) a day" } ?? "")
        + (busiest.map { ", at most \(Readable.count($0.count)) on \($0.day)" } ?? ""))
    if tellsEarthquakes {
      let steps = [Message.Kind.opened, .updated, .retracted, .closed].map {
        "\($0.rawValue) \(Readable.count(kinds[$0] ?? 0))"
      }
      lines.append("  " + steps.joined(separator: ", "))
    }
    let sorted = delays.sorted()
    if let median = Self.quantile(0.5, of: sorted), let most = Self.quantile(0.9, of: sorted) {
      lines.append(
        "  the first after \(Self.duration(median)) from the origin time (median), nine of ten within \(Self.duration(most))"
      )
    }
    if let mean, let most = messages.values.max() {
      let what = tellsEarthquakes ? "earthquake" : "event"
      lines.append(
        "  \(Readable.decimal(mean)) messages for each \(what), at most \(Readable.count(most))")
    }
    if tellsEarthquakes {
      let count = Readable.count(opened.count, "earthquake")
      lines.append("  later retracted: \(Readable.count(laterRetracted.count)) of \(count)")
      if let threshold {
        lines.append(
          "  revised below M \(Readable.shortest(threshold)): \(Readable.count(revisedBelow.count)) of \(count)"
        )
      }
      if merged > 0 {
        lines.append("  turned out to be another one that was told: \(Readable.count(merged))")
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func duration(_ seconds: Double) -> String {
    Readable.duration(.milliseconds(Int64(max(-9e15, min(9e15, seconds * 1000)))))
  }

  /// For programs.
  var json: String {
    var json = JSONWriter()
    let sorted = delays.sorted()
    json.object { json in
      json.member("consumer", consumer)
      json.member("alert", tellsEarthquakes)
      json.member("from", from)
      json.member("to", to)
      json.member("days", dayCount)
      json.member("messages", total)
      json.member("messages_a_day", messagesADay)
      json.member("busiest_day", busiest?.day)
      json.member("busiest_day_messages", busiest?.count)
      json.member("opened", kinds[.opened] ?? 0)
      json.member("updated", kinds[.updated] ?? 0)
      json.member("retracted", kinds[.retracted] ?? 0)
      json.member("closed", kinds[.closed] ?? 0)
      json.member("changes", kinds[.change] ?? 0)
      json.member("delay_median", Self.quantile(0.5, of: sorted))
      json.member("delay_p90", Self.quantile(0.9, of: sorted))
      json.member("messages_an_earthquake", mean)
      json.member("most_messages", messages.values.max())
      json.member("earthquakes", opened.count)
      json.member("later_retracted", laterRetracted.count)
      json.member("revised_below", revisedBelow.count)
      json.member("merged", merged)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
