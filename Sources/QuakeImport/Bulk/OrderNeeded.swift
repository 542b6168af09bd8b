/// An import has to be done again with `ImportOptions.isOrdered`, from a source that is opened anew. Nothing
/// of it was stored.
public struct OrderNeeded: Error, Sendable {
  /// Why, as the end of a sentence.
  public let reason: String
}
