/// An event as the association of events sees it.
struct AssociationEvent {
  let code: String
  let source: String
  let longitude: Double
  let latitude: Double
  /// Whether it can be associated: it has an epicentre, is not withdrawn, and nothing but an association
  /// superseded it.
  let isEligible: Bool
  let supersededBy: String?
  /// The preferred event of its association; nil: it has none.
  let associatedWith: String?

  /// Whether the event is superseded because of its association.
  var isSecondary: Bool { supersededBy != nil && supersededBy == associatedWith }
}
