// SPDX-License-Identifier: Apache-2.0

import Logbook

extension Transcript {
  /// The first line of every transcript.
  static let title = "glucoport-transcript 1"
  /// The notation for no bytes.
  static let nothing = "-"

  /// The complete text: the head, and one line for each step.
  package var text: String { head + steps.map(Self.line).joined() }

  package var head: String {
    let ids = Self.digits(vendorID, 4) + ":" + Self.digits(productID, 4)
    return "\(Self.title)\ndriver \(driver)\nusb \(ids)\nstarted \(DeviceTime(seconds: startedAt).text)Z\n"
      + (link.map { "link \($0.rawValue)\n" } ?? "") + (isAnonymised ? "anonymised\n" : "")
  }

  /// One step as a line with its line break.
  package static func line(_ step: Step) -> String {
    let outcome =
      switch step.result {
      case .success(let bytes): "= " + hexadecimal(bytes)
      case .failure(let error): "! " + words(error)
      }
    return "\(step.milliseconds) \(words(step.exchange)) \(outcome)\n"
  }

  private static func words(_ exchange: LinkOperation) -> String {
    switch exchange {
    case .send(let bytes): "send \(hexadecimal(bytes))"
    case .receive(let maxBytes): "receive \(maxBytes)"
    case .feature(let id, let maxBytes): "feature \(digits(id, 2)) \(maxBytes)"
    case .setFeature(let bytes): "set-feature \(hexadecimal(bytes))"
    case .controlIn(let request, let maxBytes): "control-in \(words(request)) \(maxBytes)"
    case .controlOut(let request, let bytes): "control-out \(words(request)) \(hexadecimal(bytes))"
    case .command(let bytes, let reads): "command \(hexadecimal(bytes)) \(reads)"
    case .commandWriting(let bytes, let data):
      "command-writing \(hexadecimal(bytes)) \(hexadecimal(data))"
    case .setLine(let line): "set-line \(words(line))"
    case .discard: "discard"
    }
  }

  private static func words(_ request: ControlRequest) -> String {
    "\(digits(request.type, 2)) \(digits(request.request, 2)) \(digits(request.value, 4)) \(digits(request.index, 4))"
  }

  private static func words(_ line: LineSettings) -> String {
    let parity =
      switch line.parity {
      case .none: "n"
      case .odd: "o"
      case .even: "e"
      }
    let flow = line.hasHardwareFlowControl ? "rtscts" : "none"
    return "\(line.baud) \(line.dataBits)\(parity)\(line.stopBits) \(flow)"
  }

  private static func words(_ error: TransportError) -> String {
    switch error {
    case .timedOut: "timed-out"
    case .unplugged: "unplugged"
    case .stalled: "stalled"
    case .overflow: "overflow"
    case .unsupported: "unsupported"
    case .interrupted: "interrupted"
    // An error of the session, not of a transport.
    case .overrun: "failed " + escaped("the session was too long")
    case .failed(let words): "failed " + escaped(words)
    }
  }

  /// The error text of a library on one line of ASCII: other characters and `%` become `%` and two hexadecimal digits.
  private static func escaped(_ words: String) -> String {
    words.utf8.map { byte in
      byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "%")
        ? String(UnicodeScalar(byte)) : "%" + digits(byte, 2)
    }.joined()
  }

  private static func digits(_ number: some FixedWidthInteger, _ width: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// Two digits for each byte without blanks; the notation for no bytes if there are none.
  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    guard !bytes.isEmpty else { return nothing }
    let digits = Array("0123456789abcdef".utf8)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count * 2)
    for byte in bytes { out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: out, as: UTF8.self)
  }
}
