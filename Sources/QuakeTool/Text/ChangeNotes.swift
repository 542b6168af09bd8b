internal import CommandLine
internal import QuakeModel

/// Notes for people about the values that an update changed.
struct ChangeNotes {
  /// The notes, the most important first. Empty if no person can see what the update changed.
  private(set) var visible: [String] = []
  /// Names of the columns that the update changed and that `visible` does not mention.
  private(set) var bookkeeping: [EventColumn] = []

  private let changed: Set<EventColumn>
  private let old: EventRecord
  private let new: EventRecord
  /// The most columns that a text takes; nil: as many as it needs.
  private let width: Int?

  /// Columns that no person reads: they serve programs, or name where the values come from.
  static let unread: Set<EventColumn> = [
    .updated, .asOf, .firstStored, .url, .detail, .ids, .sources, .types, .netCode,
  ]

  /// The columns without words of their own, in the order of their importance.
  private static let plain: [EventColumn] = [
    .place, .type, .status, .felt, .cdi, .mmi, .magnitudeType, .net, .source, .code, .title, .sig,
    .nst, .gap, .rms, .dmin,
  ]

  /// The notes on an update.
  ///
  /// - Parameters:
  ///   - changed: Names of the columns.
  ///   - width: The most columns that a text takes; nil: as many as it needs.
  init(_ changed: [String], _ old: EventRecord, _ new: EventRecord, width: Int?) {
    self.changed = Set(changed.compactMap { EventColumn(name: $0) })
    (self.old, self.new, self.width) = (old, new, width)
    if has(.magnitude) { addRounded(.magnitude) }
    addState()
    for column in [EventColumn.alert, .tsunami] where has(column) {
      visible.append(values(column))
    }
    if has(.depth) { addDepth() }
    if has(.longitude) || has(.latitude) { addMove() }
    if has(.time) { addTime() }
    for column in Self.plain where has(column) && !isToldByOthers(column) { addPlain(column) }
    bookkeeping = EventColumn.allCases.filter {
      self.changed.contains($0) && Self.unread.contains($0)
    }
  }

  private func has(_ column: EventColumn) -> Bool { changed.contains(column) }

  /// A title repeats magnitude, type and place, and the significance is computed from magnitude, felt reports,
  /// intensities and alert level.
  private func isToldByOthers(_ column: EventColumn) -> Bool {
    let sources: [EventColumn] =
      switch column {
      case .title: [.magnitude, .magnitudeType, .place, .type]
      case .sig: [.magnitude, .place, .felt, .cdi, .mmi, .alert, .tsunami]
      default: []
      }
    return sources.contains(where: has)
  }

  private func values(_ column: EventColumn) -> String {
    "\(column.name) \(value(column, old)) → \(value(column, new))"
  }

  private func value(_ column: EventColumn, _ event: EventRecord) -> String {
    ChangeText.value(column, event, width: width, atMost: width == nil ? .max : 240)
  }

  // MARK: - Columns with words of their own

  /// Whether the event counts, and whether a person has validated it.
  private mutating func addState() {
    if has(.supersededBy) || has(.withdrawnAt) {
      let (before, after) = (Self.state(old), Self.state(new))
      if let after, before != after {
        visible.append(after)
      } else if after == nil, before != nil {
        visible.append("back")
      }
    }
    if has(.validated) {
      visible.append(new.isValidated == true ? "validated" : "no longer validated")
    }
  }

  /// Why an event does not count; nil if it does.
  static func state(_ event: EventRecord) -> String? {
    if event.has(.supersededBy) {
      return "superseded by " + ChangeText.value(.supersededBy, event, width: 24)
    }
    return event.has(.withdrawnAt) ? "withdrawn" : nil
  }

  /// A depth to a tenth of a kilometre: `4.6`.
  static func depth(_ event: EventRecord) -> String? {
    event.depth.map { tenths($0) }
  }

  private static func tenths(_ number: Double) -> String {
    let text = Readable.decimal(number, places: 1)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Both values to a hundredth. The same value comes with more or fewer digits from different services.
  private mutating func addRounded(_ column: EventColumn) {
    let texts = [old, new].map { event in
      guard let value = event.double(column) else { return "none" }
      let rounded = (value * 100).rounded() / 100
      return column == .magnitude ? "\(rounded)" : Readable.shortest(rounded)
    }
    if texts[0] != texts[1] { visible.append("\(column.name) \(texts[0]) → \(texts[1])") }
  }

  private mutating func addDepth() {
    let (before, after) = (Self.depth(old), Self.depth(new))
    guard before != after else { return }
    visible.append("depth \(before ?? "none") → \(after.map { "\($0) km" } ?? "none")")
  }

  private mutating func addMove() {
    if let distance = GreatCircle.distance(old, new) {
      if distance >= 0.05 { visible.append("moved \(Self.tenths(distance)) km") }
    } else {
      let (before, after) = (Self.epicentre(old), Self.epicentre(new))
      if before != after { visible.append("epicentre \(before) → \(after)") }
    }
  }

  /// Degrees north and east, to about a kilometre.
  private static func epicentre(_ event: EventRecord) -> String {
    guard let latitude = event.latitude, let longitude = event.longitude else {
      return "none"
    }
    return Readable.decimal(latitude, places: 2) + " " + Readable.decimal(longitude, places: 2)
  }

  private mutating func addTime() {
    guard let before = old.time, let after = new.time else {
      return visible.append(values(.time))
    }
    let (difference, overflow) = after.microseconds.subtractingReportingOverflow(
      before.microseconds)
    guard !overflow else { return visible.append(values(.time)) }
    // A tenth of a second is more exact than origin times are.
    guard difference.magnitude >= 50_000 else { return }
    let amount = Int64(clamping: difference.magnitude)
    let text =
      amount < 60_000_000
      ? "\(Self.tenths(Double(amount) / 1_000_000)) s"
      : Readable.duration(.microseconds(amount))
    visible.append("origin time \(text) \(difference < 0 ? "earlier" : "later")")
  }

  private mutating func addPlain(_ column: EventColumn) {
    switch column {
    case .place:
      // The new one is in the line already.
      visible.append("place was \(value(column, old))")
    case .status:
      // Feeds write "reviewed" and "REVIEWED".
      let statuses = [old, new].map { $0.status.map(LetterCase.foldedASCII) }
      guard statuses[0] != statuses[1] else { return }
      visible.append(new.has(.status) ? "now \(value(.status, new))" : values(column))
    case .rms, .gap, .dmin, .cdi, .mmi: addRounded(column)
    default: visible.append(values(column))
    }
  }
}
