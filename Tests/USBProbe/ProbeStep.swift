// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One exchange of the command line: `NAME=VALUE[:VALUE][@MILLISECONDS]`, bytes as hexadecimal digits.
struct ProbeStep {
  let exchange: LinkOperation
  let milliseconds: Int

  init?(_ argument: String) {
    let timed = argument.split(separator: "@")
    guard let text = timed.first else { return nil }
    milliseconds = timed.count > 1 ? Int(timed[1]) ?? 0 : 2000
    let name = text.prefix { $0 != "=" }
    let values = text.dropFirst(name.count + 1).split(separator: ":", omittingEmptySubsequences: false)
    let bytes = values.first.map(Self.bytes) ?? []
    let number = values.last.flatMap { Int($0) } ?? 0
    switch name {
    case "send": exchange = .send(bytes)
    case "receive": exchange = .receive(maxBytes: number)
    case "feature": exchange = .feature(id: bytes.first ?? 0, maxBytes: number)
    case "set-feature": exchange = .setFeature(bytes)
    case "ask":
      exchange = .controlIn(
        ControlRequest(type: 0xC0, request: bytes.first ?? 0, value: 0, index: 0), maxBytes: number)
    case "command": exchange = .command(bytes, reads: number)
    case "write": exchange = .commandWriting(bytes, values.last.map(Self.bytes) ?? [])
    case "line": exchange = .setLine(LineSettings(baud: UInt32(number)))
    case "discard": exchange = .discard
    default: return nil
    }
  }

  private static func bytes(_ digits: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = digits
    while !rest.isEmpty {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
