/// A record's statement that an id besides its code belongs to its event.
struct IDClaim {
  let id: String
  /// The event's own code.
  let code: String
}
