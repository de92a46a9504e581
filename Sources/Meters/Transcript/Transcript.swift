// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// Every exchange of one session with a meter, as text: one line each, in order.
///
/// The first lines state the version, the driver, the model with its USB ids, and the host's clock. The
/// manual page glucoport-transcript(5) documents the format.
public struct Transcript: Hashable, Sendable {
  /// One exchange and its result.
  package struct Step: Hashable, Sendable {
    /// Milliseconds since the session began, when the exchange ended.
    package var milliseconds: Int
    /// The request.
    package var exchange: LinkOperation
    /// The answer, or the error.
    package var result: Result<[UInt8], TransportError>

    package init(milliseconds: Int, exchange: LinkOperation, result: Result<[UInt8], TransportError>) {
      self.milliseconds = milliseconds
      self.exchange = exchange
      self.result = result
    }
  }

  /// The maximum number of steps. A meter with 100,000 readings stays below it.
  package static let maxSteps = 2_000_000

  /// The driver's id.
  public var driver: String
  /// The USB vendor id.
  public var vendorID: UInt16
  /// The USB product id.
  public var productID: UInt16
  /// The host's clock in UTC seconds when the session began.
  public var startedAt: Int64
  /// Whether serial number and values were replaced.
  public var isAnonymised = false
  /// The kind of link, if the driver does not know it by the USB ids, or if it is Bluetooth; else nil.
  public var link: MeterLink.Kind?
  /// The steps, in order.
  package var steps: [Step] = []

  /// A transcript without steps.
  package init(driver: String, vendorID: UInt16, productID: UInt16, startedAt: Int64) {
    self.driver = driver
    self.vendorID = vendorID
    self.productID = productID
    self.startedAt = startedAt
  }
}

extension Transcript {
  /// The first line of every transcript.
  static let title = "glucoport-transcript 1"
  /// The line of a session by Bluetooth, in place of the USB ids.
  static let bluetooth = "bluetooth"
  /// The notation for no bytes.
  static let nothing = "-"

  /// Whether the session was by Bluetooth. Such a meter has no USB ids.
  var isBluetooth: Bool { link == .bluetooth }

  /// The complete text: the head, and one line for each step.
  package var text: String { head + steps.map(Self.line).joined() }

  package var head: String {
    let ids = Self.digits(vendorID, 4) + ":" + Self.digits(productID, 4)
    let way = isBluetooth ? Self.bluetooth : "usb \(ids)"
    return "\(Self.title)\ndriver \(driver)\n\(way)\nstarted \(DeviceTime(seconds: startedAt).text)Z\n"
      + (isBluetooth ? "" : link.map { "link \($0.rawValue)\n" } ?? "") + (isAnonymised ? "anonymised\n" : "")
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
    case .readValue(let characteristic): "read-value \(digits(characteristic.rawValue, 4))"
    case .subscribe(let characteristic): "subscribe \(digits(characteristic.rawValue, 4))"
    case .notification: "notification"
    case .recordAccess(let request): "record-access \(hexadecimal(request.bytes))"
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
    case .notPaired: "not-paired"
    case .interrupted: "interrupted"
    // An overrun is an error of the session, not of the transport, so transcripts have no separate word for
    // it.
    case .overrun: "failed " + escaped("the session was too long")
    case .failed(let words): "failed " + escaped(words)
    }
  }

  /// The error text of a library on one line of ASCII: other characters and `%` become `%` and two
  /// hexadecimal digits.
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
