import Testing

@testable import QuakeServer

/// What one client may do, by its address.
@Suite struct AddressLimitTests {
  private func limits(connections: Int = 0, rate: Double = 0) -> AddressLimits {
    AddressLimits(AddressLimits.Settings(connections: connections, rate: rate))
  }

  @Test func aNetworkOfIPv6CountsAsOneClient() {
    let limits = limits(connections: 2)
    #expect(limits.open("2001:db8:1:1::1") && limits.open("2001:db8:1:1:ffff::2"))
    #expect(!limits.open("2001:db8:1:1::3"))
    #expect(limits.open("2001:db8:1:2::1"))
    limits.close("2001:db8:1:1::1")
    #expect(limits.open("2001:db8:1:1::4"))
    #expect(limits.owner("2001:db8:1:1::1") == limits.owner("2001:db8:1:1:2:3:4:5"))
    #expect(limits.owner("2001:db8:1:1::1") != limits.owner("2001:db8:1:2::1"))
  }

  @Test func anIPv4AddressInIPv6FormIsOneOfIPv4() {
    for text in ["::ffff:192.0.2.1", "::FFFF:c000:201", "192.0.2.1"] {
      #expect(AddressGroup.plain(text) == "192.0.2.1", "\(text)")
    }
    for text in ["::1", "::ffff:0:c000:201", "::c000:201", "2001:db8::1", "fe80::1%eth0", ":", ""] {
      #expect(AddressGroup.plain(text) == text)
    }
  }

  @Test func theNetworksOfASiteHaveALimitInSum() {
    let limits = limits(connections: 2)
    var open = 0
    for network in 0..<100 where limits.open("2001:db8:1:\(network)::1") { open += 1 }
    #expect(open == 2 * AddressGroup.site)
    #expect(limits.open("2001:db8:2::1"))
    // What is closed is free again, in its network and in its site.
    limits.close("2001:db8:1:0::1")
    #expect(limits.open("2001:db8:1:99::1") && !limits.open("2001:db8:1:98::1"))
  }

  @Test func requestsCountLikewise() {
    // A hundred at once, and then ten a second: the loops take less than that.
    let limits = limits(rate: 10)
    func sent(_ address: (Int) -> String) -> Int {
      (0..<2000).count { (try? limits.request(address($0))) != nil }
    }
    let one = sent { _ in "192.0.2.1" }
    #expect(one >= 100 && one < 2000)
    #expect(sent { "2001:db8:1:1::\(String($0, radix: 16))" } < 2000)
    let site = sent { "2001:db8:9:\(String($0, radix: 16))::1" }
    #expect(site >= 100 * AddressGroup.site && site < 2000)
  }

  @Test func anAddressOfIPv4IsAClient() {
    #expect(AddressGroup.groups(of: "192.0.2.7") == [AddressGroup(name: "192.0.2.7", share: 1)])
    #expect(AddressGroup.groups(of: "") == [AddressGroup(name: "", share: 1)])
    #expect(AddressGroup.groups(of: "fe80::1%eth0").count == 2)
    #expect(limits().owner("::1") == "" && limits().owner("127.0.0.1") == "")
  }
}
