// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A meter of Abbott's FreeStyle family: text commands in HID frames of 64 bytes.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - text before INIT is refused like an unknown message
/// - the InsuLinx prints LO and HI as words and does not accept type 21
/// - the names of maker and product
/// - a clock command with an invalid time is refused
package final class SimulatedFreeStyle: SimulatedMeter {
  /// The models that differ in their messages.
  package enum Variant: CaseIterable, Sendable { case insuLinx, precisionNeo, libre, librePro }

  /// How the lines of an answer are put into frames.
  package enum Packing: CaseIterable, Sendable {
    /// One line per frame, but the last three together.
    case lines
    /// Every frame is full, so that a line may continue in the next frame.
    case full
  }

  /// Whether power was lost, so that every part of the clock is 255.
  package var hasLostClock = false
  /// Whether there are rows without a measurement: weekly notices, changes of the clock, and values marked as
  /// errors.
  package var hasOtherRows = false
  /// The number of fields in rows of scans and strips; nil for the usual number. Some real meters have rows
  /// of other lengths.
  package var libreFieldCount: Int?
  /// The meter's memory. Its clock changes when a host sets it.
  package private(set) var memory: SimulatedMemory

  private let variant: Variant
  private let hasOutEndpoint: Bool
  private let packing: Packing
  private var isInitialised = false
  private var requestCount = 0
  private var frames: [[UInt8]] = []
  /// The content of the previous frame. The unused bytes at the end of a shorter frame keep the values of
  /// this content.
  private var stale = [UInt8](repeating: 0, count: 64)

  /// A meter with this memory. Real meters have no OUT endpoint.
  package init(
    _ memory: SimulatedMemory, variant: Variant = .libre, hasOutEndpoint: Bool = false,
    packing: Packing = .lines
  ) {
    self.memory = memory
    self.variant = variant
    self.hasOutEndpoint = hasOutEndpoint
    self.packing = packing
  }

  /// Whether a model can store the item, as far as the layout of its rows is known.
  package static func holds(_ item: SimulatedItem, variant: Variant) -> Bool {
    switch variant {
    case .insuLinx: return item.kind == .smbg && item.marks.isEmpty
    case .precisionNeo:
      if case .low = item.measurement, item.kind == .ketone { return false }
      return (item.kind == .smbg || item.kind == .ketone) && item.marks.isSubset(of: .controlSolution)
    case .libre, .librePro:
      if case .low = item.measurement, item.kind == .ketone { return false }
      return item.marks.isEmpty
    }
  }

  /// Whether every model can store the item.
  package static func holds(_ item: SimulatedItem) -> Bool {
    Variant.allCases.allSatisfy { holds(item, variant: $0) }
  }

  // MARK: USB descriptors and transfers

  package var deviceDescriptor: [UInt8] {
    [
      18, 1, 0x10, 0x01, 0, 0, 0, 64, 0x61, 0x1A, UInt8(variant.productID & 0xFF),
      UInt8(variant.productID >> 8),
    ]
      + [0x00, 0x01, 1, 2, 0, 1]
  }

  package var configurationDescriptor: [UInt8] {
    let out: [UInt8] = hasOutEndpoint ? [7, 5, 0x01, 3, 64, 0, 2] : []
    let header: [UInt8] = [9, 2, UInt8(34 + out.count), 0, 1, 1, 3, 0xC0, 0x32]
    let interface: [UInt8] = [9, 4, 0, 0, hasOutEndpoint ? 2 : 1, 3, 0, 0, 4]
    let human: [UInt8] = [9, 0x21, 0x10, 0x10, 0, 1, 0x22, UInt8(Self.reportDescriptor.count), 0]
    let into: [UInt8] = [7, 5, 0x81, 3, 64, 0, 2]
    return header + interface + human + into + out
  }

  package var strings: [String] { ["Abbott", variant.product] }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request, request.value) {
    case (0x81, 0x06, 0x2200): return .data(Array(Self.reportDescriptor.prefix(maxBytes)))
    case (0x21, 0x0A, _): return .accepted
    case (0x21, 0x09, 0x0200) where request.index == 0 && data.count == 64:
      return receive(data) ? .accepted : .stall
    default: return .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    hasOutEndpoint && endpoint == 0x01 && receive(packet)
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x81 else { return .stall }
    return frames.isEmpty ? .nothing : .data(Array(frames.removeFirst().prefix(maxBytes)))
  }
}

extension SimulatedFreeStyle {
  /// The report descriptor of a real InsuLinx: one input and one output report of 64 bytes, without ids.
  private static var reportDescriptor: [UInt8] {
    [
      0x06, 0xA7, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x19, 0x00, 0x2A, 0xFF, 0x00, 0x15, 0x00, 0x26, 0xFF, 0x00,
      0x75,
      0x08, 0x95, 0x40, 0x81, 0x04, 0x19, 0x00, 0x2A, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x91, 0x04, 0xC0,
    ]
  }

  /// Takes a frame: type, length, content, and any bytes after it. Returns false if its size is impossible.
  private func receive(_ frame: [UInt8]) -> Bool {
    guard frame.count >= 2, frame.count <= 64 else { return false }
    let length = Int(frame[1])
    guard length <= 62, frame.count >= 2 + length else {
      queueFrame(0x30, [0x85])
      return true
    }
    requestCount += 1
    if requestCount % 3 == 0 { queueFrame(0x22, [variant == .libre || variant == .librePro ? 0x05 : 0x03]) }
    answer(frame[0], Array(frame[2..<2 + length]))
    return true
  }

  private func answer(_ type: UInt8, _ content: [UInt8]) {
    switch type {
    case 0x01:
      isInitialised = true
      queueFrame(0x71, [0x01])
    case 0x04: queueFrame(0x34, [variant == .insuLinx ? 0x0C : 0x16])
    // A recorded Neo states its serial number only in the answer to the text command.
    case 0x05:
      queueFrame(
        0x06, Array((variant == .precisionNeo ? "00000000 (No SerialNum)" : memory.serial).utf8) + [0])
    case 0x15: queueFrame(0x35, Array(memory.firmware.utf8) + [0])
    case 0x60 where isInitialised, 0x21 where isInitialised && variant != .insuLinx:
      queueText(message(to: String(decoding: content, as: UTF8.self)))
    // One capture shows that this type gets no answer.
    case 0x20 where variant == .insuLinx: break
    case 0x0D: break
    default: queueFrame(0x30, [0x85])
    }
  }

  private func queueFrame(_ type: UInt8, _ content: [UInt8]) {
    let frame = [type, UInt8(content.count)] + content
    stale = frame + stale.dropFirst(frame.count)
    frames.append(stale)
  }

  /// Sends the lines of a message, its checksum and its end. Nil means a failed command.
  private func queueText(_ lines: [String]?) {
    let message = (lines ?? []).map { Array($0.utf8) + [0x0D, 0x0A] }
    let sum = Self.sum(message.flatMap(\.self))
    let tail = Array("CKSM:\(sum)\r\nCMD \(lines == nil ? "Fail!" : "OK")\r\n".utf8)
    switch packing {
    case .lines:
      for line in message.dropLast() { queuePieces(line) }
      queuePieces((message.last ?? []) + tail)
    case .full: queuePieces(message.flatMap(\.self) + tail)
    }
  }

  private func queuePieces(_ bytes: [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 62) {
      queueFrame(0x60, Array(bytes[start..<min(start + 62, bytes.count)]))
    }
  }

  /// The checksum of a message: the sum of all bytes, in eight upper-case digits.
  private static func sum(_ bytes: [UInt8]) -> String {
    let digits = String(bytes.reduce(0) { $0 + Int($1) }, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  /// The rows of a table, followed by a line with their number and their checksum.
  private static func table(_ rows: [String]) -> [String] {
    if rows.isEmpty { return ["Log Empty"] }
    return rows + ["\(rows.count),\(sum(rows.flatMap { Array($0.utf8) + [0x0D, 0x0A] }))"]
  }
}

extension SimulatedFreeStyle {
  private var isLibre: Bool { variant == .libre || variant == .librePro }

  /// The lines of the answer to a command; nil if the meter does not know it or refuses it.
  private func message(to text: String) -> [String]? {
    let command = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    let p = memory.clock.parts
    switch command {
    case "$serlnum?" where !isLibre, "$sn?" where isLibre: return [memory.serial]
    case "$swver?": return variant.versionLines(memory.firmware)
    case "$date?": return [hasLostClock ? "255,255,255" : "\(p.month),\(p.day),\(p.year % 100)"]
    case "$time?": return [hasLostClock ? "255,255" : "\(p.hour),\(p.minute)"]
    case "$rdt?" where isLibre:
      let time =
        "\(p.year % 100),\(p.month),\(p.day),\(p.hour),\(p.minute),\(p.second),\(hasLostClock ? 0 : 1)"
      return [variant == .librePro ? time : time + ",0"]
    case "$gunits?" where !isLibre, "$uom?" where isLibre:
      return [memory.unit == .milligramsPerDecilitre ? "1" : "0"]
    case "$ptname?", "$ptid?": return [""]
    case "$clktyp?" where !isLibre: return ["0"]
    case "$brandname?" where isLibre: return ["FreeStyle Libre"]
    case "$marketlev?" where variant != .insuLinx: return [isLibre ? "1,0,0,0" : "1,0"]
    case "$dbrnum?" where isLibre: return ["DB Record Number = \(58000 + memory.items.count)"]
    case "$result?" where !isLibre: return Self.table(results)
    case "$history?" where isLibre: return Self.table(history)
    case "$arresult?" where isLibre: return Self.table(otherResults)
    default: return set(command) ? [] : nil
    }
  }

  /// Sets the date or the time of the clock from a command such as `$date,8,27,14` or `$time,13,40`. Numbers
  /// may have leading zeros. Returns false for another command or an invalid time.
  private func set(_ command: String) -> Bool {
    let parts = command.split(separator: ",")
    let n = parts.dropFirst().compactMap { Int($0) }
    let old = memory.clock.parts
    let time: DeviceTime? =
      switch (parts.first, n.count, parts.count) {
      case ("$date", 3, 4):
        DeviceTime(
          year: 2000 + n[2], month: n[0], day: n[1], hour: old.hour, minute: old.minute, second: old.second)
      case ("$time", 2, 3):
        DeviceTime(
          year: old.year, month: old.month, day: old.day, hour: n[0], minute: n[1], second: old.second)
      default: nil
      }
    guard let time else { return false }
    memory.clock = time
    hasLostClock = false
    return true
  }

  private var kept: [(id: Int, item: SimulatedItem)] {
    memory.items.filter { Self.holds($0, variant: variant) }.enumerated()
      .map { (variant.firstID + variant.idStep * $0.offset, $0.element) }
  }

  // MARK: InsuLinx and Precision Neo

  private var results: [String] {
    var rows = kept.reversed().map { id, item in
      variant == .insuLinx ? insuLinxRow(id, item) : neoRow(id, item)
    }
    if hasOtherRows, let (id, item) = kept.last {
      let time = item.deviceTime.minuteFields
      if variant == .insuLinx { rows.insert("4,\(id + 1),\(time),1,0,5,70,160,26,2,0", at: 0) }
      rows.insert("6,\(id + 2),\(time),1,\(time)", at: 0)
    }
    return rows
  }

  private func insuLinxRow(_ id: Int, _ item: SimulatedItem) -> String {
    "0,\(id),\(item.deviceTime.minuteFields),1,0,0,0,3,0,\(Self.value(item.measurement)),0,0"
  }

  private func neoRow(_ id: Int, _ item: SimulatedItem) -> String {
    let patient = item.marks.contains(.controlSolution) ? 0 : 1
    let time = item.deviceTime.minuteFields
    if item.kind == .ketone {
      return "9,\(id),\(time),1,\(Self.ketone(item.measurement) ?? "HI"),\(patient),0"
    }
    // The numbers after the mark for control solution are from a recorded meter. Their meaning is unknown.
    return "7,\(id),\(time),1,\(Self.value(item.measurement)),0,\(patient),0,1,66,1,0,0,0,1"
  }

  /// The value in mg/dL, whatever unit the meter shows.
  private static func value(_ measurement: Measurement) -> String {
    switch measurement {
    case .value(let quantity): "\(Int(quantity.converted(to: .milligramsPerDecilitre).number.rounded()))"
    case .low: "LO"
    case .high: "HI"
    }
  }

  /// The ketone value in eighteenths of mmol/L; nil for LO and HI.
  private static func ketone(_ measurement: Measurement) -> String? {
    guard let number = measurement.quantity?.number else { return nil }
    return "\(Int((number * 18).rounded()))"
  }

  // MARK: Libre

  /// The rows of the sensor history, newest first.
  private var history: [String] {
    var rows = kept.reversed().filter { $0.item.kind == .cbg }.map { id, item in
      "\(id),12,\(item.deviceTime.secondFields),1,0,0,0,0,\(Self.libreValue(item.measurement)),\(id % 1000 * 15),0"
    }
    if hasOtherRows, let (id, item) = kept.last {
      rows.insert("\(id + 3),12,\(item.deviceTime.secondFields),1,0,0,0,0,0,3765,32768", at: 0)
    }
    return rows
  }

  /// The rows of strips, scans, and changes of the clock.
  private var otherResults: [String] {
    var rows = kept.reversed().filter { $0.item.kind != .cbg }.map { libreRow($0, $1) }
    if hasOtherRows, let (id, item) = kept.last {
      let time = item.deviceTime.secondFields
      rows.insert("\(id + 1),5,\(time),1,\(time),0,0,0,0,0", at: 0)
      rows.insert(
        "\(id + 2),2,\(time),1,2,0,1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,32768,\"\",\"\",\"\",\"\",\"\",\"\"",
        at: 0)
    }
    return rows
  }

  private func libreRow(_ id: Int, _ item: SimulatedItem) -> String {
    let (kind, value) =
      item.kind == .ketone
      ? (1, Self.ketone(item.measurement) ?? "144")
      : (item.kind == .scan ? 2 : 0, Self.libreValue(item.measurement))
    let isLow = if case .low = item.measurement { 1 } else { 0 }
    let sensor = kind == 2 ? "1,3" : "0,0"
    let row =
      "\(id),2,\(item.deviceTime.secondFields),1,\(kind),0,\(isLow),\(value),\(sensor)"
      + ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,\"\",\"\",\"\",\"\",\"\",\"\""
    guard let libreFieldCount else { return row }
    let fields = row.split(separator: ",").prefix(libreFieldCount)
    return (fields + [Substring](repeating: "0", count: libreFieldCount - fields.count)).joined(
      separator: ",")
  }

  /// The value in a row of a Libre. LO and HI are stored as the limits of the range, 40 and 500 mg/dL.
  private static func libreValue(_ measurement: Measurement) -> String {
    switch measurement {
    case .value: value(measurement)
    case .low: "40"
    case .high: "500"
    }
  }
}

extension SimulatedFreeStyle.Variant {
  fileprivate var productID: UInt16 {
    switch self {
    case .insuLinx: 0x3450
    case .precisionNeo: 0x3850
    case .libre: 0x3650
    case .librePro: 0x3670
    }
  }

  fileprivate var product: String {
    switch self {
    case .insuLinx: "FreeStyle InsuLinx"
    case .precisionNeo: "FreeStyle Precision Neo"
    case .libre: "FreeStyle Libre"
    case .librePro: "FreeStyle Libre Pro"
    }
  }

  fileprivate func versionLines(_ version: String) -> [String] {
    switch self {
    case .insuLinx: [version, "0"]
    case .precisionNeo: ["\(version) May 14 2014"]
    case .libre, .librePro: [version]
    }
  }

  /// The number of the oldest record.
  fileprivate var firstID: Int {
    switch self {
    case .insuLinx: 20001
    case .precisionNeo: 1
    case .libre, .librePro: 58001
    }
  }

  /// The difference between the numbers of two records. The InsuLinx leaves gaps where it overwrote or merged
  /// records.
  fileprivate var idStep: Int { self == .insuLinx ? 3 : 1 }
}

extension DeviceTime {
  /// The fields of a time: month, day, year, hour and minute.
  fileprivate var minuteFields: String {
    let p = parts
    return "\(p.month),\(p.day),\(p.year % 100),\(p.hour),\(p.minute)"
  }

  /// The fields of a time with its second.
  fileprivate var secondFields: String { "\(minuteFields),\(parts.second)" }
}
