/// The JSON of a transaction, which is the same in each of its changes.
final class TransactionText: Sendable {
  let transaction: ChangeTransaction
  /// The beginning of a change, up to its position.
  let beginning: [UInt8]
  /// The last member of a change, without the end of the object.
  let end: [UInt8]

  init(_ transaction: ChangeTransaction) {
    self.transaction = transaction
    var json = JSONWriter()
    json.beginObject()
    json.key("token")
    json.string(transaction.token.description)
    json.key("position")
    beginning = json.bytes
    json.removeAll()
    json.key("transaction")
    json.transaction(transaction)
    end = [0x2C] + json.bytes
  }
}
