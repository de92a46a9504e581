// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Remotes

@Suite struct AddressTests {
  @Test(arguments: [
    ("https://Host.Example", "https://host.example", "host.example"),
    ("HTTPS://host.example:8443/a/b//", "https://host.example:8443/a/b", "host.example:8443"),
    ("https://host.example/", "https://host.example", "host.example"),
    ("https://host.example/a%20b", "https://host.example/a%20b", "host.example"),
    ("http://127.0.0.1:80", "http://127.0.0.1:80", "127.0.0.1:80"),
  ])
  func aServerAddressIsNormalised(_ text: String, _ expected: String, _ host: String) throws {
    let address = try RemoteAddress(text, allowsPlainHTTP: false)
    #expect(address.text == expected && address.host == host)
  }

  @Test(arguments: [
    ("https://host.example", "http://host.example/", true),
    ("https://host.example:443", "https://host.example", true),
    ("https://host.example/anna", "https://host.example/anna/", true),
    ("https://host.example/anna", "https://host.example/ben", false),
    ("https://host.example/anna", "https://host.example", false),
    ("https://host.example:8443", "https://host.example", false),
    ("https://a.example", "https://b.example", false),
  ])
  func addressesAreOfOneSiteIfHostPortAndPathAreEqual(_ one: String, _ other: String, isSame: Bool) throws {
    let (one, other) = (
      try RemoteAddress(one, allowsPlainHTTP: true), try RemoteAddress(other, allowsPlainHTTP: true)
    )
    #expect(one.isSameSite(as: other) == isSame && other.isSameSite(as: one) == isSame)
  }

  @Test(arguments: ["http://localhost:1", "http://127.0.0.1", "http://127.255.3.4/x", "http://[::1]:8080"])
  func unencryptedHTTPIsPermittedToThisComputer(_ text: String) throws {
    #expect(try !RemoteAddress(text, allowsPlainHTTP: false).isEncrypted)
  }

  @Test(arguments: [
    "http://host.example", "http://128.0.0.1", "http://127.0.0.1.example.org", "http://localhost.example.org",
    "http://0.0.0.0", "http://[::2]", "http://10.0.0.1:8080", "http://127.1",
  ])
  func unencryptedHTTPToOtherComputersNeedsAnOption(_ text: String) throws {
    let failure = #expect(throws: Failure.self) { try RemoteAddress(text, allowsPlainHTTP: false) }
    #expect(failure?.category == .configuration)
    #expect(failure?.message.contains("--insecure-http") == true)
    #expect(try !RemoteAddress(text, allowsPlainHTTP: true).isEncrypted)
  }

  @Test(arguments: [
    "", "host.example", "ftp://host.example", "https://", "https:///path", "https://host:99999",
    "https://ho st",
    "https://anna:s3cret@host.example", "https://s3cret@host.example", "https://host.example/?token=s3cret",
    "https://host.example/#s3cret",
  ])
  func anInvalidServerAddressIsRefusedWithoutQuotingIt(_ text: String) throws {
    let failure = #expect(throws: Failure.self) { try RemoteAddress(text, allowsPlainHTTP: true) }
    #expect(failure?.category == .configuration)
    #expect(failure?.message.contains("s3cret") == false)
    #expect(failure?.message.contains("the port") == (text == "https://host:99999"))
  }
}
