// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The hosts in the variable `NO_PROXY`, separated by commas or blanks. An entry is a name, which includes its
/// subdomains, an address, a network such as `10.0.0.0/8` and `fd00::/8`, or `*` for all. Each may have a port. An
/// address of IPv6 may have brackets, and needs them before a port: `[fd00::1]:443`, `[fd00::]/8:443`.
struct ProxyExceptions {
  private let entries: [Substring]

  init(_ text: String) {
    entries = text.lowercased().split { $0 == "," || $0.isWhitespace }
  }

  /// Whether a host is reached without a proxy.
  func contains(host: String, port: Int) -> Bool {
    // A dot at the end does not change a name.
    let name = Self.withoutLastDot(host.lowercased()[...])
    let bytes = Self.bytes(String(name))
    return entries.contains { entry in
      if entry == "*" { return true }
      let (pattern, onlyPort) = Self.parts(entry)
      guard onlyPort == nil || onlyPort == port else { return false }
      guard let bytes else { return Self.holds(pattern, for: name) }
      return Self.holds(pattern, for: bytes)
    }
  }

  private static func holds(_ pattern: Substring, for name: Substring) -> Bool {
    let pattern = withoutLastDot(pattern)
    let domain =
      pattern.hasPrefix("*.") ? pattern.dropFirst(2) : pattern.hasPrefix(".") ? pattern.dropFirst() : pattern
    return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
  }

  /// Compares addresses and networks of one family bit by bit.
  private static func holds(_ pattern: Substring, for bytes: [UInt8]) -> Bool {
    let words = pattern.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count <= 2, let first = words.first, let network = self.bytes(String(first)),
      network.count == bytes.count
    else { return false }
    guard words.count == 2 else { return network == bytes }
    guard let bits = number(words[1]), bits <= bytes.count * 8 else { return false }
    return (0..<bits).allSatisfy { (bit: Int) -> Bool in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return network[bit / 8] & mask == bytes[bit / 8] & mask
    }
  }

  private static func withoutLastDot(_ name: Substring) -> Substring {
    name.hasSuffix(".") ? name.dropLast() : name
  }

  /// Splits `name:port`, `[address]:port` and `[address]/bits:port`. An address of IPv6 without brackets has no port.
  /// An invalid port becomes -1, which matches no host.
  private static func parts(_ entry: Substring) -> (pattern: Substring, port: Int?) {
    if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
      let address = entry[entry.index(after: entry.startIndex)..<end]
      let rest = entry[entry.index(after: end)...]
      let bits = rest.prefix { $0 != ":" }
      // Other text after the bracket would become part of the address.
      guard bits.isEmpty || bits.first == "/" else { return ("", nil) }
      let port = rest.dropFirst(bits.count)
      return (address + bits, port.isEmpty ? nil : number(port.dropFirst()) ?? -1)
    }
    guard let colon = entry.firstIndex(of: ":"), entry.lastIndex(of: ":") == colon else {
      return (entry, nil)
    }
    return (entry[..<colon], number(entry[entry.index(after: colon)...]) ?? -1)
  }

  /// Parses a number of decimal digits without a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(text) : nil
  }

  /// The bytes of a numeric address; nil for a name. A mapped address of IPv4 becomes one of IPv4.
  private static func bytes(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      guard inet_pton(family, text, &bytes) == 1 else { continue }
      return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }
    return nil
  }

  /// The prefix of a mapped address of IPv4 (RFC 4291 §2.5.5.2).
  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
}
