internal import QuakeModel

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
  private(set) var old: QuakeRecord?
  private(set) var new: QuakeRecord?
  /// Of a reset.
  private(set) var reason = ""
  private(set) var after: ChangeToken?
  private(set) var message: String?
  private(set) var detail: String?
  private(set) var hint: String?
  /// Where the transaction is in the text; nil if it is null.
  private(set) var transaction: UnsafeRawBufferPointer?

  /// Reads the object that a text is. The bytes must outlive `transaction`.
  init(_ bytes: UnsafeRawBufferPointer) throws(JSONReader.Invalid) {
    var reader = JSONReader(bytes)
    var form = ChangeForm()
    try reader.object { reader, name throws(JSONReader.Invalid) in
      try form.take(name.text, &reader)
    }
    try reader.end()
    self = form
  }

  private init() {}

  private mutating func take(
    _ name: String, _ reader: inout JSONReader
  ) throws(JSONReader.Invalid) {
    switch name {
    case "token": token = try reader.token()
    case "position": position = try reader.null() ? nil : try reader.integer()
    case "op": op = try reader.string().text
    case "code": code = try reader.optionalString()
    case "changed":
      changed = []
      try reader.array { reader throws(JSONReader.Invalid) in
        changed.append(try reader.string().text)
      }
    case "old": old = try reader.event()
    case "new": new = try reader.event()
    case "transaction":
      let start = reader.nextPlace()
      try reader.skipValue()
      let text = reader.bytes(from: start)
      transaction = text.first == 0x7B ? text : nil
    case "reason": reason = try reader.string().text
    case "after": after = try reader.token()
    case "message": message = try reader.optionalString()
    case "detail": detail = try reader.optionalString()
    case "hint": hint = try reader.optionalString()
    default: try reader.skipValue()
    }
  }
}
