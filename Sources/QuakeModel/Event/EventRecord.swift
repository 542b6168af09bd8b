/// One event as a row: a value, or none, for each `EventColumn`.
///
/// A value that is set by its column must be of the kind of that column (`EventColumn.kind`): with another the program
/// stops. What reads a value of one kind finds none in a column of another.
///
/// Text is stored as UTF-8 in one buffer of the record, not in a `String` for each field: a record can be
/// cleared and filled for a million events without an allocation.
public struct EventRecord: Sendable {
  /// One word for each column: a number's bits, an instant's microseconds, or the offset (high half) and
  /// length (low half) of a text in `bytes`.
  private var values: [UInt64]
  /// One bit for each column that has a value.
  private var present: UInt64 = 0
  private var bytes: [UInt8] = []

  /// A record without a value in any column.
  public init() {
    values = Array(repeating: 0, count: EventColumn.allCases.count)
  }

  /// Removes the values of all columns, and keeps the memory.
  public mutating func removeAll() {
    present = 0
    bytes.removeAll(keepingCapacity: true)
  }

  /// The size of all texts in bytes; more if one was set several times.
  var textSize: Int { bytes.count }

  /// Calls `body` with what is stored, for a writer that passes through all columns: one word for each column,
  /// one bit for each that has a value, and the bytes of the texts.
  @inline(__always)
  func withContents<Value>(
    _ body: (
      _ values: UnsafeBufferPointer<UInt64>, _ present: UInt64, _ bytes: UnsafeRawBufferPointer
    ) -> Value
  ) -> Value {
    values.withUnsafeBufferPointer { values in
      bytes.withUnsafeBytes { body(values, present, $0) }
    }
  }

  /// Whether the column has a value.
  public func has(_ column: EventColumn) -> Bool {
    present & (1 << UInt64(column.rawValue)) != 0
  }

  /// The length of the column's text in bytes; nil if it has no value.
  func textSize(of column: EventColumn) -> Int? {
    column.kind == .text && has(column) ? Int(values[column.rawValue] & 0xFFFF_FFFF) : nil
  }

  /// Removes the column's value.
  public mutating func setNull(_ column: EventColumn) {
    present &= ~(1 << UInt64(column.rawValue))
  }

  private mutating func store(_ column: EventColumn, _ value: UInt64) {
    values[column.rawValue] = value
    present |= 1 << UInt64(column.rawValue)
  }

  /// Sets a text column from UTF-8 that the caller has validated and that holds no NUL.
  public mutating func set(_ column: EventColumn, utf8: UnsafeRawBufferPointer) {
    precondition(column.kind == .text)
    store(column, UInt64(bytes.count) << 32 | UInt64(utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Sets a text column.
  public mutating func set(_ column: EventColumn, _ text: String) {
    var text = text
    text.withUTF8 { set(column, utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Sets a `float8` column. -0 becomes 0: they are equal, and records are compared bit for bit.
  public mutating func set(_ column: EventColumn, _ value: Double) {
    precondition(column.kind == .float8)
    store(column, (value + 0).bitPattern)
  }

  /// Sets an `int4` or `int2` column; the caller has checked the range.
  public mutating func set(_ column: EventColumn, integer value: Int) {
    precondition(column.kind == .int4 || column.kind == .int2)
    store(column, UInt64(bitPattern: Int64(value)))
  }

  /// Sets a `timestamp` column.
  public mutating func set(_ column: EventColumn, _ value: Timestamp) {
    precondition(column.kind == .timestamp)
    store(column, UInt64(bitPattern: value.microseconds))
  }

  /// Sets a `bool` column.
  public mutating func set(_ column: EventColumn, _ value: Bool) {
    precondition(column.kind == .bool)
    store(column, value ? 1 : 0)
  }

  /// The text of a text column as a `String`, or nil.
  public func text(_ column: EventColumn) -> String? {
    withUTF8(column) { $0.map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Calls `body` with the bytes of a text column, or nil. It is not generic, because unspecialised calls
  /// from other modules, for each field of a million records, would dominate the cost.
  public func withUTF8(_ column: EventColumn, _ body: (UnsafeRawBufferPointer?) -> Void) {
    guard column.kind == .text, has(column) else { return body(nil) }
    let value = values[column.rawValue]
    let start = Int(value >> 32)
    let count = Int(value & 0xFFFF_FFFF)
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
  }

  /// Calls a `body` that returns a value, or throws.
  public func withUTF8<Value, Failure: Error>(
    _ column: EventColumn, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard column.kind == .text, has(column) else { return try body(nil) }
    let value = values[column.rawValue]
    let start = Int(value >> 32)
    let count = Int(value & 0xFFFF_FFFF)
    return try bytes.withUnsafeBufferPointer { all throws(Failure) in
      let text = UnsafeRawBufferPointer(all)[start..<(start + count)]
      return try body(UnsafeRawBufferPointer(rebasing: text))
    }
  }

  /// The value of a `float8` column, or nil.
  public func double(_ column: EventColumn) -> Double? {
    column.kind == .float8 && has(column) ? Double(bitPattern: values[column.rawValue]) : nil
  }

  /// The value of an `int4` or `int2` column, or nil.
  public func integer(_ column: EventColumn) -> Int? {
    guard column.kind == .int4 || column.kind == .int2, has(column) else { return nil }
    return Int(Int64(bitPattern: values[column.rawValue]))
  }

  /// The value of a `timestamp` column, or nil.
  public func timestamp(_ column: EventColumn) -> Timestamp? {
    column.kind == .timestamp && has(column)
      ? Timestamp(microseconds: Int64(bitPattern: values[column.rawValue])) : nil
  }

  /// The value of a `bool` column, or nil.
  public func bool(_ column: EventColumn) -> Bool? {
    column.kind == .bool && has(column) ? values[column.rawValue] != 0 : nil
  }

  // MARK: - Properties

  // The values of the columns; nil: the event has none, or the query that read it left the column out.

  /// The preferred id, unique in the store: `us7000pn9s`.
  public var code: String? {
    get { text(.code) }
    set { if let newValue { set(.code, newValue) } else { setNull(.code) } }
  }

  /// The network whose solution is preferred: `us`.
  public var network: String? {
    get { text(.net) }
    set { if let newValue { set(.net, newValue) } else { setNull(.net) } }
  }

  /// The network's own code of the event, which is not unique.
  public var networkCode: String? {
    get { text(.netCode) }
    set { if let newValue { set(.netCode, newValue) } else { setNull(.netCode) } }
  }

  /// The catalogue that the event comes from.
  public var source: String? {
    get { text(.source) }
    set { if let newValue { set(.source, newValue) } else { setNull(.source) } }
  }

  /// The event type: `earthquake`, `quarry blast`, ...
  public var type: String? {
    get { text(.type) }
    set { if let newValue { set(.type, newValue) } else { setNull(.type) } }
  }

  /// `automatic`, `reviewed`, ... in the feed's letters.
  public var status: String? {
    get { text(.status) }
    set { if let newValue { set(.status, newValue) } else { setNull(.status) } }
  }

  /// The magnitude; that of some events is unknown, and small ones are negative.
  public var magnitude: Double? {
    get { double(.magnitude) }
    set { if let newValue { set(.magnitude, newValue) } else { setNull(.magnitude) } }
  }

  /// The magnitude type: `mww`, `ml`, ...
  public var magnitudeType: String? {
    get { text(.magnitudeType) }
    set { if let newValue { set(.magnitudeType, newValue) } else { setNull(.magnitudeType) } }
  }

  /// The place in words.
  public var place: String? {
    get { text(.place) }
    set { if let newValue { set(.place, newValue) } else { setNull(.place) } }
  }

  /// The origin time.
  public var time: Timestamp? {
    get { timestamp(.time) }
    set { if let newValue { set(.time, newValue) } else { setNull(.time) } }
  }

  /// When the agency last changed the event, by its own account.
  public var updated: Timestamp? {
    get { timestamp(.updated) }
    set { if let newValue { set(.updated, newValue) } else { setNull(.updated) } }
  }

  /// The epicentre's longitude, degrees east, -180 to 180.
  public var longitude: Double? {
    get { double(.longitude) }
    set { if let newValue { set(.longitude, newValue) } else { setNull(.longitude) } }
  }

  /// The epicentre's latitude, degrees north, -90 to 90.
  public var latitude: Double? {
    get { double(.latitude) }
    set { if let newValue { set(.latitude, newValue) } else { setNull(.latitude) } }
  }

  /// The hypocentre depth, kilometres, positive down.
  public var depth: Double? {
    get { double(.depth) }
    set { if let newValue { set(.depth, newValue) } else { setNull(.depth) } }
  }

  /// Magnitude and place as the agency writes them.
  public var title: String? {
    get { text(.title) }
    set { if let newValue { set(.title, newValue) } else { setNull(.title) } }
  }

  /// The agency's page about the event.
  public var url: String? {
    get { text(.url) }
    set { if let newValue { set(.url, newValue) } else { setNull(.url) } }
  }

  /// The agency's document about the event.
  public var detail: String? {
    get { text(.detail) }
    set { if let newValue { set(.detail, newValue) } else { setNull(.detail) } }
  }

  /// How many people reported that they felt it.
  public var felt: Int? {
    get { integer(.felt) }
    set { if let newValue { set(.felt, integer: newValue) } else { setNull(.felt) } }
  }

  /// The largest intensity that people reported.
  public var cdi: Double? {
    get { double(.cdi) }
    set { if let newValue { set(.cdi, newValue) } else { setNull(.cdi) } }
  }

  /// The largest estimated intensity.
  public var mmi: Double? {
    get { double(.mmi) }
    set { if let newValue { set(.mmi, newValue) } else { setNull(.mmi) } }
  }

  /// The PAGER alert level: `green`, `yellow`, `orange`, `red`.
  public var alert: String? {
    get { text(.alert) }
    set { if let newValue { set(.alert, newValue) } else { setNull(.alert) } }
  }

  /// The significance as USGS computes it: 600 and more is "significant".
  public var significance: Int? {
    get { integer(.sig) }
    set { if let newValue { set(.sig, integer: newValue) } else { setNull(.sig) } }
  }

  /// The number of stations used.
  public var stationCount: Int? {
    get { integer(.nst) }
    set { if let newValue { set(.nst, integer: newValue) } else { setNull(.nst) } }
  }

  /// The distance of the nearest station, degrees.
  public var nearestStationDistance: Double? {
    get { double(.dmin) }
    set { if let newValue { set(.dmin, newValue) } else { setNull(.dmin) } }
  }

  /// The root mean square of the travel-time residuals, seconds.
  public var rms: Double? {
    get { double(.rms) }
    set { if let newValue { set(.rms, newValue) } else { setNull(.rms) } }
  }

  /// The largest angle without a station, degrees.
  public var azimuthalGap: Double? {
    get { double(.gap) }
    set { if let newValue { set(.gap, newValue) } else { setNull(.gap) } }
  }

  /// When the snapshot that last changed the event was generated.
  public var asOf: Timestamp? {
    get { timestamp(.asOf) }
    set { if let newValue { set(.asOf, newValue) } else { setNull(.asOf) } }
  }

  /// Whether a person has validated it in this store.
  public var isValidated: Bool? {
    get { bool(.validated) }
    set { if let newValue { set(.validated, newValue) } else { setNull(.validated) } }
  }

  /// Since when feeds that should hold the event lack it.
  public var withdrawnAt: Timestamp? {
    get { timestamp(.withdrawnAt) }
    set { if let newValue { set(.withdrawnAt, newValue) } else { setNull(.withdrawnAt) } }
  }

  /// The code of the event that replaces it.
  public var supersededBy: String? {
    get { text(.supersededBy) }
    set { if let newValue { set(.supersededBy, newValue) } else { setNull(.supersededBy) } }
  }

  /// When the event was first stored.
  public var firstStored: Timestamp? {
    get { timestamp(.firstStored) }
    set { if let newValue { set(.firstStored, newValue) } else { setNull(.firstStored) } }
  }

  /// Whether the agency's flag for large oceanic earthquakes is set. It does not announce a tsunami.
  public var hasTsunamiFlag: Bool? {
    get { integer(.tsunami).map { $0 != 0 } }
    set {
      if let newValue { set(.tsunami, integer: newValue ? 1 : 0) } else { setNull(.tsunami) }
    }
  }

  /// All ids of the event, the preferred one among them.
  public var ids: [String]? {
    get { list(.ids) }
    set { setList(.ids, newValue) }
  }

  /// The networks that contributed to the event.
  public var contributors: [String]? {
    get { list(.sources) }
    set { setList(.sources, newValue) }
  }

  /// The types of the products that the agency has about the event.
  public var productTypes: [String]? {
    get { list(.types) }
    set { setList(.types, newValue) }
  }

  /// A list as feeds write it: `,us7000pn9s,ci40000001,`.
  private func list(_ column: EventColumn) -> [String]? {
    text(column)?.split(separator: ",").map(String.init)
  }

  private mutating func setList(_ column: EventColumn, _ elements: [String]?) {
    guard let elements else { return setNull(column) }
    set(column, "," + elements.map { $0 + "," }.joined())
  }
}

extension EventRecord: Hashable {
  /// Whether both have the same values, numbers bit for bit, in the same columns.
  public static func == (left: EventRecord, right: EventRecord) -> Bool {
    guard left.present == right.present else { return false }
    for column in EventColumn.allCases where left.has(column) {
      guard column.kind == .text else {
        guard left.values[column.rawValue] == right.values[column.rawValue] else { return false }
        continue
      }
      // The offset of a text depends on the order in which the columns were set.
      guard left.hasText(of: right, in: column) else { return false }
    }
    return true
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(present)
    for column in EventColumn.allCases where has(column) {
      if column.kind == .text {
        withUTF8(column) { text in
          hasher.combine(text?.count)
          text.map { hasher.combine(bytes: $0) }
        }
      } else {
        hasher.combine(values[column.rawValue])
      }
    }
  }

  private func hasText(of other: EventRecord, in column: EventColumn) -> Bool {
    withUTF8(column) { own in
      other.withUTF8(column) { others in
        switch (own, others) {
        case (let own?, let others?): own.elementsEqual(others)
        case (nil, nil): true
        default: false
        }
      }
    }
  }
}

extension EventRecord: Identifiable {
  /// The code; empty if the record has none.
  public var id: String { code ?? "" }
}
