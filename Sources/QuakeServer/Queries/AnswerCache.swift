import Basics
import QuakeModel
import Synchronization

/// Answers that are kept until the store changes.
final class AnswerCache: Sendable {
  struct Entry {
    let response: Response
    let token: ChangeToken
    let made: Duration
    var used: Duration

    /// The bytes of its body in all forms.
    var size: Int {
      guard case .document(let document) = response.body else { return 0 }
      return document.size + (document.compressedForm?.size ?? 0)
    }
  }

  private let limit: Int
  private let mostBytes: Int
  private let entries = Mutex<[String: Entry]>([:])

  /// A cache of at most `limit` answers, whose bodies have at most `mostBytes` together. The large ones are files.
  init(limit: Int = 64, mostBytes: Int = 128 << 20) {
    self.limit = limit
    self.mostBytes = mostBytes
  }

  /// The answer that is kept under a key, if the store's newest token is still the same, and the answer is not
  /// older than `age`.
  func answer(_ key: String, token: ChangeToken, notOlderThan age: Duration) -> Response? {
    let now = MonotonicClock.now()
    return entries.withLock { entries in
      guard let entry = entries[key], entry.token == token, now - entry.made < age else {
        return nil
      }
      entries[key]?.used = now
      return entry.response
    }
  }

  /// Keeps an answer; forgets those that were not used for the longest time, while there are too many.
  func keep(_ response: Response, _ key: String, token: ChangeToken) {
    let now = MonotonicClock.now()
    entries.withLock { entries in
      entries[key] = Entry(response: response, token: token, made: now, used: now)
      var bytes = entries.values.reduce(0) { $0 + $1.size }
      while entries.count > limit || bytes > mostBytes,
        let oldest = entries.min(by: { $0.value.used < $1.value.used })
      {
        bytes -= oldest.value.size
        entries[oldest.key] = nil
      }
    }
  }
}
