import Dispatch
import QuakeStore

/// Runs a blocking call on a thread of Dispatch, so that it occupies none of the threads that tasks
/// share.
func blocking<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async {
      continuation.resume(with: Result { try body() })
    }
  }
}

/// Imports a bulletin from a task. The connection is made, used and closed on one thread.
func importBulletin(_ text: String, into settings: ConnectionSettings) async throws -> Int64 {
  try await blocking {
    let connection = try Connection(settings)
    return try importBulletin(text, over: connection).inserted
  }
}
