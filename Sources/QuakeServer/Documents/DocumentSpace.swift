import Synchronization

/// The space on the disk that documents may take together: those that are kept, and those that are being sent to
/// clients, of which some read slowly.
final class DocumentSpace: Sendable {
  /// That of all documents of this process.
  static let shared = DocumentSpace(most: 4 << 30)

  private let most: Int
  private let taken = Atomic<Int>(0)

  /// A space of `most` bytes.
  init(most: Int) { self.most = most }

  /// - Throws: `HTTPError` 503 if there is no space for a document of `size` bytes.
  func check(_ size: Int) throws(HTTPError) {
    guard taken.load(ordering: .relaxed) <= most - size else {
      throw HTTPError(
        503, "The server has no space for the answer at the moment. Try again later.",
        ["Retry-After": "30"])
    }
  }

  func take(_ size: Int) { taken.add(size, ordering: .relaxed) }

  func release(_ size: Int) { taken.subtract(size, ordering: .relaxed) }
}
