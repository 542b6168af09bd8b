import CommandLine
import QuakeFeed

extension ParsedArguments {
  /// Reads a feed from an option's value or an argument, and resolves the secrets that it names. If the value
  /// itself contains secrets, it is overwritten in the process list, where other users could read it.
  ///
  /// - Parameters:
  ///   - written: The value as written on the command line or in the file.
  ///   - template: The part of it that names the feed; nil: all of it.
  ///   - option: The option's name; nil: it is an argument.
  func secretText(
    _ written: String, template: String? = nil, option: String?
  ) throws(UsageError) -> SecretText {
    let template = template ?? written
    if FeedURL.holdsSecret(template) { ProcessArguments.hide(written) }
    guard let option else { return try SecretText(template, in: "argument", of: title) }
    let place = place(of: written, for: option).map { "\($0): key '\(option)'" }
    return try SecretText(template, in: place ?? "option --\(option)", of: title)
  }
}
