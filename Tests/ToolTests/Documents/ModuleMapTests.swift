import Foundation
import TestSupport
import Testing

/// The map of modules in ARCHITECTURE.md is generated from Package.swift; QUAKE_WRITE_DOCS=1 writes
/// it.
@Suite struct ModuleMapTests {
  /// The modules from the highest layer to the lowest. An arrow points down, or to the right within
  /// a layer.
  private static let layers: [(name: String, modules: [String])] = [
    ("tools", ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"]),
    ("for tools and programs", ["QuakeServer", "QuakeStore", "QuakeTool", "QuakeSinks"]),
    (
      "the store",
      [
        "QuakeConsumers", "QuakeWorker", "QuakeImport", "QuakeQuery", "QuakeHistory", "QuakeSchema",
      ]
    ),
    (
      "beside the store",
      ["QuakeFeed", "QuakeFormat", "QuakeClient", "QuakeSimulator", "EmbeddedPostgres"]
    ),
    ("ground", ["QuakeModel", "Postgres", "CommandLine"]),
    ("lowest", ["Simdjson", "Basics"]),
  ]

  private static let order = layers.flatMap(\.modules)
  private static let begin = "<!-- modules -->"
  private static let end = "<!-- /modules -->"

  /// The dependencies of each target of Package.swift, without modules in C.
  private static let dependencies = Result { try readDependencies() }

  private static func readDependencies() throws -> [String: Set<String>] {
    // A scratch folder of its own: the package's is in use by the process that runs this test.
    let folder = try TemporaryFolder()
    let swift = try Tools.shell(
      "swift package --package-path '\(Tools.package)' --scratch-path '\(folder.path)' dump-package",
      environment: ["HOME": folder.path], folder: folder.path
    ).requireSuccess()
    let package = try #require(
      JSONSerialization.jsonObject(with: Data(swift.output.utf8)) as? [String: Any])
    var result: [String: Set<String>] = [:]
    for target in try #require(package["targets"] as? [[String: Any]]) {
      let name = try #require(target["name"] as? String)
      let names = (target["dependencies"] as? [[String: Any]] ?? []).compactMap {
        ($0["byName"] as? [Any])?.first as? String
      }
      result[name] = Set(names.filter { !isWrittenInC($0) })
    }
    return result
  }

  private static func isWrittenInC(_ module: String) -> Bool {
    let letters = Array(module.prefix(2))
    return letters.count == 2 && letters[0] == "C" && letters[1].isUppercase
  }

  @Test func everyModuleHasALayerAndNoArrowPointsUp() throws {
    let dependencies = try Self.dependencies.get()
    for (module, needed) in dependencies where Self.order.contains(module) {
      for other in needed {
        let places = (Self.order.firstIndex(of: module), Self.order.firstIndex(of: other))
        guard case (let place?, let otherPlace?) = places else {
          Issue.record("\(other) has no layer")
          continue
        }
        #expect(place < otherPlace, "\(module) → \(other) points up")
      }
    }
    let sources = try FileManager.default.contentsOfDirectory(atPath: Tools.package + "/Sources")
    let missing = sources.filter { !Self.isWrittenInC($0) && !Self.order.contains($0) }
    #expect(missing == [])
  }

  @Test func theMapInTheDocumentMatchesThePackage() throws {
    let map = try Self.map(of: Self.dependencies.get())
    let path = Tools.package + "/ARCHITECTURE.md"
    let text = try contents(of: path)
    let first = try #require(text.range(of: Self.begin))
    let last = try #require(text.range(of: Self.end))
    let written = text.replacingCharacters(
      in: first.upperBound..<last.lowerBound, with: "\n" + map + "\n")
    if ProcessInfo.processInfo.environment["QUAKE_WRITE_DOCS"] == "1" {
      try written.write(toFile: path, atomically: true, encoding: .utf8)
    } else {
      #expect(text == written, "QUAKE_WRITE_DOCS=1 writes the map anew")
    }
  }

  /// A diagram in Mermaid's language. An arrow that follows from two others is left out.
  private static func map(of dependencies: [String: Set<String>]) -> String {
    func reachable(from module: String) -> Set<String> {
      let direct = dependencies[module] ?? []
      return direct.reduce(into: direct) { $0.formUnion(reachable(from: $1)) }
    }
    var lines = ["```mermaid", "flowchart TD"]
    for (number, layer) in layers.enumerated() {
      lines.append("  subgraph floor\(number) [\(layer.name)]")
      lines += layer.modules.map { "    \($0)" }
      lines.append("  end")
    }
    for module in order {
      let direct = dependencies[module] ?? []
      let indirect = direct.reduce(into: Set<String>()) { $0.formUnion(reachable(from: $1)) }
      for other in order where direct.contains(other) && !indirect.contains(other) {
        lines.append("  \(module) --> \(other)")
      }
    }
    return (lines + ["```"]).joined(separator: "\n")
  }

  @Test func eachModuleDeclaresExactlyWhatItImports() throws {
    let dependencies = try Self.dependencies.get()
    let program: Set = ["test-probe"]  // tests start it
    for (module, declared) in dependencies {
      guard let folder = try folder(of: module) else { continue }
      var imported: Set<String> = []
      for file in try swiftFiles(in: folder) {
        let text = try contents(of: Tools.package + "/" + file)
        imported.formUnion(
          text.matches(of: /(?m)^(?:[@a-z_ ]+ )?import (\w+)$/).map { String($0.1) })
      }
      imported = imported.intersection(dependencies.keys).filter { !Self.isWrittenInC($0) }
      #expect(imported == declared.subtracting(program), "\(module)")
    }
  }

  /// The folder of a module's sources; nil if it has none in Swift.
  private func folder(of module: String) throws -> String? {
    let folders = [
      "Sources/\(module)", "Tests/\(module)", module == "quake-bench" ? "Benchmarks" : nil,
    ]
    return folders.compactMap(\.self).first {
      FileManager.default.fileExists(atPath: Tools.package + "/" + $0)
    }
  }

  /// The paths of the files below a folder, from the package's folder on.
  private func swiftFiles(in folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: Tools.package + "/" + folder)
      .filter { $0.hasSuffix(".swift") }.map { folder + "/" + $0 }
  }
}
