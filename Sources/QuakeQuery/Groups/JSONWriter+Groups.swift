package import QuakeModel

extension EventKey {
  /// The name of the key on the command line, in URLs and in JSON.
  package var name: String {
    switch self {
    case .place: "place"
    case .region: "region"
    case .network: "network"
    case .type: "type"
    case .status: "status"
    case .day: "day"
    case .hour: "hour"
    case .month: "month"
    case .magnitude: "magnitude"
    }
  }

  /// The start of a day, an hour or a month as text: `2026-11-20`, `2026-11-20T07:00Z`, `2026-11`.
  package func text(of time: Timestamp) -> String {
    switch self {
    case .month: String("\(time)".dropLast(17))
    case .hour: String("\(time)".dropLast(10)) + "00Z"
    default: String("\(time)".dropLast(14))
    }
  }
}

extension JSONWriter {
  /// Writes a group: by, key, and the members of its summary; of a class of the magnitude also cumulative.
  package mutating func group(_ group: EventGroup, by key: EventKey, of column: EventColumn) {
    object { json in
      json.member("by", key.name)
      json.key("key")
      switch group.key {
      case nil: json.null()
      case .number(let number): json.double(number)
      case .text(let text): json.string(text)
      case .time(let time): json.string(key.text(of: time))
      }
      json.members(of: group.summary, column: column)
      if case .magnitude = key {
        json.member("cumulative", group.cumulative)
      }
    }
  }

  /// Writes figures about all events of a query.
  ///
  /// - Parameter reason: Why there is no b-value, in a sentence; nil: there is one.
  package mutating func statistics(
    _ statistics: EventStatistics, of column: EventColumn, reason: String?
  ) {
    object { json in
      json.members(of: statistics.summary, column: column)
      let b = statistics.bValue
      json.member("completeness", b?.completeness)
      json.member("b_value", b?.b)
      json.member("b_value_error", b?.standardError)
      json.member("b_value_events", Int(b?.events ?? 0))
      json.member("completeness_method", b?.method.name)
      json.member("b_value_refusal", b?.refusal?.name)
      json.member("b_value_reason", reason)
      json.member("other_events", statistics.otherEvents)
    }
  }

  private mutating func members(of summary: EventSummary, column: EventColumn) {
    member("count", summary.count)
    member("column", column.name)
    member("known", summary.known)
    member("average", summary.average)
    member("minimum", summary.minimum)
    member("maximum", summary.maximum)
    member("energy", summary.energy)
    member("moment", summary.moment)
  }
}
