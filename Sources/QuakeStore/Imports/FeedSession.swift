internal import Postgres
internal import QuakeFeed
internal import QuakeImport
internal import QuakeModel

/// One import of a feed over a connection, on the thread of the caller.
struct FeedSession {
  private let feed: FeedReference
  private let client: FeedClient
  private let interrupt: () -> Bool

  /// - Parameter program: The program's name, which the servers see.
  init(_ feed: FeedReference, program: String, _ cancellation: ImportCancellation) {
    self.feed = feed
    interrupt = { cancellation.isCancelled }
    client = FeedClient(
      options: FeedClient.Options(userAgent: "quake (\(program))", interrupt: interrupt))
  }

  func run(
    over connection: Connection, _ options: ImportOptions, progress: (Int64) -> Void
  ) throws -> ImportReport {
    let opened = try open()
    var source = opened.source
    var described = options
    described.describe(opened.response)
    let reopen: Importer.Reopen<FeedImportSource> = { _, source, again in
      let opened = try open()
      source = opened.source
      again = options
      again.describe(opened.response)
    }
    return try Importer(connection: connection, options: described)
      .run(
        from: &source, reopen: feed.canBeReadAgain ? reopen : nil, shouldStop: interrupt,
        progress: progress)
  }

  private func open() throws(FeedError) -> (source: FeedImportSource, response: FeedResponse?) {
    var options = FeedReader.Options()
    var response: FeedResponse?
    let body: any ByteSource
    switch feed.location {
    case .file(let path): body = try FileSource(path: path, interrupt: interrupt)
    case .standardInput: body = FileDescriptorSource.standardInput(interrupt: interrupt)
    case .url(let url):
      options.service = DataCentre(url: url.text)
      let answer = try client.open(url: url)
      guard !answer.isEmpty else { return (FeedImportSource(nil), answer) }
      response = answer
      body = answer.body
    }
    let reader = try FeedReader(source: body, name: feed.description, options: options)
    return (FeedImportSource(reader), response)
  }
}
