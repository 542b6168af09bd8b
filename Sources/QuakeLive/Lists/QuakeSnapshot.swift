public import QuakeModel

/// The events as of a token, after which changes to them can be followed without a gap or a repeat.
public struct QuakeSnapshot: Sendable {
  /// The newest transaction that the events show.
  public let token: ChangeToken
  /// The events, newest origin time first.
  public let quakes: [QuakeRecord]
}
