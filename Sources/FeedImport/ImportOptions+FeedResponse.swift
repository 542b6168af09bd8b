public import QuakeFeed
public import QuakeImport

extension ImportOptions {
  /// Completes the options with the headers of the HTTP answer, if there is one.
  public mutating func describe(_ response: FeedResponse?) {
    guard let response else { return }
    httpStatus = response.status
    etag = response.validators.etag
    lastModified = response.validators.lastModified
    generated = generated ?? response.lastModified ?? response.date
  }
}
