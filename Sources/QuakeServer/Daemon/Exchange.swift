import Basics
import QuakeModel
import Synchronization

/// A request from its first line to the end of its answer.
///
/// The thread of the HTTP library uses it, and while its connection is suspended, a thread of the pool.
final class Exchange: Sendable {
  enum Phase {
    /// Its header has not been read.
    case new
    /// Its body arrives.
    case reading
    /// Its answer is made.
    case working
    /// It has its answer, which has not been queued.
    case answered
    /// Its answer is on its way.
    case sending
  }

  struct State {
    var phase = Phase.new
    var request: Request?
    var match: RouteTable.Match?
    /// The error in the header, which is sent when the body has been read.
    var failure: HTTPError?
    var bodySize = 0
    var response: Response?
    /// The document that is sent from a file; it takes its space until all is sent.
    var document: Document?
    /// The change to another protocol that is the answer.
    var upgrade: Upgrade?
    /// The status that was sent; 0 before.
    var status = 0
    /// The number of bytes of the answer's body; nil: it has no end.
    var sentSize: Int? = 0

    /// Releases the parts of the request that the answer no longer needs: a stream may last for days.
    mutating func releaseRequest() {
      var headers = HeaderFields()
      if let program = request?.headers["user-agent"] { headers.append("User-Agent", program) }
      request?.headers = headers
      request?.query = []
      request?.parameters = [:]
      request?.body = []
      response = nil
    }
  }

  /// The target as the client sent it.
  let target: String
  let arrived: Timestamp
  let begun: Duration
  let state = Mutex(State())

  init(target: String) {
    self.target = target
    arrived = .now()
    begun = MonotonicClock.now()
  }
}
