// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A Dexcom G4 receiver: packets over a serial line of the communications class, records in pages.
package final class SimulatedDexcomG4: SimulatedMeter {
  /// An event that the user entered in the receiver.
  package struct Event: Sendable {
    package var type: UInt8
    package var subtype: UInt8
    /// The shown time at which the user entered the event.
    package var deviceTime: DeviceTime
    /// The shown time at which the event happened, as the user stated it.
    package var happened: DeviceTime
    package var value: UInt32

    package init(type: UInt8, subtype: UInt8 = 0, at time: DeviceTime, happened: DeviceTime, value: UInt32) {
      self.type = type
      self.subtype = subtype
      self.deviceTime = time
      self.happened = happened
      self.value = value
    }
  }

  /// Whether a host sent a command that writes anything except the clock. A driver must never do this.
  package private(set) var wasHarmed = false
  /// The seconds by which the shown time is ahead of the system time.
  package private(set) var displayOffset: Int32
  private let memory: SimulatedMemory
  private let partitions: [UInt8: DexcomPartition]
  private var received: [UInt8] = []
  private var outgoing: [UInt8] = []

  /// The seconds by which the shown time is ahead of the system time in the receiver whose data was recorded.
  package static let usualOffset: Int32 = -25161
  /// The seconds by which the shown time is ahead of the system time in the stored records of this receiver.
  /// Its user set the clock after the records were stored.
  package static let recordedOffset: Int32 = -25162
  /// The system time minus the time that the command 1F requests, in seconds, in the recorded receiver.
  private static let systemOffset: Int64 = 0x0789_BE2C

  /// - Parameters:
  ///   - events: the entries of the user.
  ///   - isNoisy: whether the sensor's memory also holds other records than readings: special values, and
  ///     copies that were only displayed.
  ///   - isReworked: whether an older page of the maker's data has another serial number.
  package init(
    _ memory: SimulatedMemory, events: [Event] = [], isNoisy: Bool = false, isReworked: Bool = false
  ) {
    self.memory = memory
    displayOffset = Self.usualOffset
    var writer = DexcomWriter(offset: Self.recordedOffset)
    let records = memory.items.filter(Self.holds).map { writer.record(of: $0, isNoisy: isNoisy) }
    let serials = isReworked ? ["OLD\(memory.serial)", memory.serial] : [memory.serial]
    let all = [
      DexcomPartition(
        type: 0, revision: 1, recordLength: 500, firstPage: 0,
        records: serials.map { writer.manufacturing($0, at: memory.clock) }),
      DexcomPartition(
        type: 4, revision: 2, recordLength: 13, firstPage: 1242, records: records.flatMap(\.estimates)),
      DexcomPartition(
        type: 10, revision: 1, recordLength: 16, firstPage: 32, records: records.flatMap(\.calibrations)),
      DexcomPartition(
        type: 11, revision: 1, recordLength: 20, firstPage: 2, records: events.map { writer.event($0) }),
    ]
    partitions = Dictionary(uniqueKeysWithValues: all.map { ($0.type, $0) })
  }

  /// Whether the receiver can store the item: sensor values in whole mg/dL from 40 to 400, LOW, HIGH, and the
  /// meter's calibration values.
  package static func holds(_ item: SimulatedItem) -> Bool {
    guard item.deviceTime.seconds >= DexcomWriter.epoch, item.measurement.unit == .milligramsPerDecilitre
    else {
      return false
    }
    let number = item.measurement.quantity?.number
    switch item.kind {
    case .cbg:
      return item.marks.isEmpty && number.map { $0 == $0.rounded() && (40...400).contains($0) } ?? true
    case .smbg: return item.marks == .calibration && number.map { $0 == $0.rounded() && $0 > 0 } ?? false
    default: return false
    }
  }

  package let deviceDescriptor: [UInt8] = [
    18, 1, 0x10, 0x01, 0x02, 0, 0, 8, 0xA3, 0x22, 0x47, 0x00, 0x00, 0x01, 1, 2, 0, 1,
  ]

  package let configurationDescriptor: [UInt8] = [
    9, 2, 67, 0, 2, 1, 0, 0xC0, 250, 9, 4, 0, 0, 1, 0x02, 0x02, 0x01, 0, 5, 0x24, 0x00, 0x10, 0x01, 5, 0x24,
    0x01,
    0x03, 0x01, 4, 0x24, 0x02, 0x06, 5, 0x24, 0x06, 0x00, 0x01, 7, 5, 0x81, 3, 8, 0, 10, 9, 4, 1, 0, 2, 0x0A,
    0, 0, 0,
    7, 5, 0x02, 2, 64, 0, 0, 7, 5, 0x83, 2, 64, 0, 0,
  ]

  package let strings = ["DexCom", "DexCom Gen4 USB Serial"]

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request) {
    case (0x21, 0x20), (0x21, 0x22): .accepted
    case (0xA1, 0x21): .data(littleEndian(UInt32(115_200)) + [0, 0, 8])
    default: .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    guard endpoint == 0x02 else { return false }
    received += packet
    while let request = nextRequest() { outgoing += Self.packet(request.flatMap(answer) ?? (0x02, [])) }
    return true
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    guard endpoint == 0x83, !outgoing.isEmpty else { return .nothing }
    let data = Array(outgoing.prefix(maxBytes))
    outgoing.removeFirst(data.count)
    return .data(data)
  }

  /// A packet with its length and CRC.
  package static func packet(_ content: (code: UInt8, payload: [UInt8])) -> [UInt8] {
    let body = [0x01] + littleEndian(UInt16(content.payload.count + 6)) + [content.code] + content.payload
    return body + littleEndian(crcCCITT(body, from: 0))
  }
}

extension SimulatedDexcomG4 {
  private static let done: UInt8 = 0x01
  private static let invalidCommand: UInt8 = 0x03
  private static let invalidParameter: UInt8 = 0x04
  private static let longestRequest = 1590

  /// The next request without its frame; the inner value is nil if its CRC is wrong. Bytes before a packet
  /// are noise.
  private func nextRequest() -> [UInt8]?? {
    guard let start = received.firstIndex(of: 0x01) else {
      received = []
      return nil
    }
    received.removeFirst(start)
    guard received.count >= 3 else { return nil }
    let length = littleEndianNumber(received[1..<3])
    guard (6...Self.longestRequest).contains(length) else {
      received = []
      return .some(nil)
    }
    guard received.count >= length else { return nil }
    let packet = Array(received.prefix(length))
    received.removeFirst(length)
    let sum = Int(crcCCITT(packet.dropLast(2), from: 0))
    return .some(littleEndianNumber(packet.suffix(2)) == sum ? Array(packet[3..<length - 2]) : nil)
  }

  private var system: Int64 { memory.clock.seconds - DexcomWriter.epoch - Int64(Self.usualOffset) }

  private func answer(_ request: [UInt8]) -> (code: UInt8, payload: [UInt8])? {
    let payload = Array(request.dropFirst())
    switch request[0] {
    case 0x10, 0x11, 0x12:
      guard let answer = pages(request[0], payload) else { return (Self.invalidParameter, []) }
      return (Self.done, answer)
    case 0x1E:
      guard payload.count == 4 else { return (Self.invalidParameter, []) }
      displayOffset = Int32(truncatingIfNeeded: littleEndianNumber(payload))
      return (Self.done, [])
    case 0x1A, 0x1C, 0x20, 0x24, 0x26, 0x28, 0x2A, 0x2D, 0x2E, 0x2F, 0x3C:
      wasHarmed = true
      return (Self.done, [])
    default:
      guard payload.isEmpty else { return (Self.invalidParameter, []) }
      return fact(request[0]).map { (Self.done, $0) } ?? (Self.invalidCommand, [])
    }
  }

  private func fact(_ command: UInt8) -> [UInt8]? {
    switch command {
    case 0x0A: []
    case 0x0B: Array(firmwareHeader.utf8)
    case 0x0F: Array(partitionInformation.utf8)
    case 0x19: Array("60HMW".utf8)
    case 0x1B: littleEndian(UInt16(0x0409))
    case 0x1D: littleEndian(displayOffset)
    case 0x1F: littleEndian(UInt32(truncatingIfNeeded: system - Self.systemOffset))
    case 0x21: littleEndian(UInt32(88))
    case 0x22: littleEndian(UInt32(truncatingIfNeeded: system))
    case 0x23: littleEndian(Int32(truncatingIfNeeded: Self.systemOffset))
    case 0x25: [memory.unit == .millimolesPerLitre ? 2 : 1]
    case 0x27, 0x2B: [0]
    case 0x29: [1]
    default: nil
    }
  }

  private func pages(_ command: UInt8, _ payload: [UInt8]) -> [UInt8]? {
    guard let type = payload.first, type <= 12 else { return nil }
    let partition = partitions[type]
    switch (command, payload.count) {
    case (0x10, 1):
      guard let pages = partition?.pages else { return [UInt8](repeating: 0xFF, count: 8) }
      return littleEndian(UInt32(pages.lowerBound)) + littleEndian(UInt32(pages.upperBound))
    case (0x12, 5): return partition?.header(littleEndianNumber(payload[1..<5]))
    case (0x11, 6):
      // In known sessions, one request is for at most four pages, so a request of more is refused.
      guard (1...4).contains(payload[5]) else { return nil }
      let first = littleEndianNumber(payload[1..<5])
      let pages = (first..<first + Int(payload[5])).compactMap { partition?.page($0) }
      return pages.count == Int(payload[5]) ? pages.flatMap { $0 } : nil
    default: return nil
    }
  }

  private var firmwareHeader: String {
    "<FirmwareHeader SchemaVersion='1' ApiVersion='2.2.0.0' TestApiVersion='2.4.0.0' ProductId='G4Receiver' "
      + "ProductName='Dexcom G4 Receiver' SoftwareNumber='SW10050' FirmwareVersion='\(memory.firmware)' "
      + "PortVersion='4.6.4.45' RFVersion='1.0.0.27' DexBootVersion='3' />"
  }

  private var partitionInformation: String {
    let names: [(String, Int, Int)] = [
      ("ManufacturingData", 1, 500), ("FirmwareParameterData", 1, 500), ("PCSoftwareParameter", 1, 500),
      ("SensorData", 1, 20), ("EGVData", 2, 13), ("CalSet", 2, 148), ("Aberration", 1, 15),
      ("InsertionTime", 1, 15), ("ReceiverLogData", 1, 20), ("ReceiverErrorData", 1, 500),
      ("MeterData", 1, 16),
      ("UserEventData", 1, 20), ("UserSettingData", 3, 48),
    ]
    let rows = names.enumerated().map { number, partition in
      "<Partition Name='\(partition.0)' Id='\(number)' RecordRevision='\(partition.1)' "
        + "RecordLength='\(partition.2)' />"
    }
    return "<PartitionInfo SchemaVersion='1' PageHeaderVersion='1' PageDataLength='500'>" + rows.joined()
      + "</PartitionInfo>"
  }
}
