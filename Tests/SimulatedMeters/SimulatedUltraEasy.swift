// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A OneTouch UltraEasy or UltraMini on its cable at 9600 baud. Its packets are numbered with one bit.
package final class SimulatedUltraEasy: SimulatedLine {
  private enum Link {
    static let sent: UInt8 = 0x01
    static let expected: UInt8 = 0x02
    static let acknowledge: UInt8 = 0x04
    static let disconnect: UInt8 = 0x08
  }

  /// Whether a host sent the command that erases the memory. A driver must never do this.
  package private(set) var wasErased = false
  /// The shown time.
  package private(set) var clock: DeviceTime
  private let memory: SimulatedMemory
  private let items: [SimulatedItem]
  private var stream = OneTouchFrameStream()
  /// The number that the host's next packet must have.
  private var awaited: UInt8 = 0
  /// The answer to the last packet, which the meter repeats if the host sends that packet again.
  private var lastAnswer: [UInt8] = []

  package init(_ memory: SimulatedMemory) {
    self.memory = memory
    clock = memory.clock
    items = memory.items.filter(Self.holds).reversed()
  }

  /// Whether the meter can store the item. According to a single source, it does not send control tests.
  package static func holds(_ item: SimulatedItem) -> Bool { item.isStrip(marks: []) }

  /// The serial number as the meter sends it, always in nine characters.
  package var reportedSerial: String { Self.fixed(memory.serial, 9) }

  /// Returns the answer to bytes from the host. At another speed, the meter receives only noise and does not
  /// answer.
  package func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] {
    guard line == LineSettings(baud: 9600) else { return [] }
    stream.add(bytes)
    var answer: [UInt8] = []
    while let frame = stream.next() { answer += self.answer(frame) }
    return answer
  }
}

extension SimulatedUltraEasy {
  private static func fixed(_ text: String, _ count: Int) -> String {
    String(text.prefix(count)) + String(repeating: " ", count: max(0, count - text.count))
  }

  private func answer(_ frame: OneTouchFrame) -> [UInt8] {
    if frame.link & Link.disconnect != 0 {
      awaited = 0
      return OneTouchFrame([], link: Link.disconnect | Link.acknowledge).bytes
    }
    // The frame is only an acknowledgement by the host, which needs no answer. Some hosts send no
    // acknowledgements.
    if frame.link & Link.acknowledge != 0 { return [] }
    let (number, expected) = (frame.link & Link.sent, (frame.link & Link.expected) >> 1)
    guard number == awaited else { return lastAnswer }
    awaited = number ^ 1
    let link = awaited << 1 | expected
    guard let prefix = frame.payload.first, prefix == 0x05 else { return [] }
    let data = answer(Array(frame.payload.dropFirst())) ?? [OneTouchStatus.notUnderstood]
    lastAnswer =
      OneTouchFrame([], link: Link.acknowledge | link).bytes
      + OneTouchFrame([prefix] + data, link: link).bytes
    return lastAnswer
  }

  private func answer(_ command: [UInt8]) -> [UInt8]? {
    switch (command.first, command.dropFirst().first, command.count) {
    case (0x0D, 0x02, 2):
      return done([17] + Self.fixed(memory.firmware, 9).utf8 + Array("25/05/07".utf8))
    case (0x0B, 0x02, 11): return done(Array(reportedSerial.utf8))
    case (0x20, 0x02, 6): return done(littleEndian(UInt32(truncatingIfNeeded: clock.seconds)))
    case (0x20, 0x01, 6):
      clock = DeviceTime(seconds: Int64(littleEndianNumber(command[2...])))
      return done(Array(command[2...]))
    case (0x09, 0x02, 7): return done(littleEndian(UInt32(memory.unit == .millimolesPerLitre ? 1 : 0)))
    case (0x08, 0x02, 7): return done(littleEndian(UInt32(0)))
    case (0x1F, _, 3): return record(littleEndianNumber(command[1...]))
    case (0x1A, _, 1):
      wasErased = true
      return done([])
    default: return nil
    }
  }

  private func record(_ index: Int) -> [UInt8] {
    guard items.indices.contains(index) else {
      return [OneTouchStatus.wrongRecord] + littleEndian(UInt16(items.count))
    }
    let item = items[index]
    let glucose: UInt32 =
      switch item.measurement {
      case .low: 0xFFFE
      case .high: 0xFFFF
      case .value: UInt32(truncatingIfNeeded: item.milligrams ?? 0)
      }
    return done(littleEndian(UInt32(truncatingIfNeeded: item.deviceTime.seconds)) + littleEndian(glucose))
  }

  private func done(_ data: [UInt8]) -> [UInt8] { [OneTouchStatus.done] + data }
}
