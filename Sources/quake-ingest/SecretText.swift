import CommandLine
import Glibc
import QuakeFeed
import QuakeTool

/// A value of an option that may refer to secrets instead of containing them: `${NAME}` for an environment
/// variable, `${file:PATH}` for the contents of a file, `${credential:NAME}` for a credential that systemd
/// passes to a service.
struct SecretText {
  /// The value with the secrets inserted.
  let text: String
  /// The secrets that it refers to.
  let secrets: [String]

  private static let longest = 4096

  /// - Parameter place: The location of the value, for errors: `option --feed`, or `FILE:LINE: key 'feed'`.
  /// - Throws: `UsageError` for a name that is not set. It contains the name, never a value.
  init(_ template: String, in place: String, of command: String) throws(UsageError) {
    var text = ""
    var secrets: [String] = []
    var rest = Substring(template)
    while let start = rest.firstRange(of: "${") {
      let name = rest[start.upperBound...].prefix { $0 != "}" }
      guard name.endIndex < rest.endIndex else {
        throw UsageError("\(place): a \"${\" has no \"}\"", command: command)
      }
      let value: String
      do throws(Missing) {
        value = try Self.value(of: name)
      } catch {
        throw UsageError("\(place): \(error.text)", command: command)
      }
      text += rest[..<start.lowerBound]
      // A secret that is a whole URL is not hidden as a whole; its own secret parts are.
      if !text.isEmpty || !value.contains("://") { secrets.append(value) }
      text += value
      rest = rest[rest.index(after: name.endIndex)...]
    }
    self.text = text + rest
    self.secrets = secrets
  }

  /// A value without references to secrets.
  init(_ text: String) {
    self.text = text
    secrets = []
  }

  private struct Missing: Error {
    let text: String
  }

  private static func value(of name: Substring) throws(Missing) -> String {
    if let path = name.removingPrefix("file:") {
      return try contents(of: String(path), called: "the file \"\(path)\"")
    }
    if let credential = name.removingPrefix("credential:") {
      guard !credential.isEmpty, !credential.contains("/"), credential != ".." else {
        throw Missing(text: "\"\(credential)\" is not the name of a credential")
      }
      guard let folder = Environment.value("CREDENTIALS_DIRECTORY"), !folder.isEmpty else {
        throw Missing(
          text: "it names the credential \"\(credential)\", but CREDENTIALS_DIRECTORY is not set")
      }
      return try contents(
        of: "\(folder)/\(credential)", called: "the credential \"\(credential)\"")
    }
    let isName =
      name.first.map { $0.isLetter || $0 == "_" } == true
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard isName else {
      throw Missing(text: "expected ${NAME}, ${file:PATH} or ${credential:NAME}")
    }
    guard let value = Environment.value(String(name)), !value.isEmpty else {
      throw Missing(text: "the environment variable \(name) is not set")
    }
    return try checked(value, called: "the environment variable \(name)")
  }

  private static func contents(of path: String, called name: String) throws(Missing) -> String {
    var text: [UInt8]
    do throws(AtomicFile.SystemError) {
      guard let bytes = try AtomicFile(path).read(atMost: longest + 3) else {
        throw .refused(ENOENT)
      }
      text = bytes
    } catch {
      throw Missing(text: "could not read \(name): \(error)")
    }
    while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
    guard let value = String(validating: text, as: UTF8.self) else {
      throw Missing(text: "\(name) does not hold text in UTF-8")
    }
    return try checked(value, called: name)
  }

  /// Rejects line breaks, which would end the value, and spaces, which would end a URL.
  private static func checked(_ value: String, called name: String) throws(Missing) -> String {
    guard !value.isEmpty else { throw Missing(text: "\(name) is empty") }
    guard value.utf8.count <= longest else {
      throw Missing(text: "\(name) has more than \(longest) bytes")
    }
    guard value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw Missing(text: "\(name) holds a space, a line break or another control character")
    }
    return value
  }
}

extension Substring {
  fileprivate func removingPrefix(_ prefix: String) -> Substring? {
    hasPrefix(prefix) ? dropFirst(prefix.count) : nil
  }
}

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
