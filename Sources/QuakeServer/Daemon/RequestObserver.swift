/// Reports requests to the access log, the log of failures and the metrics.
final class RequestObserver: Sendable {
  /// A request that has been answered.
  struct Completed: Sendable {
    let method: String
    let target: String
    let client: String
    let status: Int
    /// The bytes of the body; nil: a stream.
    let size: Int?
    let duration: Duration
    let userAgent: String?
    /// The path of the route; nil if there is none.
    let route: String?
  }

  private let onCompleted: @Sendable (Completed) -> Void
  private let onFailed: @Sendable (Request, any Error) -> Void

  init(
    onCompleted: @escaping @Sendable (Completed) -> Void,
    onFailed: @escaping @Sendable (Request, any Error) -> Void
  ) {
    self.onCompleted = onCompleted
    self.onFailed = onFailed
  }

  /// A request has ended.
  func completed(_ request: Completed) { onCompleted(request) }

  /// A handler has thrown an error whose cause the client's answer leaves out.
  func failed(_ request: Request, _ error: any Error) { onFailed(request, error) }
}
