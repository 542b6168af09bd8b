extension Duration {
  /// A length that a database tells in seconds, as a double can hold more than a duration: never below
  /// zero, and at most thirty years or so.
  public init(lag seconds: Double) {
    self = .seconds(min(max(0, seconds), 1e9))
  }
}
