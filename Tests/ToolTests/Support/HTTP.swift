import Testing

/// A minimal HTTP client.
enum HTTP {
  /// The body of the answer to a request on this machine; its status must be 200.
  static func get(_ target: String, port: Int) throws -> [UInt8] {
    let answer = try RawConnection(port: port).request("GET", target, ["Connection": "close"])
    try #require(answer.status == 200)
    return answer.body
  }
}
