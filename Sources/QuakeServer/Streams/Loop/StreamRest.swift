/// What is left to send of a part that only one client gets.
struct StreamRest {
  var bytes: [UInt8]
  var sent = 0
  /// How many bytes of it answer what the client has sent.
  var answers = 0

  /// The most bytes of answers that wait for a client.
  static let mostAnswers = 64 << 10
}
