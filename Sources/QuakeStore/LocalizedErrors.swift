public import Basics
internal import EmbeddedPostgres
public import Postgres
internal import QuakeFeed
internal import QuakeImport
public import QuakeModel
public import QuakeQuery

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Foundation's names for the parts of our errors, so that `localizedDescription` and the alerts of frameworks
/// show them.
extension LocalizedError where Self: ExplainedError {
  /// The message.
  public var errorDescription: String? { message }
  /// The detail.
  public var failureReason: String? { detail }
  /// The hint.
  public var recoverySuggestion: String? { hint }
}

extension DescriptorFailure: LocalizedError {}
extension EmbeddedServerError: LocalizedError {}
extension FeedError: LocalizedError {}
extension ImportRefusal: LocalizedError {}
extension InvalidEdit: LocalizedError {}
extension PostgresError: LocalizedError {}
extension StoreError: LocalizedError {}
