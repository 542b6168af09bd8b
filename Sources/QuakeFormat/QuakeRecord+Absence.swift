internal import QuakeModel

extension QuakeRecord {
  /// Whether the row describes no earthquake now: its event is withdrawn or superseded.
  var isPast: Bool { has(.withdrawnAt) || has(.supersededBy) }

  /// Whether its URL begins with http or https. A viewer would run what a URL of another scheme names, or open it
  /// on its own machine.
  var hasWebAddress: Bool {
    withUTF8(.url) { (url: UnsafeRawBufferPointer?) in
      guard let url else { return false }
      return ["http://", "https://"].contains { (scheme: String) in
        url.count > scheme.utf8.count
          && zip(url, scheme.utf8).allSatisfy { byte, letter in
            byte == letter || (0x41...0x5A).contains(byte) && byte | 0x20 == letter
          }
      }
    }
  }
}

/// The words that mark an event that is no earthquake of its own now.
enum PastEvent {
  /// The event type: QuakeML's word for an event that does not exist. An import withdraws such events.
  static let type: StaticString = "not existing"
  /// The status: USGS's word.
  static let status: StaticString = "deleted"
}
