/// The b-value of the Gutenberg-Richter relation, for magnitudes in classes of 0.1.
public struct BValue: Sendable, Hashable {
  /// The magnitude of completeness: as given, or by maximum curvature, the class with the most events, the
  /// greatest of several (Wiemer and Wyss, 2000).
  public let completeness: Double
  /// How many events are in this class and above.
  public let events: Int64
  /// The average magnitude of these events, by their classes.
  public let mean: Double?
  /// The b-value by maximum likelihood (Aki, 1965) with the correction for classes (Utsu, 1966).
  public let b: Double?
  /// Its standard error (Shi and Bolt, 1982); nil: there are less than two events.
  public let standardError: Double?
}
