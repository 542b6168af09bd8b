internal import Basics

/// A selection of changes. Every condition that is set must hold.
///
/// The conditions on the event hold for a change if the event met them before or after it, so that a
/// reader also learns that an event has left its selection. A truncate concerns every event and
/// passes them all.
public struct EventFilter: Hashable, Sendable {
  /// A box on the map. Its west edge may lie east of its east edge: then it crosses the 180th
  /// meridian.
  public struct BoundingBox: Hashable, Sendable {
    /// Degrees east, -180 to 180.
    public var west, east: Double
    /// Degrees north, -90 to 90.
    public var south, north: Double

    /// The box between four edges, in degrees; nil if one is out of range or south is north of north.
    public init?(west: Double, south: Double, east: Double, north: Double) {
      guard (-180...180).contains(west), (-180...180).contains(east),
        (-90...90).contains(south), (-90...90).contains(north), south <= north
      else { return nil }
      self.west = west
      self.south = south
      self.east = east
      self.north = north
    }

    package func contains(longitude: Double, latitude: Double) -> Bool {
      guard latitude >= south, latitude <= north else { return false }
      return west <= east
        ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
    }
  }

  /// A circle on the ground.
  public struct Circle: Hashable, Sendable {
    /// Radius in kilometres.
    public var radius: Double
    /// Centre, degrees north and east.
    public var latitude, longitude: Double
    /// The least distance from the centre in kilometres; 0 for a whole circle.
    public var innerRadius: Double

    /// The circle around a point; nil if its coordinates are out of range or a radius is negative.
    public init?(radius: Double, latitude: Double, longitude: Double, innerRadius: Double = 0) {
      guard radius >= 0, radius.isFinite, innerRadius >= 0, innerRadius.isFinite,
        (-90...90).contains(latitude), (-180...180).contains(longitude)
      else { return nil }
      self.radius = radius
      self.innerRadius = innerRadius
      self.latitude = latitude
      self.longitude = longitude
    }

    package func contains(longitude: Double, latitude: Double) -> Bool {
      let distance = GreatCircle.distance(
        latitude: self.latitude, longitude: self.longitude, toLatitude: latitude,
        longitude: longitude)
      return distance <= radius && (innerRadius == 0 || distance >= innerRadius)
    }
  }

  /// The event's code must be one of these.
  public var codes: Set<String>?
  /// The magnitude must be at least this; events without one do not pass.
  public var minimumMagnitude: Double?
  /// The magnitude must be at most this; events without one do not pass.
  public var maximumMagnitude: Double?
  /// The origin time must be this or later.
  public var earliestTime: Timestamp?
  /// The origin time must be before this.
  public var endTime: Timestamp?
  /// The depth in kilometres must be at least this; events without one do not pass.
  public var minimumDepth: Double?
  /// The depth in kilometres must be at most this; events without one do not pass.
  public var maximumDepth: Double?
  /// The place must contain one of these texts, ignoring case (see `LetterCase`).
  public var places: [String]? {
    didSet { foldedPlaces = places?.map(LetterCase.folded) }
  }
  private var foldedPlaces: [[UInt8]]?
  /// The network (`net`) must be one of these.
  public var networks: Set<String>?
  /// The catalogue that the event comes from must be one of these.
  public var sources: Set<String>?
  /// The PAGER alert level must be one of these.
  public var alerts: Set<String>?
  /// At least this many people must have reported that they felt it; events without a number do not pass.
  public var minimumFelt: Int?
  /// The status must be one of these, in any case of ASCII letters: feeds write `reviewed` and `REVIEWED`.
  public var statuses: Set<String>? {
    didSet { foldedStatuses = statuses.map { Set($0.map(LetterCase.foldedASCII)) } }
  }
  /// `statuses` in small letters.
  package private(set) var foldedStatuses: Set<String>?
  /// The operation must be one of these.
  public var operations: Set<ChangeOperation>?
  /// The event's type must be one of these, in any of their spellings: `quarry_blast` is `quarry blast`.
  public var types: Set<String>? {
    didSet { spelledTypes = types.map { Set($0.flatMap(EventTypes.spellings)) } }
  }
  /// All spellings of `types`.
  package private(set) var spelledTypes: Set<String>?
  /// The epicentre must lie in the box.
  public var boundingBox: BoundingBox?
  /// The epicentre must lie in the circle.
  public var circle: Circle?
  /// Further conditions on the event, which must all hold.
  public var conditions: [EventCondition] = []
  /// The transaction's author must be one of these.
  public var authors: Set<String>?
  /// The transaction's author must be none of these; no author passes.
  public var excludedAuthors: Set<String> = []
  /// The transaction's context must be one of these.
  public var contexts: Set<String>?
  /// The `application_name` of the writing session must be one of these.
  public var applications: Set<String>?
  /// The change must be an update of one of these columns.
  public var changedColumns: Set<String>?
  /// The origin time must not be older than this at the moment of the change, which is the time of its
  /// transaction. A condition on the event, but one that only changes have: a list does not age.
  public var newerThan: Duration?
  /// Conditions on the change itself.
  ///
  /// If the conditions on the event are met, one of these is enough: an alert may want
  /// the events that enter the selection, and those whose magnitude is revised.
  public var changeConditions = ChangeConditions()

  /// A filter that everything passes.
  public init() {}

  /// A filter that the events pass which meet all conditions: `EventFilter(where: .magnitude >= 6)`.
  public init(where condition: EventCondition, _ more: EventCondition...) {
    conditions = [condition] + more
  }

  /// Checks that each condition compares its column with a value of the column's kind.
  ///
  /// - Throws: `StoreError` of kind `usage` if one does not: the server would refuse the statement.
  package func check() throws(StoreError) {
    for condition in conditions { try condition.check() }
  }

  /// The limits of magnitude, depth and origin time.
  package var limits: [EventCondition] {
    let limits: [EventCondition?] = [
      minimumMagnitude.map { .atLeast(.magnitude, $0) },
      maximumMagnitude.map { .atMost(.magnitude, $0) },
      minimumDepth.map { .atLeast(.depth, $0) },
      maximumDepth.map { .atMost(.depth, $0) },
      earliestTime.map { .notBefore(.time, $0) },
      endTime.map { .before(.time, $0) },
    ]
    return limits.compactMap { $0 }
  }

  /// Whether an event passes the conditions on events at a moment, which is what `newerThan` counts from.
  public func accepts(_ record: EventRecord, at moment: Timestamp) -> Bool {
    isNew(record, at: moment) && accepts(record)
  }

  /// Whether the origin time is at most `newerThan` before the moment.
  private func isNew(_ record: EventRecord, at moment: Timestamp) -> Bool {
    guard let newerThan else { return true }
    guard let time = record.time else { return false }
    let (earliest, overflow) = moment.microseconds.subtractingReportingOverflow(
      newerThan.wholeMicroseconds)
    return overflow || time.microseconds >= earliest
  }

  /// Whether an event passes the conditions on events, without `newerThan`.
  public func accepts(_ record: EventRecord) -> Bool {
    guard codes.admits(record.code),
      Self.isWithin(record.magnitude, minimumMagnitude, maximumMagnitude),
      Self.isWithin(record.depth, minimumDepth, maximumDepth)
    else { return false }
    if earliestTime != nil || endTime != nil {
      guard let time = record.time else { return false }
      if let earliestTime, time < earliestTime { return false }
      if let endTime, time >= endTime { return false }
    }
    guard spelledTypes.admits(record.type), networks.admits(record.network),
      sources.admits(record.source), alerts.admits(record.alert),
      foldedStatuses.admits(record.status.map(LetterCase.foldedASCII))
    else { return false }
    if let minimumFelt {
      guard let felt = record.felt, felt >= minimumFelt else { return false }
    }
    if let foldedPlaces {
      let isThere = record.withUTF8(.place) { place in
        place.map { place in foldedPlaces.contains { LetterCase.contains(place, $0) } } ?? false
      }
      guard isThere else { return false }
    }
    if boundingBox != nil || circle != nil {
      guard let longitude = record.longitude, let latitude = record.latitude
      else { return false }
      if let boundingBox, !boundingBox.contains(longitude: longitude, latitude: latitude) {
        return false
      }
      if let circle, !circle.contains(longitude: longitude, latitude: latitude) { return false }
    }
    for condition in conditions where !condition.accepts(record) { return false }
    return true
  }

  /// Whether a value lies within limits that include their ends. Without a value it does only if there is no
  /// limit.
  private static func isWithin(_ value: Double?, _ least: Double?, _ greatest: Double?) -> Bool {
    guard least != nil || greatest != nil else { return true }
    guard let value else { return false }
    if let least, !(value >= least) { return false }
    if let greatest, !(value <= greatest) { return false }
    return true
  }

  /// Whether a transaction passes the conditions on author, context and application.
  func accepts(_ transaction: ChangeTransaction) -> Bool {
    authors.admits(transaction.author) && contexts.admits(transaction.context)
      && applications.admits(transaction.application)
      && !(transaction.author.map(excludedAuthors.has) ?? false)
  }

  /// Whether a change passes.
  public func accepts(_ change: Change) -> Bool {
    if let operations, !operations.contains(change.op) { return false }
    guard accepts(change.transaction) else { return false }
    if let changedColumns {
      guard change.changed.contains(where: { changedColumns.contains($0) }) else { return false }
    }
    if !changeConditions.isEmpty, !meetsChangeConditions(change) { return false }
    if change.op == .truncate { return true }
    // No reference to the method, because that would copy the filter for each of a million changes.
    let moment = change.transaction.at
    if let new = change.new, accepts(new, at: moment) { return true }
    if let old = change.old { return accepts(old, at: moment) }
    return false
  }

  private func meetsChangeConditions(_ change: Change) -> Bool {
    if change.op == .truncate { return changeConditions.leaves }
    // An update whose earlier version was purged may have been anything.
    guard change.op != .update || change.old != nil else { return false }
    let moment = change.transaction.at
    let wasSelected = change.old.map { isPresent($0, at: moment) } ?? false
    let isSelected = change.new.map { isPresent($0, at: moment) } ?? false
    if wasSelected != isSelected, !change.isAssociation,
      isSelected ? changeConditions.enters : changeConditions.leaves
    {
      return true
    }
    // No list shows a revision of an event that is in no selection.
    guard wasSelected || isSelected, change.op == .update, let old = change.old,
      let new = change.new
    else { return false }
    return changeConditions.areIn(old, new)
  }

  /// Whether the selection has the event: it is neither withdrawn nor superseded, and meets the conditions.
  private func isPresent(_ event: EventRecord, at moment: Timestamp) -> Bool {
    !event.has(.withdrawnAt) && !event.has(.supersededBy) && accepts(event, at: moment)
  }
}

extension Set<String> {
  /// Whether the text is among them byte by byte, as PostgreSQL compares. Swift takes texts for equal that are written
  /// with other characters and look alike.
  fileprivate func has(_ text: String) -> Bool {
    guard let index = firstIndex(of: text) else { return false }
    return self[index].utf8.elementsEqual(text.utf8)
  }
}

extension Set<String>? {
  /// Whether the text, which is only made if it is needed, is among them; always if there is no condition.
  fileprivate func admits(_ text: @autoclosure () -> String?) -> Bool {
    guard let self else { return true }
    guard let text = text() else { return false }
    return self.has(text)
  }
}

/// A condition on the values of an event.
///
/// With the library it reads like Swift: `.magnitude >= 6`, `.time < end`, `.type == "earthquake"`, combined by `&&`
/// and `||`.
///
/// A condition on a value does not hold for an event without that value.
public indirect enum EventCondition: Hashable, Sendable {
  /// The number in the column is at least this.
  case atLeast(EventColumn, Double)
  /// The number in the column is at most this.
  case atMost(EventColumn, Double)
  /// The instant in the column is this or later.
  case notBefore(EventColumn, Timestamp)
  /// The instant in the column is before this.
  case before(EventColumn, Timestamp)
  /// The text in the column, with the capital letters of ASCII as small ones, is one of these; see
  /// `text(_:isOneOf:)`.
  case foldedText(EventColumn, Set<String>)
  /// The column holds a list, with a comma before, between and after its entries, and this is an entry.
  case lists(EventColumn, String)
  case isPresent(EventColumn)
  case isMissing(EventColumn)
  case all([EventCondition])
  case any([EventCondition])

  /// The text in the column is one of these, in any case of ASCII letters.
  public static func text(
    _ column: EventColumn, isOneOf texts: some Sequence<String>
  ) -> EventCondition {
    .foldedText(column, Set(texts.map(LetterCase.foldedASCII)))
  }

  /// An entry with its commas; nil if no list can have it.
  package static func listed(_ entry: String) -> String? {
    entry.isEmpty || entry.utf8.contains(UInt8(ascii: ",")) || entry.utf8.contains(0)
      ? nil : ",\(entry),"
  }

  /// Checks that the column is of the kind of what it is compared with.
  fileprivate func check() throws(StoreError) {
    let (column, kinds, value): (EventColumn, [EventColumn.Kind], String)
    switch self {
    case .atLeast(let compared, _), .atMost(let compared, _):
      (column, kinds, value) = (compared, [.float8, .int4, .int2], "a number")
    case .notBefore(let compared, _), .before(let compared, _):
      (column, kinds, value) = (compared, [.timestamp], "a time")
    case .foldedText(let compared, _), .lists(let compared, _):
      (column, kinds, value) = (compared, [.text], "a text")
    case .isPresent, .isMissing: return
    case .all(let conditions), .any(let conditions):
      for condition in conditions { try condition.check() }
      return
    }
    guard kinds.contains(column.kind) else {
      throw StoreError(
        .usage, "cannot compare column \"\(column.name)\" with \(value)",
        detail: "Its type in PostgreSQL is \(column.kind.sqlName).")
    }
  }

  func accepts(_ event: EventRecord) -> Bool {
    switch self {
    case .atLeast(let column, let least): Self.number(column, event).map { $0 >= least } ?? false
    case .atMost(let column, let most): Self.number(column, event).map { $0 <= most } ?? false
    case .notBefore(let column, let time): event.timestamp(column).map { $0 >= time } ?? false
    case .before(let column, let time): event.timestamp(column).map { $0 < time } ?? false
    case .foldedText(let column, let texts):
      event.text(column).map { texts.has(LetterCase.foldedASCII($0)) } ?? false
    case .lists(let column, let entry):
      Self.listed(entry).map { listed in
        event.withUTF8(column) { list in list.map { Self.contains($0, Array(listed.utf8)) } ?? false
        }
      } ?? false
    case .isPresent(let column): event.has(column)
    case .isMissing(let column): !event.has(column)
    case .all(let conditions): conditions.allSatisfy { $0.accepts(event) }
    case .any(let conditions): conditions.contains { $0.accepts(event) }
    }
  }

  private static func contains(_ list: UnsafeRawBufferPointer, _ listed: [UInt8]) -> Bool {
    guard listed.count <= list.count else { return false }
    return (0...(list.count - listed.count)).contains { start in
      list[start..<(start + listed.count)].elementsEqual(listed)
    }
  }

  private static func number(_ column: EventColumn, _ event: EventRecord) -> Double? {
    column.kind == .float8 ? event.double(column) : event.integer(column).map(Double.init)
  }
}

/// Conditions on how a change affects the selection of events, or how far an update moves their values.
///
/// A change has to meet one of the conditions that are set. If none is set, every change passes.
public struct ChangeConditions: Hashable, Sendable {
  /// The event came into the selection that the filter's conditions on events describe: it was inserted, an
  /// update made it meet the conditions, or it is back after it was withdrawn or superseded.
  public var enters = false
  /// The event left the selection: it was deleted, withdrawn or superseded, or an update made it miss the
  /// conditions. A truncate counts as well.
  public var leaves = false
  /// An update changed the magnitude by at least this, or from or to unknown.
  public var magnitudeChange: Double?
  /// An update changed the depth by at least this many kilometres, or from or to unknown.
  public var depthChange: Double?
  /// An update moved the epicentre by at least this many kilometres, or from or to unknown.
  public var placeChange: Double?

  /// No conditions.
  public init() {}

  var isEmpty: Bool { self == ChangeConditions() }

  /// Decimal numbers such as 5.9 and 6.2 differ by a little less than 0.3 as binary numbers. Nothing that is
  /// measured is as exact as this.
  package static let tolerance = 1e-9

  /// Whether the values of an update differ as much as one of the limits asks.
  func areIn(_ old: EventRecord, _ new: EventRecord) -> Bool {
    Self.differ(old.magnitude, new.magnitude, magnitudeChange)
      || Self.differ(old.depth, new.depth, depthChange) || isMoved(old, new)
  }

  private static func differ(_ old: Double?, _ new: Double?, _ least: Double?) -> Bool {
    guard let least, old != new else { return false }
    guard let old, let new else { return true }
    return abs(new - old) >= least - tolerance
  }

  private func isMoved(_ old: EventRecord, _ new: EventRecord) -> Bool {
    guard let least = placeChange,
      old.latitude != new.latitude
        || old.longitude != new.longitude
    else { return false }
    guard let distance = GreatCircle.distance(old, new) else {
      // Two unknown epicentres that differ in one coordinate are no move.
      return Self.hasEpicentre(old) || Self.hasEpicentre(new)
    }
    return distance >= least - Self.tolerance
  }

  private static func hasEpicentre(_ event: EventRecord) -> Bool {
    event.has(.latitude) && event.has(.longitude)
  }
}
