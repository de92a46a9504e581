// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests numbers and times that are written as bytes, by comparison with their texts.
@Suite struct NumberTextTests {
  private static func text(_ write: (inout [UInt8]) -> Void) -> String {
    // The bytes before the number stay unchanged.
    var out = Array("x9".utf8)
    write(&out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test func theFastWriterOfWholeNumbersWritesTheirDigits() {
    var powers: [Int64] = [1]
    for _ in 0..<18 { powers.append(powers[powers.count - 1] * 10) }
    let numbers = powers.flatMap { (power: Int64) -> [Int64] in [power, power - 1, -power, 1 - power] }
    for number in numbers + [.min, .max] {
      #expect(Self.text { appendInteger(number, to: &$0) } == "x9\(number)")
    }
  }

  @Test(arguments: [0, -0.0, 1, -5, 5.5, 0.1, 120.25, 1e15, 1e-7, 999_999_999_999_999, -1e300])
  func theFastWriterOfNumbersWritesTheirDecimalText(_ number: Double) {
    #expect(Self.text { appendNumber(number, to: &$0) } == "x9" + plainNumber(number))
  }

  @Test func theFastWriterOfTimesAlwaysWritesTheTextOfTheTime() {
    var random = SeededGenerator(seed: 1)
    var writer = DeviceTimeWriter()
    let borders: [Int64] = [
      0, 86_400, -86_400, 951_868_800, 253_402_300_800, -62_135_596_800, -63_000_000_000,
    ]
    var seconds = borders.flatMap { [$0 - 1, $0, $0 + 1] }
    seconds += (0..<1000).map { _ in Int64.random(in: -70_000_000_000...260_000_000_000, using: &random) }
    for seconds in seconds.shuffled(using: &random) {
      let time = DeviceTime(seconds: seconds)
      for _ in 0..<2 { #expect(Self.text { writer.append(time, to: &$0) } == "x9" + time.text) }
    }
  }
}
