import Foundation
import TestSupport
import Testing

/// The DocC catalogues list each public type of the library under a topic.
@Suite struct TopicsTests {
  @Test func eachPublicTypeIsUnderATopic() throws {
    let umbrella = try text("Sources/QuakeStore/QuakeStore.swift")
    let exported = umbrella.matches(of: /@_exported public import (\w+)/).map { String($0.1) }
    try #require(exported.contains("QuakeModel") && exported.contains("QuakeFeed"))
    let store = try topics("QuakeStore")
    for module in exported + ["QuakeStore"] {
      // A module with a catalogue of its own lists its types there, and may list them in the umbrella's.
      let listed = store.union(try topics(module))
      let missing = try publicTypes(of: module).filter { !listed.contains($0) }
      #expect(missing == [], "of \(module)")
    }
  }

  /// The symbols that a module's catalogue lists.
  private func topics(_ module: String) throws -> Set<String> {
    let path = "Sources/\(module)/\(module).docc/\(module).md"
    guard FileManager.default.fileExists(atPath: Tools.package + "/" + path) else { return [] }
    return Set(try text(path).matches(of: /(?m)^- ``(\w+)``$/).map { String($0.1) })
  }

  /// The types that a module declares, without those inside others.
  private func publicTypes(of module: String) throws -> [String] {
    let folder = "Sources/\(module)"
    let files = try FileManager.default.subpathsOfDirectory(atPath: Tools.package + "/" + folder)
      .filter { $0.hasSuffix(".swift") }
    try #require(!files.isEmpty)
    let declaration =
      /(?m)^public (?:final |indirect )?(?:struct|class|enum|protocol|actor|typealias) (\w+)/
    return try files.flatMap {
      try text(folder + "/" + $0).matches(of: declaration).map { String($0.1) }
    }
    .sorted()
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: Tools.package + "/" + path, encoding: .utf8)
  }
}
