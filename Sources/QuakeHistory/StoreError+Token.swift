public import Postgres
public import QuakeModel

extension StoreError {
  /// The database's error about a token (SQLSTATE QK001 to QK004); nil for any other error.
  public init?(token error: PostgresError) {
    let problem: TokenProblem
    switch error.sqlState {
    case StoreState.malformedToken: problem = .malformed
    case StoreState.expiredToken: problem = .expired
    case StoreState.divergedToken: problem = .diverged
    case StoreState.futureToken: problem = .future
    default: return nil
    }
    self.init(.token(problem), error.message, detail: error.detail, hint: error.hint)
  }
}
