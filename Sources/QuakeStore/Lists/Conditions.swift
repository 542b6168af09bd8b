public import QuakeModel

// In this module, because a program imports no other one: Swift finds operators only in modules that are imported whole.

extension EventColumn {
  /// The number in the column is at least this.
  public static func >= (column: EventColumn, least: Double) -> EventCondition {
    .atLeast(column, least)
  }

  /// The number in the column is at most this.
  public static func <= (column: EventColumn, most: Double) -> EventCondition {
    .atMost(column, most)
  }

  /// The instant in the column is this or later.
  public static func >= (column: EventColumn, earliest: Timestamp) -> EventCondition {
    .notBefore(column, earliest)
  }

  /// The instant in the column is before this.
  public static func < (column: EventColumn, end: Timestamp) -> EventCondition {
    .before(column, end)
  }

  /// The text in the column is this, in any case of ASCII letters.
  public static func == (column: EventColumn, text: String) -> EventCondition {
    .text(column, isOneOf: [text])
  }
}

extension EventCondition {
  /// Both hold.
  public static func && (left: EventCondition, right: EventCondition) -> EventCondition {
    .all([left, right])
  }

  /// One of them holds, or both do.
  public static func || (left: EventCondition, right: EventCondition) -> EventCondition {
    .any([left, right])
  }
}
