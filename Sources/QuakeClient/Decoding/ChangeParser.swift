package import QuakeModel

/// Reads changes from the JSON that `JSONWriter` writes for them.
///
/// The changes of a transaction follow each other, so the transaction is made once for them. Its counts are not
/// in the JSON, and stay zero.
package struct ChangeParser {
  private var transaction: ChangeTransaction?
  private var transactionText: [UInt8] = []

  package init() {}

  /// The change that a text is; nil with `problem` if it is none.
  package mutating func change(_ bytes: [UInt8], problem: inout String) -> Change? {
    do throws(JSONReader.Invalid) {
      return try bytes.withUnsafeBytesTyped { bytes throws(JSONReader.Invalid) in
        try change(try ChangeForm(bytes), bytes)
      }
    } catch {
      problem = "\(error.problem), at byte \(error.place)"
      return nil
    }
  }

  /// The event of a snapshot that a text is, with its token and position; nil with `problem` if it is none.
  package func snapshot(
    _ bytes: [UInt8], problem: inout String
  ) -> (record: QuakeRecord, token: ChangeToken, position: Int64)? {
    do throws(JSONReader.Invalid) {
      return try bytes.withUnsafeBytesTyped { bytes throws(JSONReader.Invalid) in
        let form = try ChangeForm(bytes)
        guard form.op == "snapshot", let token = form.token, let position = form.position,
          let record = form.new
        else { throw JSONReader(bytes).invalid("not an event of a snapshot") }
        return (record, token, position)
      }
    } catch {
      problem = "\(error.problem), at byte \(error.place)"
      return nil
    }
  }

  private mutating func change(
    _ form: ChangeForm, _ bytes: UnsafeRawBufferPointer
  ) throws(JSONReader.Invalid) -> Change {
    guard let op = ChangeOperation(rawValue: form.op), let token = form.token,
      let position = form.position, position >= 0, let text = form.transaction
    else { throw JSONReader(bytes).invalid("not a change") }
    let isComplete =
      switch op {
      case .insert: form.new != nil && form.old == nil
      case .update: form.new != nil && form.old != nil
      case .delete: form.new == nil && form.old != nil
      case .truncate: form.new == nil && form.old == nil
      }
    guard isComplete, (form.code == nil) == (op == .truncate) else {
      throw JSONReader(bytes).invalid("a change without its event")
    }
    return Change(
      transaction: try transaction(token, text), position: position, op: op, code: form.code,
      changed: form.changed, old: form.old, new: form.new)
  }

  private mutating func transaction(
    _ token: ChangeToken, _ text: UnsafeRawBufferPointer
  ) throws(JSONReader.Invalid) -> ChangeTransaction {
    if let transaction, transaction.token == token, text.elementsEqual(transactionText) {
      return transaction
    }
    var reader = JSONReader(text)
    var texts: [String: String] = [:]
    var pid: Int?
    var at: Timestamp?
    var importID: Int64?
    try reader.object { reader, name throws(JSONReader.Invalid) in
      let name = name.text
      switch name {
      case "author", "context", "application", "user", "client":
        texts[name] = try reader.optionalString()
      case "pid": pid = Int(try reader.integer())
      case "at": at = try reader.timestamp()
      case "import": importID = try reader.null() ? nil : try reader.integer()
      default: try reader.skipValue()
      }
    }
    guard let user = texts["user"], let pid, let at else {
      throw reader.invalid("a transaction without its user, process or time")
    }
    let made = ChangeTransaction(
      token: token, author: texts["author"], context: texts["context"],
      application: texts["application"], user: user, processID: pid, client: texts["client"],
      at: at, importID: importID, counts: ChangeCounts())
    transaction = made
    transactionText = Array(text)
    return made
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` with the error's type, which the standard library's does not have.
  func withUnsafeBytesTyped<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var result: Result<Value, Failure>?
    withUnsafeBytes { bytes in
      do throws(Failure) {
        result = .success(try body(bytes))
      } catch {
        result = .failure(error)
      }
    }
    guard let result else { preconditionFailure("withUnsafeBytes always calls its body") }
    return try result.get()
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
