package import Basics

/// How messages are posted to a receiver.
package struct WebhookPlan: SinkPlan {
  package let url: ReceiverURL
  /// How messages are written.
  package var form = MessageForm.json(nil)
  /// Whether the body is an array, also of a single message: a consumer with batches.
  package var isBatch = false
  /// The keys that sign; empty: requests are not signed.
  package var keys: [WebhookKey] = []
  /// Header fields to send, such as `Authorization: Bearer ...`. They are secrets.
  package var headers: [String] = []
  /// Whether the body is compressed with gzip.
  package var compresses = false
  /// The most time for a connection, with name resolution and TLS.
  package var connectTimeout = Duration.seconds(10)
  /// The most time for the whole request.
  package var timeout = Duration.seconds(30)
  /// Whether redirects are followed from https to http, to an address that is nearer to this machine than the server
  /// that redirects, and to another host with `headers`.
  package var trustsRedirects = false
  /// Whether libcurl may use a proxy from the environment (`Environment.namesProxy`). The address of a connection is
  /// then that of the proxy, and only literal addresses in redirects are checked.
  package var mayUseProxy = false
  /// A PEM file with the certificate authorities to trust instead of the system's.
  package var certificateAuthorityFile: String?
  package var userAgent = "quake-watch"
  /// Determines the kind of an address. Tests replace it, because all their addresses are loopback ones.
  package var addressKind: @Sendable (String) -> AddressKind? = { AddressKind($0) }

  /// The most redirects that are followed.
  static let mostRedirects = 5

  package init(_ url: ReceiverURL) {
    self.url = url
  }

  package var shown: String { "webhook \(url.shown)" }

  package func sink(in loop: CurlLoop) -> any Sink { WebhookSink(self, loop: loop) }
}
