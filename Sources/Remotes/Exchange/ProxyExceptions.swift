// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The hosts of the variable `NO_PROXY`, separated by commas or blanks: names, which hold for what is below them too,
/// addresses, networks such as `10.0.0.0/8`, each with a port where only that is meant, and `*` for everything.
struct ProxyExceptions {
  private let entries: [Substring]
  private let text: String

  init(_ text: String) {
    self.text = text.lowercased()
    entries = self.text.split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  /// Whether a host is reached without a proxy.
  func contains(host: String, port: Int) -> Bool {
    // With its dot at the end a name is the same one.
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

  /// Addresses and networks of one family, compared bit by bit.
  private static func holds(_ pattern: Substring, for bytes: [UInt8]) -> Bool {
    let words = pattern.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count <= 2, let first = words.first, let network = self.bytes(String(first)),
      network.count == bytes.count
    else { return false }
    guard words.count == 2 else { return network == bytes }
    guard let bits = Int(words[1]), (0...bytes.count * 8).contains(bits) else { return false }
    return (0..<bits).allSatisfy { (bit: Int) -> Bool in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return network[bit / 8] & mask == bytes[bit / 8] & mask
    }
  }

  private static func withoutLastDot(_ name: Substring) -> Substring {
    name.hasSuffix(".") ? name.dropLast() : name
  }

  /// Splits `name:port` and `[address]:port`; an address of IPv6 without brackets has no port.
  private static func parts(_ entry: Substring) -> (pattern: Substring, port: Int?) {
    if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
      let rest = entry[entry.index(after: end)...]
      return (
        entry[entry.index(after: entry.startIndex)..<end], rest.isEmpty ? nil : Int(rest.dropFirst()) ?? -1
      )
    }
    guard let colon = entry.firstIndex(of: ":"), entry.lastIndex(of: ":") == colon else {
      return (entry, nil)
    }
    return (entry[..<colon], Int(entry[entry.index(after: colon)...]) ?? -1)
  }

  /// The bytes of a numeric address; nil for a name.
  private static func bytes(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }
}
