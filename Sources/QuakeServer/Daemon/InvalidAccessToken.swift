public import Basics

/// A token is not of the form `NAME:HASH`. The message does not show it.
public struct InvalidAccessToken: ExplainedError {
  /// What failed.
  public let message = "an edit token is not of the form NAME:HASH"
  /// The form.
  public let detail: String? = "The hash is the SHA-256 of the token, as 64 hexadecimal digits."
  /// What to do.
  public let hint: String? =
    "Make one with: printf %s \"$TOKEN\" | sha256sum"
  /// The operator's mistake.
  public let category = ErrorCategory.usage
}
