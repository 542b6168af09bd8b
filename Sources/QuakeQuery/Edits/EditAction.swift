/// The action of a batch edit on each of its events.
public enum EditAction: Sendable {
  /// Marks them as checked by a person.
  case validate
  /// Removes that mark.
  case unvalidate
  /// Sets columns. A feed overwrites them with its next snapshot, except Quake's own state.
  case set([EventAssignment])
  /// Deletes them, and the rows that they superseded. Imports do not store them again until they are
  /// restored.
  case delete
  /// Deletes those whose origin time is older, whether superseded or withdrawn or not. An import stores one
  /// again only if its feed gives it a later origin time, so that it is no longer that old; if `forever`, not
  /// even then.
  case expire(olderThan: Duration, forever: Bool)

  /// Its name, as in `quake.edit`.
  public var name: String {
    switch self {
    case .validate: "validate"
    case .unvalidate: "unvalidate"
    case .set: "set"
    case .delete: "delete"
    case .expire: "expire"
    }
  }

  /// Whether it removes rows.
  var deletes: Bool {
    switch self {
    case .delete, .expire: true
    case .validate, .unvalidate, .set: false
    }
  }
}
