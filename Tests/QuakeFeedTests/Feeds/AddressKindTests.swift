import Basics
import Testing

/// How near to this machine an address lies.
@Suite struct AddressKindTests {
  @Test(
    arguments: [
      (
        .everywhere,
        [
          "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "169.253.1.1", "2606:4700::1111",
          "2a00::1", "[2a00::1]", "64:ff9b::101:101",
        ]
      ),
      (
        .privateNetwork,
        [
          "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1",
          "203.0.113.9", "224.0.0.1", "255.255.255.255", "fc00::1", "fd12::1", "ff02::1",
          "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
        ]
      ),
      (.link, ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1", "::ffff:169.254.169.254"]),
      (
        .loopback,
        [
          "127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "::1", "::", "[::1]", "::ffff:127.0.0.1",
          "::127.0.0.1",
        ]
      ),
    ] as [(AddressKind, [String])])
  func eachAddressIsOfItsKind(kind: AddressKind, addresses: [String]) {
    for address in addresses { #expect(AddressKind(address) == kind, "\(address)") }
  }

  @Test func invalidAddressesHaveNoKind() {
    for text in ["", "localhost", "1.2.3", "1.2.3.4.5", ":::"] { #expect(AddressKind(text) == nil) }
  }
}
