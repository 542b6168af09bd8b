internal import QuakeModel

/// QuakeML's words for the store's values.
enum QuakeMLTerms {
  /// The event type for the column `type`: QuakeML's word for it, or "other event". The writer marks withdrawn and
  /// superseded events with "not existing" itself: an import would withdraw any other event of that type.
  static func eventType(_ type: UnsafeRawBufferPointer) -> StaticString {
    guard let word = EventTypes.word(for: type),
      !word.withUTF8Buffer({ equals("not existing", UnsafeRawBufferPointer($0)) })
    else { return "other event" }
    return word
  }

  /// How an event was evaluated.
  struct Evaluation {
    var mode: StaticString?
    var status: StaticString?
    /// The value of the column `status` that an import makes of it.
    var column: StaticString?
  }

  private static let statuses: [StaticString] = ["preliminary", "confirmed", "final", "rejected"]

  /// The evaluation for the column `status`.
  static func evaluation(_ status: UnsafeRawBufferPointer) -> Evaluation {
    if equals("automatic", status, ignoringCase: true) {
      return Evaluation(mode: "automatic", column: "automatic")
    }
    if equals("reviewed", status, ignoringCase: true)
      || equals("manual", status, ignoringCase: true)
    {
      return Evaluation(mode: "manual", status: "reviewed", column: "reviewed")
    }
    guard let word = statuses.first(where: { equals($0, status, ignoringCase: true) }) else {
      return Evaluation()
    }
    return Evaluation(status: word, column: word)
  }

  /// Whether the text is this word; with `ignoringCase`, it may have capital letters.
  static func equals(
    _ word: StaticString, _ text: UnsafeRawBufferPointer, ignoringCase: Bool = false
  ) -> Bool {
    guard word.utf8CodeUnitCount == text.count else { return false }
    return word.withUTF8Buffer { letters in
      zip(letters, text).allSatisfy { letter, byte in
        letter == byte || ignoringCase && (0x41...0x5A).contains(byte) && letter == byte | 0x20
      }
    }
  }
}
