import CommandLine
import QuakeFeed

/// The feed that a person names.
enum FeedName {
  /// Resolves a text, as `FeedReference` does; an unknown name gets the nearest known one as a hint.
  ///
  /// - Parameter others: Further names that the command knows.
  static func reference(
    _ text: SecretText, others: [String] = []
  ) throws(FeedError) -> FeedReference {
    do throws(FeedError) {
      return try FeedReference(text.text, secrets: text.secrets)
    } catch {
      guard error.code == .unknownFeed,
        let near = Suggestion.nearest(
          to: text.text.lowercased(), among: FeedReference.knownNames + others)
      else { throw error }
      throw FeedError(
        error.code, error.message, detail: error.detail,
        hint: "did you mean '\(near)'?" + (error.hint.map { " \($0)" } ?? ""))
    }
  }
}
