// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A OneTouch Verio of 2015 or later: a disk whose sectors 3 and 4 are mailboxes for requests and answers.
package final class SimulatedOneTouchDisk: SimulatedMeter {
  /// The models, which differ in their ids and in whether they store meal marks.
  package enum Model: CaseIterable, Sendable {
    case verio, verioFlex, selectPlus, selectPlusFlex

    var productID: UInt16 {
      switch self {
      case .verio: 0x0000
      case .verioFlex: 0x0004
      case .selectPlus: 0x1000
      case .selectPlusFlex: 0x1004
      }
    }

    var name: String {
      switch self {
      case .verio: "Verio"
      case .verioFlex: "Verio Flex"
      case .selectPlus: "Select Plus"
      case .selectPlusFlex: "Select Plus Flex"
      }
    }

    var hasMealMarks: Bool { self == .selectPlus || self == .selectPlusFlex }
  }

  /// Whether a host sent the command that erases the memory. A driver must never do this.
  package private(set) var wasErased = false
  /// The shown time.
  package private(set) var clock: DeviceTime
  private let memory: SimulatedMemory
  private let model: Model
  private let product: String
  private let items: [SimulatedItem]
  private var target = BulkOnlyTarget()
  private var mailboxes: [Int: [UInt8]] = [:]
  private var sense: [UInt8] = [0, 0]

  /// The id of the oldest record. Ids continue after the memory is erased.
  private static let firstID = 9
  /// The number of sectors that the disk reports. The real number is unknown.
  private static let sectors = 2048

  /// - Parameter product: the product in the answer to INQUIRY; empty as in a recorded answer.
  package init(_ memory: SimulatedMemory, model: Model = .selectPlus, product: String = "") {
    self.product = product
    self.memory = memory
    self.model = model
    clock = memory.clock
    items = memory.items.filter(Self.holds).reversed()
  }

  /// Whether the meter can store the item. A Verio does not store meal marks.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.isStrip(marks: [.controlSolution, .beforeMeal, .afterMeal])
  }

  package var deviceDescriptor: [UInt8] {
    [18, 1, 0x00, 0x02, 0, 0, 0, 64] + littleEndian(UInt16(0x2766)) + littleEndian(model.productID) + [
      0x00, 0x01, 1, 2, 3, 1,
    ]
  }

  /// The addresses of the endpoints are unknown. The interface's name is the seventh string.
  package let configurationDescriptor: [UInt8] = [
    9, 2, 32, 0, 1, 1, 0, 0x80, 250, 9, 4, 0, 0, 2, 0x08, 0x06, 0x50, 7, 7, 5, 0x81, 2, 64, 0, 0, 7, 5, 0x02,
    2, 64,
    0, 0,
  ]

  package var strings: [String] {
    ["LifeScan", model.name, memory.serial, "", "", "", "LifeScan MSC"]
  }

  package func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer {
    switch (request.type, request.request) {
    case (0xA1, 0xFE): return .data([0])
    case (0x21, 0xFF):
      target.reset()
      return .accepted
    default: return .stall
    }
  }

  package func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    endpoint == 0x02 && target.accept(packet, run: run)
  }

  package func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    endpoint == 0x81 ? target.nextPacket(maxBytes: maxBytes) : .stall
  }
}

/// The meter as a disk: SCSI commands and sectors.
extension SimulatedOneTouchDisk {
  private func run(_ command: BulkOnlyCommand, _ data: [UInt8]) -> BulkOnlyTarget.Outcome {
    switch command.bytes[0] {
    case 0x00, 0x1B, 0x1E: return BulkOnlyTarget.Outcome()
    case 0x03:
      let answer: [UInt8] = [0x70, 0, sense[0], 0, 0, 0, 0, 10, 0, 0, 0, 0, sense[1], 0, 0, 0, 0, 0]
      sense = [0, 0]
      return BulkOnlyTarget.Outcome(data: answer)
    case 0x12:
      let head: [UInt8] = [0x00, 0x80, 0x00, 0x00, 0x1F, 0, 0, 0]
      return BulkOnlyTarget.Outcome(
        data: head + Array("LifeScan\(product)".utf8)
          + [UInt8](repeating: 0, count: 20 - product.utf8.count))
    case 0x1A: return BulkOnlyTarget.Outcome(data: [3, 0, 0, 0])
    case 0x25: return BulkOnlyTarget.Outcome(data: [0, 0, 0x07, 0xFF, 0, 0, 2, 0])
    case 0x28, 0x2A: return move(command, data)
    default: return refuse(0x20)
    }
  }

  private func refuse(_ reason: UInt8) -> BulkOnlyTarget.Outcome {
    sense = [5, reason]
    return BulkOnlyTarget.Outcome(isGood: false)
  }

  /// Reads or writes sectors. A command with any flag is refused.
  private func move(_ command: BulkOnlyCommand, _ data: [UInt8]) -> BulkOnlyTarget.Outcome {
    let bytes = command.bytes
    guard bytes[1] == 0, bytes[6] == 0, bytes[9] == 0 else { return refuse(0x24) }
    let first = bytes[2..<6].reduce(0) { $0 << 8 | Int($1) }
    let count = Int(bytes[7]) << 8 | Int(bytes[8])
    guard first + count <= Self.sectors, command.length == count * 512 else { return refuse(0x21) }
    if bytes[0] == 0x28 { return BulkOnlyTarget.Outcome(data: (first..<first + count).flatMap(sector)) }
    for offset in 0..<count { write(Array(data[(offset * 512)..<(offset * 512 + 512)]), to: first + offset) }
    return BulkOnlyTarget.Outcome()
  }

  private func sector(_ number: Int) -> [UInt8] {
    var content = mailboxes[number] ?? []
    if number == 0 {
      content = [UInt8](repeating: 0, count: 0x2B) + Array("LIFESCAN   FAT16".utf8)
    }
    return content + [UInt8](repeating: 0, count: 512 - content.count)
  }

  /// A sector that is not a mailbox keeps its content, since a system that mounts the disk writes to some
  /// sectors.
  private func write(_ content: [UInt8], to number: Int) {
    guard number == 3 || number == 4 else { return }
    // How a real meter answers an invalid frame is unknown.
    guard let frame = OneTouchFrame(parsing: content), frame.link == 0, let prefix = frame.payload.first
    else {
      mailboxes[number] = OneTouchFrame([0x03, OneTouchStatus.notUnderstood]).bytes
      return
    }
    let body = Array(frame.payload.dropFirst())
    let answer = number == 3 ? answer(body) : parameter(body)
    let ownPrefix = number == 4 ? 0x03 : prefix
    mailboxes[number] = OneTouchFrame([ownPrefix] + (answer ?? [OneTouchStatus.notUnderstood])).bytes
  }
}

/// The commands of the meter, which come as frames in the mailboxes.
extension SimulatedOneTouchDisk {
  /// The status and the data of the answer; nil for an invalid command.
  private func answer(_ command: [UInt8]) -> [UInt8]? {
    switch command {
    case [0x20, 0x02]:
      return done(littleEndian(UInt32(truncatingIfNeeded: clock.seconds - 946_684_800)))
    case [0x27, 0x00]: return done(littleEndian(UInt16(items.count)))
    case [0x1A]:
      wasErased = true
      return done([])
    case let command where command.count == 3 && command.starts(with: [0xE6, 0x02]):
      return query(command[2]).map { done(utf16($0)) }
    case let command where command.count == 6 && command.starts(with: [0x20, 0x01]):
      clock = DeviceTime(seconds: Int64(littleEndianNumber(command[2...])) + 946_684_800)
      return done([])
    case let command where command.count == 5 && command.starts(with: [0x31, 0x02]) && command[4] == 0:
      return record(littleEndianNumber(command[2..<4]))
    default: return nil
    }
  }

  private func parameter(_ command: [UInt8]) -> [UInt8]? {
    guard command.count == 1 || command.count == 2 else { return nil }
    switch command[0] {
    case 0x00: return done(utf16("%I:%T"))
    case 0x02: return done(utf16("%D.%n.%y"))
    case 0x04: return done(littleEndian(UInt32(memory.unit == .millimolesPerLitre ? 1 : 0)))
    default: return nil
    }
  }

  private func query(_ subject: UInt8) -> String? {
    switch subject {
    case 0x00: memory.serial
    case 0x01: model.name
    case 0x02: memory.firmware
    default: nil
    }
  }

  private func record(_ index: Int) -> [UInt8] {
    // How a real meter answers a wrong index is unknown.
    guard items.indices.contains(index) else { return [OneTouchStatus.notAllowed] }
    let item = items[index]
    let age = items.count - 1 - index
    var data = littleEndian(UInt16(age)) + [item.marks.contains(.controlSolution) ? 1 : 0]
    data += littleEndian(UInt16(truncatingIfNeeded: Self.firstID + age))
    data += littleEndian(item.secondsSince2000) + littleEndian(item.verioGlucose)
    return done(data + [model.hasMealMarks ? item.oneTouchMeal : 0, 0, 0x93, 0x0B, 0])
  }

  private func done(_ data: [UInt8]) -> [UInt8] { [OneTouchStatus.done] + data }

  private func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap(littleEndian) + [0, 0] }
}
