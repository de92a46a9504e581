// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A OneTouch Verio IQ on its serial line at 38400 baud.
package final class SimulatedVerioIQ: SimulatedLine {
  /// Whether a host sent the command that erases the memory. A driver must never do this.
  package private(set) var wasErased = false
  /// The shown time.
  package private(set) var clock: DeviceTime
  private let memory: SimulatedMemory
  private let items: [SimulatedItem]
  private var stream = OneTouchFrameStream()

  package init(_ memory: SimulatedMemory) {
    self.memory = memory
    clock = memory.clock
    items = memory.items.filter(Self.holds).reversed()
  }

  /// Whether the meter can store the item.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.isStrip(marks: [.controlSolution, .beforeMeal, .afterMeal])
  }

  /// Returns the answer to bytes from the host. At another speed, the meter receives only noise and does not
  /// answer.
  package func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] {
    guard line == LineSettings(baud: 38400) else { return [] }
    stream.add(bytes)
    var answer: [UInt8] = []
    while let frame = stream.next() {
      guard let prefix = frame.payload.first, prefix == 0x03 || prefix == 0x04 else { continue }
      let status = self.answer(Array(frame.payload.dropFirst())) ?? [OneTouchStatus.notUnderstood]
      answer += OneTouchFrame([prefix] + status).bytes
    }
    return answer
  }
}

extension SimulatedVerioIQ {
  private func answer(_ command: [UInt8]) -> [UInt8]? {
    switch command {
    case [0x0D, 0x01]:
      return done([UInt8(truncatingIfNeeded: memory.firmware.utf8.count)] + memory.firmware.utf8 + [0])
    case [0x0B, 0x01, 0x02], [0x0B, 0x00, 0x02]: return done(memory.serial.utf8 + [0])
    // The name is followed by bytes with an unknown meaning. A recorded meter sends 26 bytes in total.
    case [0x06]: return done(Array("VerioIQ".utf8) + [0] + (1...18).map { UInt8($0 * 7) })
    case [0x20, 0x02]:
      return done(littleEndian(UInt32(truncatingIfNeeded: clock.seconds - 946_684_800)))
    case [0x09, 0x02, 0x02]: return done(littleEndian(UInt32(memory.unit == .millimolesPerLitre ? 1 : 0)))
    case [0x27, 0x00]: return done(littleEndian(UInt16(items.count)))
    case [0x1A]:
      wasErased = true
      return done([])
    case let command where command.count == 6 && command.starts(with: [0x20, 0x01]):
      clock = DeviceTime(seconds: Int64(littleEndianNumber(command[2...])) + 946_684_800)
      return done([])
    case let command where command.count == 3 && command[0] == 0x21:
      return record(littleEndianNumber(command[1...]))
    default: return nil
    }
  }

  /// The record with this index. How a real meter answers a wrong index is unknown.
  private func record(_ index: Int) -> [UInt8] {
    guard items.indices.contains(index) else { return [OneTouchStatus.notAllowed] }
    let item = items[index]
    let isControl: UInt8 = item.marks.contains(.controlSolution) ? 1 : 0
    return done(
      littleEndian(item.secondsSince2000) + littleEndian(item.verioGlucose) + [
        isControl, item.oneTouchMeal, 0, 0,
      ])
  }

  private func done(_ data: [UInt8]) -> [UInt8] { [OneTouchStatus.done] + data }
}
