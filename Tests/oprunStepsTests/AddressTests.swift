// Which addresses are not the public internet, however they are written.

import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct AddressTests {
  @Test(arguments: [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.9",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.168.1.1", "198.18.0.1",
    "198.19.255.255", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::", "100::1",
    "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", "::ffff:0:169.254.169.254", "::0.1.2.3", "::2",
    "64:ff9b:1:a00::1", "64:ff9b:1:808:8:800::", "2002:a9fe:a9fe::1", "2001:0:808:808::f5ff:fffe",
    "2a00::5efe:10.0.0.1", "2a00::200:5efe:127.0.0.1",
    "fe80::5efe:8.8.8.8", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    "2001:db8::1",
  ])
  func `an address that is not public is told`(text: String) throws {
    #expect(try #require(Address(text)).reservation != nil)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "128.0.0.1",
    "172.15.255.255", "172.32.0.0", "192.169.0.1", "223.255.255.255", "2606:4700::1111",
    "::ffff:0:1.1.1.1", "2a00::5efe:1.1.1.1", "2a00::100:5efe:127.0.0.1", "2a00::10.0.0.1",
    "::1.1.1.1",
    "64:ff9c::127.0.0.1", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1", "2a00::1",
    "fbff::1",
  ])
  func `a public one is not`(text: String) throws {
    #expect(try #require(Address(text)).reservation == nil)
  }

  @Test func `hosts are allowed whole, with their port`() throws {
    var policy = AddressPolicy()
    policy.allowedHosts = ["images.example:8080"]
    let endpoint = Endpoint(try #require(Address("10.0.0.1")), port: 8080)
    #expect(policy.objection(to: endpoint, for: "images.example:8080") == nil)
    for authority in ["images.example:80", "images.example.evil:8080", "evil:8080"] {
      #expect(policy.objection(to: endpoint, for: authority) == "a private address")
    }
  }

  @Test(
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("0x7f.1", "127.0.0.1"),
      ("2130706433", "127.0.0.1"), ("%30x7f.1", "127.0.0.1"), ("localhost", "127.0.0.1"),
      ("a.LocalHost.", "127.0.0.1"), ("010.1", "8.0.0.1"), ("::1", "::1"),
      ("\u{ff11}27\u{3002}0.\u{2070}.\u{2460}", "127.0.0.1"), ("\u{ff4c}ocalhost", "127.0.0.1"),
      ("localhost.example", nil), ("images.example", nil), ("127.0.0.1.example", nil), ("", nil),
    ] as [(String, String?)])
  func `a host that needs no name service is an address`(host: String, expected: String?) {
    #expect(Address(host: host)?.text == expected)
  }

  @Test func `the parts of a URL are those that will be connected to`() {
    #expect(WebAddress("http://example.com@evil.test/x")?.authority == "evil.test:80")
    #expect(WebAddress("https://Example.COM/a%20b?c#d")?.authority == "example.com:443")
    #expect(WebAddress("http://[::1]:81/")?.authority == "::1:81")
    #expect(WebAddress("http://0x7f.1/")?.host == "127.0.0.1")
    #expect(WebAddress("http://user:secret@a/b?c=d#e")?.shown == "http://a/b?c=d")
    #expect(WebAddress("file:///etc/passwd")?.isWeb == false)
    #expect(WebAddress("no url") == nil)
    #expect(WebAddress("http://a\u{0}b/") == nil)
  }

  @Test func `a name from a URL leads nowhere else`() {
    func name(_ url: String) -> String {
      let name = fileName(ofPath: WebAddress(url)?.path ?? "/")
      return "\(name.name)|\(name.ext)"
    }
    #expect(name("http://a/b/photo.one.jpg") == "photo.one|jpg")
    #expect(name("http://a/") == "index|")
    #expect(name("http://a/..%2f..%2fetc%2fpasswd") == "passwd|")
    #expect(name("http://a/%2e%2e") == "_|")
    #expect(name("http://a/.htaccess") == "_htaccess|")
    #expect(name("http://a/%1b%5b31mred.png") == "index|")
    #expect(name("http://a/" + String(repeating: "x", count: 500)).utf8.count == 181)
  }
}
