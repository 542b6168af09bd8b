/// Bytes for one client that its socket has not taken yet.
struct UnsentBytes {
  var bytes: [UInt8]
  var sent = 0
  /// How many of the bytes answer input of the client.
  var answers = 0

  /// The most bytes of answers that wait for a client.
  static let mostAnswers = 64 << 10
}
