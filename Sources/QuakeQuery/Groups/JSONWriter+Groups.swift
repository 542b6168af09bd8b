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
  package mutating func group(_ group: EventGroup, by key: EventKey, of column: QuakeColumn) {
    object { json in
      json.key("by")
      json.string(key.name)
      json.key("key")
      switch group.key {
      case nil: json.null()
      case .number(let number): json.double(number)
      case .text(let text): json.string(text)
      case .time(let time): json.string(key.text(of: time))
      }
      json.members(of: group.summary, column: column)
      if case .magnitude = key {
        json.key("cumulative")
        json.integer(group.cumulative)
      }
    }
  }

  /// Writes figures about all events of a query.
  ///
  /// - Parameter reason: Why there is no b-value, in a sentence; nil: there is one.
  package mutating func statistics(
    _ statistics: EventStatistics, of column: QuakeColumn, reason: String?
  ) {
    object { json in
      json.members(of: statistics.summary, column: column)
      let b = statistics.bValue
      for (name, value) in [
        ("completeness", b?.completeness), ("b_value", b?.b), ("b_value_error", b?.standardError),
      ] as [(StaticString, Double?)] {
        json.key(name)
        json.double(value)
      }
      json.key("b_value_events")
      json.integer(Int(b?.events ?? 0))
      for (name, value) in [
        ("completeness_method", b?.method.name), ("b_value_refusal", b?.refusal?.name),
        ("b_value_reason", reason),
      ] as [(StaticString, String?)] {
        json.key(name)
        json.string(value)
      }
      json.key("other_events")
      json.integer(Int(statistics.otherEvents))
    }
  }

  private mutating func members(of summary: EventSummary, column: QuakeColumn) {
    key("count")
    integer(Int(summary.count))
    key("column")
    string(column.name)
    key("known")
    integer(Int(summary.known))
    for (name, value) in [
      ("average", summary.average), ("minimum", summary.minimum), ("maximum", summary.maximum),
      ("energy", summary.energy), ("moment", summary.moment),
    ] as [(StaticString, Double?)] {
      key(name)
      double(value)
    }
  }
}
