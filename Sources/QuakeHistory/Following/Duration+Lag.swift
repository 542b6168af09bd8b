extension Duration {
  /// A duration from the database's seconds, limited to values from zero to about thirty years: a double can
  /// be greater than any duration.
  public init(lag seconds: Double) {
    self = .seconds(min(max(0, seconds), 1e9))
  }
}
