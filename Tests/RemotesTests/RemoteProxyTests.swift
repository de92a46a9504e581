// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Remotes

/// Tests which proxy the environment variables name for a remote.
@Suite struct RemoteProxyTests {
  private func proxy(_ variables: [String: String], _ url: String = "https://sync.example.org") throws
    -> String?
  {
    let address = try RemoteAddress(url, allowsPlainHTTP: true)
    return try RemoteProxy(for: address) { variables[$0] }.map { "\($0)" }
  }

  @Test func theLowerCaseProxyVariableOfTheSchemeHasPrecedence() throws {
    #expect(try proxy([:]) == nil)
    #expect(try proxy(["HTTPS_PROXY": "http://a:1"]) == "http://a:1")
    #expect(try proxy(["https_proxy": "http://b:1", "HTTPS_PROXY": "http://a:1"]) == "http://b:1")
    #expect(try proxy(["HTTPS_PROXY": "http://a:1", "all_proxy": "http://b:1"]) == "http://a:1")
    #expect(try proxy(["ALL_PROXY": "socks5://b"]) == "socks5://b:1080")
    #expect(try proxy(["HTTPS_PROXY": " "]) == nil)
    #expect(try proxy(["HTTP_PROXY": "http://a:1"]) == nil)
  }

  @Test func aProxyAddressMayBeWrittenInSeveralForms() throws {
    #expect(try proxy(["HTTPS_PROXY": "a:3128"]) == "http://a:3128")
    #expect(try proxy(["HTTPS_PROXY": "http://a/"]) == "http://a:80")
    #expect(try proxy(["HTTPS_PROXY": "http://[::1]:3128"]) == "http://[::1]:3128")
    #expect(try proxy(["HTTPS_PROXY": "socks5h://a:1"]) == "socks5://a:1")
    let address = try RemoteAddress("https://sync.example.org", allowsPlainHTTP: false)
    let found = try #require(try RemoteProxy(for: address) { ["https_proxy": "http://me:a%40b@h:1"][$0] })
    #expect(found.login?.user == "me" && found.login?.password == "a@b")
    #expect(!"\(found)\(String(reflecting: found))".contains("me"))
    #expect(Mirror(reflecting: found).children.isEmpty)
  }

  @Test(arguments: [
    "https://u:SECRET@a:1", "http://u:SECRET@", "socks4://SECRET", "socks5://u:SECRET@a:1",
    "http://SECRET:70000",
    // These passwords contain a character that ends the host in a URL. The text before it would be read as
    // host and port.
    "http://SECRET:80/x@a:1", "http://u:80/SECRET@a:1", "http://u:80#SECRET@a:1", "http://u:80?SECRET@a:1",
    "http://u:SECRET/x@a:1", "http://u:SECRET#x@a:1", "SECRET:80/x", "http://a:1/SECRET", "http://a:1?SECRET",
    "http://SECRET%0Aa:1", "http://SECRET%20a:1", "http://SECRET%1Ba:1", "http://SECRET a:1",
    "http:///SECRET",
    "http://SECRET:0", "ftp://SECRET:1", "http://[SECRET:1",
  ])
  func anUnusableProxyIsRefusedWithoutQuotingIt(_ text: String) throws {
    #expect {
      _ = try proxy(["https_proxy": text])
    } throws: { error in
      guard let failure = error as? Failure else { return false }
      return failure.category == .configuration && failure.message.contains("https_proxy")
        && !failure.message.contains("SEC")
    }
  }

  @Test func theProxyPasswordIsDecodedAndNeverShown() throws {
    let address = try RemoteAddress("https://sync.example.org", allowsPlainHTTP: false)
    for (text, user, password) in [
      ("http://SECUSER:SECPASS@h:1", "SECUSER", "SECPASS"), ("SECUSER:SEC%2FPASS@h:1", "SECUSER", "SEC/PASS"),
      ("http://SECUSER@h:1", "SECUSER", ""), ("http://SECUSER:@h:1/", "SECUSER", ""),
      ("http://SEC%40USER:SEC%23%3F%25@h:1", "SEC@USER", "SEC#?%"),
      ("http://SECUSER:SEC:P@h:1", "SECUSER", "SEC:P"),
    ] {
      let proxy = try #require(try RemoteProxy(for: address) { ["HTTPS_PROXY": text][$0] }, "\(text)")
      #expect(proxy.login?.user == user && proxy.login?.password == password, "\(text)")
      #expect(proxy.description == "http://h:1" && proxy.debugDescription == "http://h:1")
      var dumped = ""
      dump(proxy, to: &dumped)
      #expect(!"\(dumped)\(String(reflecting: proxy))\([proxy])".contains("SEC"), "\(dumped)")
    }
  }

  @Test func aProxyExceptionHasPrecedenceOverAnUnusableProxy() throws {
    let variables = ["HTTPS_PROXY": "ftp://x", "NO_PROXY": "sync.example.org"]
    #expect(try proxy(variables) == nil)
    #expect(throws: Failure.self) { try proxy(variables, "https://other.example.org") }
  }

  @Test func theDefaultPortOfARemoteDependsOnItsScheme() throws {
    let variables = [
      "ALL_PROXY": "socks5://a:1", "NO_PROXY": "one.example:443,two.example:80,three.example:8443",
    ]
    #expect(try proxy(variables, "https://one.example") == nil)
    #expect(try proxy(variables, "http://one.example") == "socks5://a:1")
    #expect(try proxy(variables, "http://two.example") == nil)
    #expect(try proxy(variables, "https://two.example") == "socks5://a:1")
    #expect(try proxy(variables, "https://three.example:8443/x") == nil)
    #expect(try proxy(variables, "https://three.example") == "socks5://a:1")
  }

  @Test func thisComputerIsReachedWithoutAProxy() throws {
    let plain = "http://sync.example.org"
    #expect(try proxy(["HTTPS_PROXY": "http://a:1"], plain) == nil)
    #expect(try proxy(["ALL_PROXY": "http://a:1"], plain) == nil)
    #expect(try proxy(["ALL_PROXY": "socks5://a:1"], plain) == "socks5://a:1")
    for host in ["localhost", "127.0.0.1:8077", "127.9.9.9", "[::1]:8077"] {
      for scheme in ["http", "https"] {
        #expect(
          try proxy(["HTTPS_PROXY": "http://a:1", "ALL_PROXY": "socks5://a"], "\(scheme)://\(host)") == nil)
      }
    }
  }

  @Test(
    arguments: [
      ("*", "a.org", true), ("a.org", "a.org", true), ("A.org", "a.ORG", true), (".a.org", "a.org", true),
      ("*.a.org", "b.a.org", true), ("a.org", "b.a.org", true), ("a.org", "ba.org", false),
      ("a.org", "a.org.b", false), ("", "a.org", false), (".", "a.org", false), ("x, a.org", "a.org", true),
      ("x a.org", "a.org", true), ("a.org:443", "a.org", true), ("a.org:80", "a.org", false),
      ("a.org:x", "a.org", false), ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1:443", "10.0.0.1", true),
      ("10.0.0.1", "10.0.0.11", false), ("10.0.0.0/8", "10.9.9.9", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
      ("0.0.0.0/0", "9.9.9.9", true), ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/x", "10.0.0.0", false),
      ("0.1", "10.0.0.1", false), ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe00::1", false),
      ("::1", "0:0::1", true), ("[fd00::1]:443", "fd00::1", true), ("[fd00::1]:80", "fd00::1", false),
      ("[fd00::1]", "fd00::1", true), ("10.0.0.0/8", "a.org", false),
      // A dot at the end does not change a name.
      ("a.org", "a.org.", true), ("a.org.", "a.org", true), (".a.org.", "b.a.org.", true),
      ("..", "a.org", false),
      ("*.", "a.org", false), ("a.org", "a.org..", false), ("*.a.org", "a.org", true), ("org", "a.org", true),
      ("rg", "a.org", false), ("10.0.0.0/0", "9.9.9.9", true), ("10.0.0.0/8/8", "10.0.0.0", false),
      ("10.0.0.0/", "10.0.0.0", false), ("10.0.0.0/-1", "10.0.0.0", false), ("10.0.0.5/32", "10.0.0.5", true),
      ("10.0.0.5/32", "10.0.0.4", false), ("10.0.0.4/31", "10.0.0.5", true),
      ("10.0.0.4/31", "10.0.0.6", false),
      ("10.0.0.0/8:443", "10.1.1.1", true), ("10.0.0.0/8:80", "10.1.1.1", false),
      ("fd00::/8", "10.0.0.1", false),
      ("0.0.0.0/0", "fd00::1", false), ("::/0", "10.0.0.1", false), ("::/0", "fd00::1", true),
      ("fd00::1/128", "fd00::1", true), ("fd00::1/128", "fd00::2", false), ("fd00::/129", "fd00::1", false),
      ("[fd00::1", "fd00::1", false), ("a.org:443:443", "a.org", false), (":443", "a.org", false),
      // The exceptions are networks of IPv6, with and without brackets and ports.
      ("[fd00::]/8", "fd12::1", true), ("[fd00::]/8", "fe00::1", false), ("[fd00::]/8:443", "fd12::1", true),
      ("[fd00::]/8:80", "fd12::1", false), ("[fd00::]/8:", "fd12::1", false), ("[fd00::]8", "fd00::8", false),
      ("[fd00::]/", "fd00::", false), ("[fd00::]/443", "fd00::", false), ("[fd00::1]x", "fd00::1", false),
      ("[fd00::1]:", "fd00::1", false), ("[fd00::/8]", "fd12::1", true), ("[fd00::/8]:443", "fd12::1", true),
      ("[fd00::/8]:80", "fd12::1", false), ("FD00::/8", "fd12::1", true), ("fd00::1", "FD00:0::1", true),
      ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
      ("[10.0.0.1]", "10.0.0.1", true), ("10.0.0.0/+8", "10.0.0.1", false),
      ("10.0.0.1:+443", "10.0.0.1", false),
      // An IPv4 address and the same address mapped to IPv6 are one host.
      ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.1", "10.0.0.1", true),
      ("10.0.0.0/8", "::ffff:11.1.1.1", false), ("::/0", "::ffff:10.0.0.1", false),
      ("10.0.0.1/8", "10.9.9.9", true), ("10.0.0.0/8", "010.1.1.1", false),
      ("a.org\nb.org", "b.org", true), (" , ,", "a.org", false), ("*:443", "a.org", false),
      ("**", "a.org", false),
      ("\ta.org", "a.org", true), ("b.org,,a.org", "a.org", true), ("b.org;a.org", "a.org", false),
    ] as [(String, String, Bool)])
  func aProxyExceptionAppliesToItsHosts(_ text: String, _ host: String, _ isExcepted: Bool) {
    #expect(ProxyExceptions(text).contains(host: host, port: 443) == isExcepted)
  }
}
