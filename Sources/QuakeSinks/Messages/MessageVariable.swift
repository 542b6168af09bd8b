/// The values of a message that commands get as environment variables, and templates by shorter names.
package enum MessageVariable {
  /// The names that templates use: `{magnitude}` is the variable `QUAKE_MAGNITUDE`.
  package static let names = [
    "id", "alert", "conversation", "supersedes", "merged_into", "token", "position", "op", "code",
    "magnitude", "old_magnitude", "place", "time", "at", "latitude", "longitude", "depth", "url",
    "text", "held_back",
  ]

  /// The name of an environment variable.
  package static func variable(_ name: String) -> String { "QUAKE_" + name.uppercased() }
}
