extension QuakeServer {
  /// A request that has been answered, for the access log.
  public struct AccessRecord: Sendable {
    /// The method, empty if it is not a known one.
    public let method: String
    /// The path and the query as they were sent: not safe to print.
    public let target: String
    /// The client's address.
    public let client: String
    /// The HTTP status; 0: the client left before.
    public let status: Int
    /// The bytes of the body; nil: a stream.
    public let size: Int?
    /// From the first line of the request to the end of its answer.
    public let duration: Duration
    /// The client's program, as it names itself: not safe to print.
    public let userAgent: String?

    init(_ request: RequestObserver.Completed) {
      method = request.method
      target = request.target
      client = request.client
      status = request.status
      size = request.size
      duration = request.duration
      userAgent = request.userAgent
    }
  }
}
