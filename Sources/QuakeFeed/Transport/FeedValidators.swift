/// The validators of the last version of a feed, so that the server need not send it again.
public struct FeedValidators: Sendable, Hashable {
  /// The `ETag` header, unchanged.
  public var etag: String?
  /// The `Last-Modified` header, unchanged.
  public var lastModified: String?

  /// The most bytes of a validator, because they are stored and sent with each request.
  static let maximumBytes = 1024

  /// A header's value, or nil if it exceeds the limit.
  static func usable(_ value: String?) -> String? {
    value.flatMap { $0.utf8.count <= maximumBytes ? $0 : nil }
  }

  /// The validators of a version fetched before.
  public init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }
}
