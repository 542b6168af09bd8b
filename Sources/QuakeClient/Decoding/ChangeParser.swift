internal import CSimdjson
internal import QuakeModel
internal import Simdjson

/// Reads changes from the JSON that `JSONWriter` writes for them.
///
/// The changes of a transaction follow each other, so the transaction is made once for them. Its counts are not
/// in the JSON, and stay zero.
struct ChangeParser {
  private let parser = JSONParser()
  private var transaction: ChangeTransaction?

  /// The event of a snapshot that a text is, with its token and position.
  func snapshot(
    _ text: [UInt8]
  ) throws(InvalidJSON) -> (record: EventRecord, token: ChangeToken, position: Int64) {
    let form = try form(text)
    guard form.op == "snapshot", let token = form.token, let position = form.position,
      let record = form.new
    else { throw InvalidJSON("not an event of a snapshot") }
    return (record, token, position)
  }

  /// The object in the form of a change that a text is.
  func form(_ text: [UInt8]) throws(InvalidJSON) -> ChangeForm { try ChangeForm(text, parser) }

  /// The change that a text is.
  mutating func change(_ text: [UInt8]) throws(InvalidJSON) -> Change {
    let form = try form(text)
    guard let op = ChangeOperation(rawValue: form.op), let token = form.token,
      let position = form.position, position >= 0, let members = form.transaction
    else { throw InvalidJSON("not a change") }
    let isComplete =
      switch op {
      case .insert: form.new != nil && form.old == nil
      case .update: form.new != nil && form.old != nil
      case .delete: form.new == nil && form.old != nil
      case .truncate: form.new == nil && form.old == nil
      }
    guard isComplete, (form.code == nil) == (op == .truncate) else {
      throw InvalidJSON("a change without its event")
    }
    return Change(
      transaction: try transaction(token, members), position: position, op: op, code: form.code,
      changed: form.changed, old: form.old, new: form.new)
  }

  private mutating func transaction(
    _ token: ChangeToken, _ members: JSONMembers
  ) throws(InvalidJSON) -> ChangeTransaction {
    if let transaction, transaction.token == token { return transaction }
    var texts: [String: String] = [:]
    var pid = 0
    var at: Timestamp?
    var importID: Int64?
    for member in members {
      let name = String(decoding: member.name, as: UTF8.self)
      let value = member.value
      switch name {
      case "author", "context", "application", "user", "client":
        texts[name] = try value.optionalString()
      case "pid": pid = value.isNull ? 0 : Int(try value.integer())
      case "at": at = try value.timestamp()
      case "import": importID = value.isNull ? nil : try value.integer()
      default: break
      }
    }
    guard let at else { throw InvalidJSON("a transaction without its time") }
    let made = ChangeTransaction(
      token: token, author: texts["author"], context: texts["context"],
      application: texts["application"], user: texts["user"] ?? "", processID: pid,
      client: texts["client"],
      at: at, importID: importID, counts: ChangeCounts())
    transaction = made
    return made
  }
}

/// The members of an object in the form of a change: a change, an event of a snapshot, a heartbeat or a reset.
///
/// It is the inverse of what `JSONWriter` writes. Members that it does not know are skipped, because later
/// versions of the server may have more.
struct ChangeForm {
  private(set) var token: ChangeToken?
  private(set) var position: Int64?
  private(set) var op = ""
  private(set) var code: String?
  private(set) var changed: [String] = []
  private(set) var old: EventRecord?
  private(set) var new: EventRecord?
  /// Of a reset.
  private(set) var reason = ""
  private(set) var after: ChangeToken?
  private(set) var message: String?
  private(set) var detail: String?
  private(set) var hint: String?
  /// The members of the transaction, which are valid until another text is parsed; nil if it is null.
  private(set) var transaction: JSONMembers?

  /// Reads the object that a text is.
  init(_ text: [UInt8], _ parser: JSONParser) throws(InvalidJSON) {
    for member in try parser.object(text) {
      let value = member.value
      switch String(decoding: member.name, as: UTF8.self) {
      case "token": token = try value.token()
      case "position": position = value.isNull ? nil : try value.integer()
      case "op": op = try value.string()
      case "code": code = try value.optionalString()
      case "changed": changed = try value.strings()
      case "old": old = try value.event()
      case "new": new = try value.event()
      case "transaction": transaction = value.isNull ? nil : try value.object()
      case "reason": reason = try value.string()
      case "after": after = try value.token()
      case "message": message = try value.optionalString()
      case "detail": detail = try value.optionalString()
      case "hint": hint = try value.optionalString()
      default: break
      }
    }
  }
}

extension csj_element {
  private static let columns: [(column: EventColumn, name: [UInt8])] =
    EventColumn.allCases.map { ($0, Array($0.name.utf8)) }

  /// An event: an object with a member for each column, or null. Members that are no columns are skipped.
  func event() throws(InvalidJSON) -> EventRecord? {
    if isNull { return nil }
    var record = EventRecord()
    // The columns come in their order.
    var expected = 0
    for member in try object() {
      guard let index = Self.column(member.name, expected: expected) else { continue }
      expected = index + 1
      if !member.value.isNull { try member.value.set(Self.columns[index].column, of: &record) }
    }
    return record
  }

  private static func column(_ name: UnsafeRawBufferPointer, expected: Int) -> Int? {
    if expected < columns.count, name.elementsEqual(columns[expected].name) { return expected }
    return columns.firstIndex { name.elementsEqual($0.name) }
  }

  private func set(
    _ column: EventColumn, of record: inout EventRecord
  ) throws(InvalidJSON) {
    switch column.kind {
    case .text: record.set(column, utf8: try text())
    case .float8: record.set(column, try double())
    case .int4: record.set(column, integer: try integer(Int32.self))
    case .int2: record.set(column, integer: try integer(Int16.self))
    case .timestamp: record.set(column, try timestamp())
    case .bool: record.set(column, try bool())
    }
  }

  private func integer(
    _ type: (some FixedWidthInteger).Type
  ) throws(InvalidJSON) -> Int {
    guard let value = type.init(exactly: try integer()) else {
      throw InvalidJSON("an integer is too large for its column")
    }
    return Int(value)
  }

  func timestamp() throws(InvalidJSON) -> Timestamp {
    guard let value = Timestamp(written: try text()) else {
      throw InvalidJSON("expected a time such as 2026-01-31T12:00:00.000Z")
    }
    return value
  }

  func token() throws(InvalidJSON) -> ChangeToken {
    guard let token = ChangeToken(try string()) else {
      throw InvalidJSON("expected a token such as 1042.9f3ac2d1")
    }
    return token
  }
}

extension Timestamp {
  /// Microseconds in 400 years, after which the calendar repeats itself.
  private static let cycle: Int64 = 146_097 * 86_400_000_000

  /// Reads what `description` writes, of any year: those that a feed may not contain have a sign and six digits.
  init?(written bytes: UnsafeRawBufferPointer) {
    if let value = Timestamp(iso8601: bytes) {
      self = value
      return
    }
    var text = String(decoding: bytes, as: UTF8.self)
    let length = text.hasPrefix("+") || text.hasPrefix("-") ? 7 : 4
    guard text.utf8.count > length, let year = Int64(text.prefix(length)) else { return nil }
    // The same day in a year of the present cycle.
    let cycles = (year - 2000).quotientRoundedDown(by: 400)
    text = "\(year - cycles * 400)" + text.dropFirst(length)
    guard let value = Timestamp(iso8601: text) else { return nil }
    let (distance, isTooFar) = cycles.multipliedReportingOverflow(by: Self.cycle)
    let (microseconds, isOutside) = value.microseconds.addingReportingOverflow(distance)
    guard !isTooFar, !isOutside else { return nil }
    self.init(microseconds: microseconds)
  }
}

extension Int64 {
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
