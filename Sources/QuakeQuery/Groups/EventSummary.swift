/// The number of events, and what is known of a column of them.
public struct EventSummary: Sendable, Hashable {
  /// How many events there are.
  public let count: Int64
  /// How many of them have a value in the column.
  public let known: Int64
  /// The average of the values; nil: there is none.
  public let average: Double?
  /// The smallest value.
  public let minimum: Double?
  /// The greatest value.
  public let maximum: Double?
  /// The sum of the radiated energies in joules, 10^(1.5 M + 4.8) each (Gutenberg and Richter, 1956); nil: no
  /// event has a magnitude.
  public let energy: Double?
  /// The sum of the seismic moments in newton metres, 10^(1.5 M + 9.1) each (Hanks and Kanamori, 1979), as if
  /// every magnitude were a moment magnitude; nil: no event has one.
  public let moment: Double?
}
