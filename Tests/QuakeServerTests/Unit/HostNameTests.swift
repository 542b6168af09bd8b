import Testing

@testable import QuakeServer

/// The names under which a server answers.
@Suite struct HostNameTests {
  private func accepts(_ listen: String, _ url: String?, _ host: String, _ isHealth: Bool) throws
    -> Bool
  {
    let address = try #require(ListenAddress(listen))
    return HostNames(listen: address, publicURL: url).accept(HostAddress(host), isHealth: isHealth)
  }

  @Test func elsewhereTheNameIsThatOfThePublicAddressIfItIsGiven() throws {
    #expect(try accepts(":80", nil, "any.example", false))
    #expect(try accepts("0.0.0.0:80", nil, "any.example", false))
    let url = "https://quakes.example.org"
    #expect(try accepts(":80", url, "quakes.example.org", false))
    #expect(try accepts(":80", url, "127.0.0.1:80", false))
    #expect(try !accepts(":80", url, "10.0.0.7:80", false))
    // As a load balancer asks.
    #expect(try accepts(":80", url, "10.0.0.7:80", true))
  }

  @Test func onLoopbackOthersAreRefusedForEveryRequest() throws {
    for listen in ["127.0.0.1:80", "[::1]:80", "localhost:80", "127.0.1.1:80"] {
      #expect(try !accepts(listen, nil, "evil.example", true), "\(listen)")
      #expect(try accepts(listen, nil, "localhost", false), "\(listen)")
    }
  }

  @Test func addressesAreComparedAndNotTheirTexts() throws {
    let url = "http://[2001:DB8::1]:8080/x"
    for host in ["[2001:db8:0:0:0:0:0:1]", "[2001:db8::1]:80", "[::ffff:7f00:1]", "127.0.0.1"] {
      #expect(try accepts(":80", url, host, false), "\(host)")
    }
    for host in ["[2001:db8::2]", "2001:db8::1", "[2001:db8::1]x", "[127.0.0.1]", "127.0.0.01"] {
      #expect(try !accepts(":80", url, host, false), "\(host)")
    }
    #expect(try accepts("[0:0:0:0:0:0:0:1]:80", nil, "[::1]", false))
    #expect(try !accepts("[0:0:0:0:0:0:0:1]:80", nil, "evil.example", false))
    // An address that cannot be read names nobody.
    #expect(try !accepts(":80", "http://a b", "any.example", false))
    #expect(try !accepts("127.0.0.1:80", nil, "", false))
  }

  @Test func portsAreNumbersOfPorts() {
    #expect(HostAddress("a:65535")?.port == 65_535)
    #expect(HostAddress("127.0.0.1.") == HostAddress("127.0.0.1") && HostAddress("a..") == nil)
    #expect(HostAddress("a")?.port == 80 && HostAddress(" a:\t")?.port == 80)
    for text in ["a:65536", "a:-1", "a:+1", "a:1 ", "a:1x", "a:0x1", "a:1:1", ":80", ""] {
      #expect((HostAddress(text) == nil) == (text != "a:1 "), "\(text)")
    }
  }

  @Test(arguments: ["[::1]:80", "localhost:80", ":0", "127.0.0.1:65535"])
  func anAddressToListenOnIsWrittenAsItIsRead(text: String) throws {
    #expect(ListenAddress(text)?.description == text)
  }

  @Test(arguments: [
    "[[::1]]:80", "[localhost:80", "a]:80", "::1:80", "80", "a:", "a:65536", "a:+1",
  ])
  func whatIsNoAddressToListenOnIsRefused(text: String) {
    #expect(ListenAddress(text) == nil)
  }
}
