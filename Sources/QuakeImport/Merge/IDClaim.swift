/// An id that an event has besides its own code.
struct IDClaim {
  let id: String
  /// The event's own code.
  let code: String
}
