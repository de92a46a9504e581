// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A meter of Ascensia's Contour family: ASTM frames in HID reports of 64 bytes.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - the content of the HID report descriptor, and the endpoints of the storage interface
/// - the number that is sent for LO or HI: one step below or above the range
/// - the order of marks: LO, HI and control come after the meal
/// - the answer to an unknown command: NAK
package final class SimulatedContour: SimulatedMeter {
  /// The models that differ in their messages.
  package enum Variant: CaseIterable, Sendable {
    case contourUSB, nextLink, nextLinkMillimoles, nextLink24, next, nextUSB, nextOne, nextGeneration,
      plusBlue
  }

  private enum State { case idle, ready, data, closing, leaving, command }

  /// Whether the meter's clock is set by a pump. If it is, a Next Link refuses a date from a host.
  package var isPairedWithPump = false
  /// The meter's memory. Its clock changes when a host sets it.
  package private(set) var memory: SimulatedMemory

  private let variant: Variant
  private var state = State.idle
  private var frames: [[UInt8]] = []
  private var nextFrame = 0
  private var hasRepeatedEnquiry = false
  private var order: [UInt8] = []
  private var reports: [[UInt8]] = []
  private var headerCount = 0

  /// A meter with this memory.
  package init(_ memory: SimulatedMemory, variant: Variant = .contourUSB) {
    self.memory = memory
    self.variant = variant
  }

  /// Whether a Contour can store the item: glucose, with marks for meals, fasting and control solution.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg
      && item.marks.isSubset(of: [.beforeMeal, .afterMeal, .fasting, .controlSolution])
      && item.marks.intersection([.beforeMeal, .afterMeal, .fasting]).names.count <= 1
  }

  // MARK: USB descriptors and transfers

  package var deviceDescriptor: [UInt8] {
    [18, 1, 0x00, 0x02, 0, 0, 0, 64, 0x79, 0x1A] + variant.productID.littleEndian
      + [0x00, 0x01, 1, 2, 3, 1]
  }

  package var configurationDescriptor: [UInt8] {
    let reportLength = UInt8(Self.reportDescriptor.count)
    var interfaces: [UInt8] =
      [9, 4, 0, 0, 2, 3, 0, 2, 0] + [9, 0x21, 0x10, 0x10, 0, 1, 0x22, reportLength, 0]
      + [7, 5, inEndpoint, 3, 64, 0, 1] + [7, 5, outEndpoint, 3, 64, 0, 1]
    if hasStorage {
      let (into, out): (UInt8, UInt8) = variant == .nextUSB ? (0x81, 0x01) : (0x82, 0x02)
      interfaces += [9, 4, 1, 0, 2, 8, 6, 0x50, 0] + [7, 5, into, 2, 64, 0, 0] + [7, 5, out, 2, 64, 0, 0]
    }
    let total = UInt16(9 + interfaces.count)
    return [9, 2] + total.littleEndian + [hasStorage ? 2 : 1, 1, 0, 0x80, 250] + interfaces
  }

  package var strings: [String] {
    let digits = String(memory.serial.filter(\.isNumber))
    return [
      "Bayer HealthCare LLC", variant.product,
      String(repeating: "0", count: max(0, 16 - digits.count)) + digits,
    ]
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request, request.value) {
    case (0x81, 0x06, 0x2200): .data(Array(Self.reportDescriptor.prefix(maxBytes)))
    case (0x21, 0x0A, _), (0x21, 0x0B, _): .accepted
    case (0x21, 0x09, 0x0200): accept(data, endpoint: outEndpoint) ? .accepted : .stall
    case (0xA1, 0xFE, 0) where hasStorage: .data([1])
    default: .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == outEndpoint, packet.count >= 4, packet[3] <= 60, packet.count >= 4 + Int(packet[3])
    else {
      return false
    }
    receive(Array(packet[4..<4 + Int(packet[3])]))
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == inEndpoint else { return .stall }
    return reports.isEmpty ? .nothing : .data(Array(reports.removeFirst().prefix(maxBytes)))
  }

  // MARK: For tests

  /// The full text of the serial number in the header: the model's number, a separator, the serial number.
  package var serialText: String { variant.serialPrefix + memory.serial }
}

extension SimulatedContour {
  /// The report descriptor: one input and one output report of 64 bytes, without ids.
  private static var reportDescriptor: [UInt8] {
    [
      0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x09,
      0x01,
      0x81, 0x02, 0x95, 0x40, 0x09, 0x01, 0x91, 0x02, 0xC0,
    ]
  }

  private var inEndpoint: UInt8 { variant == .nextUSB ? 0x83 : 0x81 }
  private var outEndpoint: UInt8 { variant == .nextUSB ? 0x04 : 0x01 }
  private var hasStorage: Bool { variant == .contourUSB || variant == .nextUSB }

  /// Splits a message into reports of up to 60 bytes.
  private func queueReports(_ message: [UInt8]) {
    for start in stride(from: 0, to: message.count, by: 60) {
      let piece = Array(message[start..<min(start + 60, message.count)])
      reports.append(
        [0x41, 0x42, 0x43, UInt8(piece.count)] + piece + [UInt8](repeating: 0, count: 60 - piece.count))
    }
  }

  private func receive(_ payload: [UInt8]) {
    if state == .command { return receiveCommand(payload) }
    for byte in payload { receive(byte) }
  }

  private func receive(_ byte: UInt8) {
    switch (state, byte) {
    case (.data, 0x04), (.leaving, 0x04): state = .idle
    case (.idle, 0x04), (.idle, 0x58), (.ready, 0x04), (.ready, 0x58), (.closing, 0x04), (.closing, 0x58):
      begin()
    case (.idle, 0x06):
      queueReports([0x05])
      hasRepeatedEnquiry = true
      state = .ready
    case (.ready, 0x06) where variant == .nextUSB && !hasRepeatedEnquiry:
      hasRepeatedEnquiry = true
      queueReports([0x05])
    case (.ready, 0x06): startData()
    case (.ready, 0x15) where variant == .nextUSB && hasRepeatedEnquiry: startData()
    case (.ready, 0x15), (.idle, 0x15), (.leaving, 0x15):
      queueReports([0x04])
      state = .leaving
    case (.leaving, 0x05):
      queueReports([0x06])
      order = []
      state = .command
    case (.data, 0x06): sendNextFrame()
    case (.data, 0x15): queueReports(frames[nextFrame - 1])
    case (.closing, 0x15):
      queueReports([0x04])
      state = .idle
    default: break
    }
  }

  private func begin() {
    let header = Self.frame(1, headerText(isSecond: variant == .nextUSB))
    switch variant {
    case .contourUSB, .next, .nextOne, .nextGeneration, .plusBlue, .nextUSB:
      queueReports([0x04] + header + [0x05])
    case .nextLink, .nextLinkMillimoles, .nextLink24:
      queueReports([0x04] + header)
      queueReports([0x05])
    }
    hasRepeatedEnquiry = false
    state = .ready
  }

  private func startData() {
    let kept = memory.items.filter(Self.holds)
    let texts =
      [headerText(isSecond: true), "P|1"]
      + kept.enumerated().map { resultText($0.element, number: $0.offset + 1) }
    frames = texts.enumerated().map { Self.frame($0.offset + 1, $0.element) }
    frames.append(Self.frame(texts.count + 1, "L|1||N", isLast: true))
    queueReports(frames[0])
    nextFrame = 1
    state = .data
  }

  private func sendNextFrame() {
    if nextFrame < frames.count {
      queueReports(frames[nextFrame])
      nextFrame += 1
    } else if variant == .nextOne {
      // After the last frame, one real meter sends nothing, and answers the host's NAK with EOT.
      state = .closing
    } else {
      queueReports([0x04])
      state = .idle
    }
  }

  private func receiveCommand(_ payload: [UInt8]) {
    if payload.contains(0x04) {
      queueReports([0x05])
      state = .ready
      return
    }
    let text = String(decoding: payload.filter { $0 != 0x0D }, as: UTF8.self)
    let before = order
    order = []
    switch (before, text) {
    case ([], "R|"), ([], "W|"):
      order = [payload[0]]
      queueReports([0x06])
    case ([0x52], "D|"): queueReports(answer(memory.clock.digits.dropFirst(2).prefix(6)))
    case ([0x52], "T|"): queueReports(answer(memory.clock.digits.dropFirst(8).prefix(4)))
    case ([0x52], "M|"): queueReports(answer("\(memory.items.count(where: Self.holds))"))
    case ([0x57], "D|") where !isPairedWithPump, ([0x57], "T|") where !isPairedWithPump:
      order = [0x57, payload[0]]
      queueReports([0x06])
    case ([0x57, 0x44], _): queueReports([setDate(text) ? 0x06 : 0x15])
    case ([0x57, 0x54], _): queueReports([setTime(text) ? 0x06 : 0x15])
    default: queueReports([0x15])
    }
  }

  private func answer(_ text: some StringProtocol) -> [UInt8] { Array("D|\(text)|\r\n".utf8) + [0x06] }

  private func setDate(_ text: String) -> Bool {
    let old = memory.clock.parts
    guard let n = Self.pairs(text, count: 3),
      let time = DeviceTime(
        year: 2000 + n[0], month: n[1], day: n[2], hour: old.hour, minute: old.minute, second: old.second)
    else { return false }
    memory.clock = time
    return true
  }

  private func setTime(_ text: String) -> Bool {
    let old = memory.clock.parts
    guard let n = Self.pairs(text, count: 2),
      let time = DeviceTime(year: old.year, month: old.month, day: old.day, hour: n[0], minute: n[1])
    else { return false }
    memory.clock = time
    return true
  }

  /// The numbers in a text such as `140205|`: pairs of digits before a bar. Nil for another text.
  private static func pairs(_ text: String, count: Int) -> [Int]? {
    let digits = text.compactMap(\.wholeNumberValue)
    guard text.count == count * 2 + 1, text.hasSuffix("|"), digits.count == count * 2 else { return nil }
    return (0..<count).map { digits[$0 * 2] * 10 + digits[$0 * 2 + 1] }
  }
}

extension SimulatedContour {
  /// A frame: STX, number, text, CR, ETB or ETX, checksum, CR LF.
  private static func frame(_ number: Int, _ text: String, isLast: Bool = false) -> [UInt8] {
    let summed = Array("\(number % 8)\(text)\r".utf8) + [isLast ? 0x03 : 0x17]
    let sum = summed.reduce(UInt8(0), &+)
    let digits = (sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true)
    return [0x02] + summed + Array("\(digits)\r\n".utf8)
  }

  private func headerText(isSecond: Bool) -> String {
    headerCount += 1
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let password = String((0..<6).map { letters[(headerCount * 17 + $0 * 11) % letters.count] })
    let count = memory.items.count(where: Self.holds)
    let clock = memory.clock.digits.prefix(variant.hasClockSeconds ? 14 : 12)
    let sku = variant.sku.map { "^\($0)" } ?? ""
    return "H|\\^&||\(password)|\(variant.model)^\(memory.firmware)\\01.04\\02.40^\(serialText)\(sku)|"
      + "\(settings)|\(count)|||||\(isSecond ? "P" : "")|1|\(clock)\(variant.isLate ? "|" : "")"
  }

  private var settings: String {
    let isMillimoles = memory.unit == .millimolesPerLitre
    switch variant {
    case .contourUSB, .next:
      return "A=1^C=63^G=1^I=0200^R=0^S=1^U=\(isMillimoles ? 1 : 0)^V=10600"
        + "^X=070070070070180130150250^Y=360126090050099050300089^Z=1"
    case .nextLink, .nextLinkMillimoles, .nextLink24:
      return "A=1^C=41^G=en,en\\es^I=0200^R=0^S=0^U=\(isMillimoles ? 1 : 0)"
        + "^X=070070070070180130180250^Y=360126099054120054252099^Z=1"
    case .nextUSB:
      return "A=1^C=03^G=en,en\\de\\fr\\it\\nl\\es\\pt\\sl\\hr\\da\\no\\fi\\sv\\el^I=0200^R=0^S=01"
        + "^U=\(isMillimoles ? 311 : 303)^V=20600^X=054070054070180154154254E60F00^Y=360126099054120054252099^Z=1"
    case .nextOne, .nextGeneration, .plusBlue:
      return
        "A=0^C=6^R=0^S=0^U=\(isMillimoles ? 1 : 0)^V=\(isMillimoles && variant == .nextOne ? "06333" : "10600")"
        + "^X=070070180130^a=0^J=0"
    }
  }

  private func resultText(_ item: SimulatedItem, number: Int) -> String {
    let time = item.deviceTime.digits.prefix(variant.hasRecordSeconds ? 14 : 12)
    return
      "R|\(number)|^^^Glucose|\(value(item.measurement))|\(memory.unit.name)^P||\(markers(item))||\(time)"
  }

  private func value(_ measurement: Measurement) -> String {
    let isMillimoles = memory.unit == .millimolesPerLitre
    switch measurement {
    case .low: return isMillimoles ? "0.5" : "\(variant.lowLimit - 1)"
    case .high: return isMillimoles ? "33.4" : "601"
    case .value(let quantity):
      let tenths = quantity.tenthsOfMillimole
      if isMillimoles { return "\(tenths / 10).\(tenths % 10)" }
      return "\(Int(quantity.converted(to: .milligramsPerDecilitre).number.rounded()))"
    }
  }

  private func markers(_ item: SimulatedItem) -> String {
    var tokens: [String] = []
    if item.marks.contains(.beforeMeal) { tokens.append("B") }
    if item.marks.contains(.afterMeal) { tokens.append("A") }
    if item.marks.contains(.fasting) { tokens.append("F") }
    if item.marks.contains(.controlSolution) { tokens.append("C") }
    switch item.measurement {
    case .low: tokens.append("<")
    case .high: tokens.append(">")
    case .value: break
    }
    switch variant {
    case .nextUSB, .nextOne, .plusBlue, .nextLink24: tokens += ["M0", "T1"]
    case .nextGeneration: tokens += ["T0"]
    default: break
    }
    return tokens.joined(separator: "/")
  }
}

extension SimulatedContour.Variant {
  fileprivate var productID: UInt16 {
    switch self {
    case .contourUSB: 0x6002
    case .nextLink: 0x6200
    case .nextLinkMillimoles: 0x6300
    case .nextLink24: 0x6210
    case .next: 0x7350
    case .nextUSB: 0x7410
    case .nextOne: 0x7800
    case .nextGeneration: 0x7900
    case .plusBlue: 0x7950
    }
  }

  fileprivate var product: String { self == .contourUSB ? "Contour USB" : "Contour" }

  /// The model in the header.
  fileprivate var model: String {
    switch self {
    case .contourUSB: "Bayer7390"
    case .nextLink: "Bayer6200"
    case .nextLinkMillimoles: "Bayer6300"
    case .nextLink24: "Contour6210"
    case .next: "Bayer7350"
    case .nextUSB: "Bayer7410"
    case .nextOne: "Contour7800"
    case .nextGeneration: "Contour7900"
    case .plusBlue: "Contour7950"
    }
  }

  fileprivate var serialPrefix: String {
    switch self {
    case .contourUSB: "7390-"
    case .nextLink, .nextLinkMillimoles: "6201- "
    case .nextLink24: "6210-"
    case .next: "7350-"
    case .nextUSB: "7428-"
    case .nextOne: "7830H"
    case .nextGeneration: "7901H"
    case .plusBlue: "7950H"
    }
  }

  /// The part of the header after the serial number. It includes the id of the radio if the meter has one.
  /// Late models have no such part.
  fileprivate var sku: String? {
    switch self {
    case .contourUSB, .next: "7403-"
    case .nextLink, .nextLinkMillimoles, .nextLink24: "0000-^C36847"
    case .nextUSB: "00000"
    case .nextOne, .nextGeneration, .plusBlue: nil
    }
  }

  fileprivate var isLate: Bool { self == .nextOne || self == .nextGeneration || self == .plusBlue }
  fileprivate var hasClockSeconds: Bool { isLate || self == .nextUSB }
  fileprivate var hasRecordSeconds: Bool { isLate || self == .nextLink24 }

  /// The lower limit of the range in the header's setting `V`; 20 if the header has no `V`.
  fileprivate var lowLimit: Int {
    switch self {
    case .nextLink, .nextLinkMillimoles, .nextLink24, .nextUSB: 20
    default: 10
    }
  }
}

extension DeviceTime {
  /// The time as `YYYYMMDDhhmmss`.
  fileprivate var digits: String { text.filter(\.isNumber) }
}

extension UInt16 {
  fileprivate var littleEndian: [UInt8] {
    [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)]
  }
}
