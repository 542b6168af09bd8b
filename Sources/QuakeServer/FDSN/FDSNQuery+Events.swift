import QuakeModel
import QuakeQuery

extension FDSNQuery {
  /// The query of the events at a moment, without the limit.
  ///
  /// Only events with an epicentre count: no format of the service can show others.
  func events(now: Timestamp) -> EventQuery {
    var query = EventQuery()
    query.filter = filter
    query.filter.earliestTime =
      start ?? Timestamp(microseconds: now.microseconds - Self.defaultAge)
    // The end is a part of the range, as in all services of this kind.
    query.filter.endTime = end.flatMap {
      $0 < .latest ? Timestamp(microseconds: $0.microseconds + 1) : nil
    }
    query.filter.conditions.append(.isPresent(.longitude))
    area.add(to: &query.filter)
    if let catalog { query.filter.conditions.append(Self.isIn(catalog: catalog)) }
    if let contributor { query.filter.conditions.append(Self.isOf(contributor: contributor)) }
    include(deleted, in: &query)
    query.changedSince = changedSince
    query.order = order
    return query
  }

  private func include(_ deleted: Deleted, in query: inout EventQuery) {
    switch deleted {
    case .none: break
    case .included: query.past = .deleted
    case .only:
      query.past = .deleted
      query.filter.conditions.append(.isPresent(.withdrawnAt))
    }
  }

  /// The query of the event with a code, whatever its state.
  static func event(_ code: String) -> EventQuery {
    var query = EventQuery()
    query.filter.codes = [code]
    query.filter.conditions = [.isPresent(.longitude)]
    query.past = .deleted
    return query
  }

  /// A catalogue is a network or a source of the store, and holds all events to which it contributed.
  static func isIn(catalog: String) -> EventCondition {
    .any([isOf(contributor: catalog), .text(.source, isOneOf: [catalog])])
  }

  static func isOf(contributor: String) -> EventCondition {
    .any([.text(.net, isOneOf: [contributor]), .lists(.sources, contributor)])
  }
}
