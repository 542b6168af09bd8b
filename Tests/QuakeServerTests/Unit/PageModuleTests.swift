import Foundation
import TestSupport
import Testing

/// The modules of the page that need no browser, in node.
@Suite struct PageModuleTests {
  private static let node = ["/usr/bin/node", "/usr/local/bin/node"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(.enabled(if: node != nil, "could not find node (Debian: apt-get install nodejs)"))
  func modulesWithoutABrowserWork() throws {
    let node = try #require(Self.node)
    let folder = Tools.package + "/Tests/QuakeServerTests/Unit/Page"
    let outcome = try Tools.shell("'\(node)' --test --test-reporter=tap *.test.mjs", folder: folder)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains(#/# pass [1-9]/#), "no test ran: \(outcome.output)")
  }
}
