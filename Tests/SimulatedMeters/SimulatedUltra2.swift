// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A OneTouch Ultra2, UltraLink or Ultra on its cable at 9600 baud: lines of text, each with a checksum at
/// its end.
package final class SimulatedUltra2: SimulatedLine {
  /// The models that differ in their messages.
  package enum Model: CaseIterable, Sendable {
    /// Records have meals and remarks.
    case ultra2
    /// Records have neither meals nor remarks, and the software's version has no date, as in a recorded
    /// session.
    case ultra
  }

  /// Whether a host sent the command that erases the memory. A driver must never do this.
  package private(set) var wasErased = false
  /// The shown time.
  package private(set) var clock: DeviceTime
  private let memory: SimulatedMemory
  private let model: Model
  private let items: [(item: SimulatedItem, isDamaged: Bool)]
  private var isDeaf: Bool
  private var text = ""

  /// - Parameters:
  ///   - damaged: the indices in the memory, from the oldest record, that the meter reports as damaged.
  ///   - ignoresFirstCommand: whether the meter does not answer the first command because it is still waking
  ///     up, as real meters often do.
  package init(
    _ memory: SimulatedMemory, model: Model = .ultra2, damaged: Set<Int> = [],
    ignoresFirstCommand: Bool = false
  ) {
    self.memory = memory
    self.model = model
    clock = memory.clock
    items = memory.items.enumerated().filter { Self.holds($0.element) }
      .map { ($0.element, damaged.contains($0.offset)) }.reversed()
    isDeaf = ignoresFirstCommand
  }

  /// Whether the meter can store the item.
  package static func holds(_ item: SimulatedItem) -> Bool {
    item.isStrip(marks: [.controlSolution, .beforeMeal, .afterMeal])
  }

  /// Returns the answer to bytes from the host. At another speed, the meter receives only noise and does not
  /// answer.
  package func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8] {
    guard line == LineSettings(baud: 9600) else { return [] }
    text += String(decoding: bytes.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    var answer = ""
    while let command = nextCommand() {
      if isDeaf {
        isDeaf = false
      } else {
        answer += self.answer(command)
      }
    }
    return Array(answer.utf8)
  }

  /// A line with the checksum of its characters.
  package static func line(_ text: String) -> String {
    let sum = String(text.utf8.reduce(0) { ($0 + Int($1)) & 0xFFFF }, radix: 16, uppercase: true)
    return "\(text) " + String(repeating: "0", count: 4 - sum.count) + sum + "\r\n"
  }
}

extension SimulatedUltra2 {
  private static let commands = ["DM?", "DM@", "DMF", "DMSU?", "DMST?", "DMID", "DMP", "DMZ"]
  private static let setClock = "DMT"
  /// The length of a time in the format `mm/dd/yy hh:mm:ss`.
  private static let clockLength = 17

  /// The next complete command. Hosts end commands with different characters, so a command is found by its
  /// letters.
  private func nextCommand() -> String? {
    while !text.isEmpty {
      if let command = Self.commands.first(where: text.hasPrefix) {
        text.removeFirst(command.count)
        return command
      }
      if text.hasPrefix(Self.setClock) {
        let length = Self.setClock.count + Self.clockLength
        guard text.count >= length else { return nil }
        let command = String(text.prefix(length))
        text.removeFirst(length)
        return command
      }
      if (Self.commands + [Self.setClock]).contains(where: { $0.hasPrefix(text) }) { return nil }
      text.removeFirst()
    }
    return nil
  }

  private func answer(_ command: String) -> String {
    switch command {
    case "DM?": return Self.line("?\(memory.firmware)\(model == .ultra2 ? " 01/18/08" : "   /  /  ")")
    case "DM@": return Self.line("@ \"\(memory.serial)\"")
    case "DMF": return Self.line("F \(shown(clock))")
    case "DMSU?": return Self.line("SU?,\"\(unit)\"")
    case "DMST?": return Self.line("ST?,\"AM/PM\"")
    case "DMID": return Self.line("ID \"673451\"")
    case "DMP": return dump
    case "DMZ":
      wasErased = true
      return Self.line("Z")
    default: return set(String(command.dropFirst(Self.setClock.count)))
    }
  }

  private func set(_ text: String) -> String {
    let numbers = text.split { "/: ".contains($0) }.compactMap { Int($0) }
    if numbers.count == 6,
      let time = DeviceTime(
        year: 2000 + numbers[2], month: numbers[0], day: numbers[1], hour: numbers[3], minute: numbers[4],
        second: numbers[5])
    {
      clock = time
    }
    return Self.line("T \(shown(clock))")
  }

  private var unit: String { memory.unit == .millimolesPerLitre ? "MMOL/L" : "MG/DL " }

  /// The lines of the whole memory. Values are in mg/dL whatever the header states.
  private var dump: String {
    let head = Self.line("P \(digits(items.count, 3)),\"\(memory.serial)\",\"\(unit)\"")
    return head
      + items.map { item, isDamaged in
        let meal = item.marks.contains(.beforeMeal) ? "B" : item.marks.contains(.afterMeal) ? "A" : "N"
        let rest = model == .ultra2 ? ",\"\(meal)\",\"00\"" : ""
        return Self.line("P \(shown(item.deviceTime)),\"\(result(item, isDamaged))\"\(rest), 00")
      }.joined()
  }

  /// A result in six characters. How a real meter writes LO is unknown, so a number below 20 means LO.
  private func result(_ item: SimulatedItem, _ isDamaged: Bool) -> String {
    let control = item.marks.contains(.controlSolution) ? "C" : " "
    let end = isDamaged ? "?" : " "
    switch item.measurement {
    case .high: return "\(control)HIGH\(end)"
    case .low: return "\(control) 019\(end)"
    case .value: return "\(control) \(digits(item.milligrams ?? 0, 3))\(end)"
    }
  }

  /// A time in the format `"SAT","08/03/13","22:12:00   "`.
  private func shown(_ time: DeviceTime) -> String {
    let days = ["THU", "FRI", "SAT", "SUN", "MON", "TUE", "WED"]
    let day = Int(time.seconds / 86400) % 7
    let p = time.parts
    let date = "\(digits(p.month, 2))/\(digits(p.day, 2))/\(digits(p.year % 100, 2))"
    let hour = "\(digits(p.hour, 2)):\(digits(p.minute, 2)):\(digits(p.second, 2))"
    return "\"\(days[(day + 7) % 7])\",\"\(date)\",\"\(hour)   \""
  }

  private func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
