import QuakeModel

/// Follows a history as a consumer of it would, and checks each change against what it knows.
struct Replay {
  /// The events by their code, as JSON.
  private(set) var events: [String: String] = [:]
  /// What did not fit.
  private(set) var faults: [String] = []
  private var last: (number: Int64, position: Int64) = (0, 0)

  init(events: [String: String] = [:], after token: ChangeToken = .beginning) {
    self.events = events
    last = (token.number, .max - 1)
  }

  static func json(_ record: EventRecord?) -> String? {
    guard let record else { return nil }
    var json = JSONWriter()
    json.quake(record)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  mutating func take(_ change: Change) {
    let number = change.transaction.token.number
    let place = "\(change.transaction.token):\(change.position)"
    let expected = number == last.number ? last.position + 1 : 0
    if number < last.number || change.position != expected { faults.append("order at \(place)") }
    last = (number, change.position)
    let code = change.code ?? ""
    let known = events[code]
    switch change.op {
    case .insert:
      if known != nil || change.old != nil { faults.append("insert of a known event at \(place)") }
      events[code] = Self.json(change.new)
    case .update:
      if known == nil || known != Self.json(change.old) || change.changed.isEmpty {
        faults.append("update of another state at \(place)")
      }
      events[code] = Self.json(change.new)
    case .delete:
      if known == nil || known != Self.json(change.old) || change.new != nil {
        faults.append("delete of another state at \(place)")
      }
      events[code] = nil
    case .truncate:
      events = [:]
    }
  }
}
