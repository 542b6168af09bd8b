/// The error that `body` throws; nil: it throws none.
package func thrown<Failure: Error>(by body: () throws(Failure) -> Void) -> Failure? {
  do throws(Failure) {
    try body()
    return nil
  } catch {
    return error
  }
}
