/// Asks a thread for one element at a time. The thread begins with the first `next()` and ends with the
/// iterator.
public struct PullIterator<Element: Sendable>: AsyncIteratorProtocol {
  private let makeSource: PullThread<Element>.MakeSource
  private var handle: PullHandle<Element>?

  init(_ makeSource: @escaping PullThread<Element>.MakeSource) {
    self.makeSource = makeSource
  }

  /// The next element; nil at the end and after an error.
  public mutating func next() async throws -> Element? {
    try await next(isolation: nil)
  }

  /// The next element; nil at the end and after an error.
  public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
    if handle == nil { handle = PullHandle(try PullThread(makeSource)) }
    return try await handle?.thread.next()
  }
}
