// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import SeededRandom
import Testing

/// Tests samples with random damage: no damage crashes or hangs the reader, and truncation adds no reading.
///
/// `GLUCOPORT_FUZZ_ROUNDS` sets the number of rounds, and `GLUCOPORT_FUZZ_SEED` the first seed. A failure
/// reports its seed.
@Suite struct MutationTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let rounds = environment["GLUCOPORT_FUZZ_ROUNDS"].flatMap { Int($0) }
  private static let firstSeed = environment["GLUCOPORT_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1

  private struct Sample {
    let path: String
    let bytes: [UInt8]
    let options: ExportOptions
  }

  /// The part of a reading from a truncated sample that must also be in the complete sample.
  private struct Trace: Hashable, CustomStringConvertible {
    let kind: ReadingKind
    let deviceTime: DeviceTime
    let measurement: Logbook.Measurement
    let device: Device

    var description: String { "\(kind.name) \(deviceTime.text) \(measurement) \(device)" }
  }

  private static func samples() throws -> [Sample] {
    try Repository.sampleExports.map { path in
      let url = Repository.samples.appending(path: path)
      return try Sample(
        path: path, bytes: Array(Data(contentsOf: url)), options: Rendering.options(besides: url))
    }
  }

  /// The readings in some bytes. If the input is refused, these are the readings before the refusal.
  private static func traces(_ bytes: some Sequence<UInt8>, _ options: ExportOptions) throws -> Set<Trace> {
    let file = try ScratchFile(bytes)
    var batch = IngestBatch()
    do {
      var reader = try InputReader(path: file.url.path, options: options)
      while try reader.read(into: &batch) {}
    } catch is Failure {
      // A refusal is a correct result for damaged bytes.
    }
    return Set(
      batch.readings.map { reading in
        Trace(
          kind: reading.kind, deviceTime: reading.deviceTime, measurement: reading.measurement,
          device: batch.devices[Int(reading.device.number)])
      })
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Runs a body with consecutive seeds: for the number of rounds in the environment, or for at most two
  /// seconds of processor time.
  private static func repeatSeeds(atMost max: Int, _ body: (UInt64) throws -> Void) throws {
    let end = threadSeconds() + 2
    for round in 0..<UInt64(rounds ?? max) {
      if rounds == nil, threadSeconds() > end { return }
      try body(firstSeed + round)
    }
  }

  @Test(.timeLimit(.minutes(rounds == nil ? 10 : 600))) func damagedInputsNeverCrashOrHangTheReader() throws {
    let samples = try Self.samples()
    try Self.repeatSeeds(atMost: 2000) { seed in
      var generator = SeededGenerator(seed: seed)
      let sample = try #require(samples.randomElement(using: &generator))
      let other = samples.randomElement(using: &generator)?.bytes ?? []
      var bytes = sample.bytes
      for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.damage(&bytes, other, using: &generator) }
      let began = ContinuousClock().now
      _ = try Self.traces(bytes, sample.options)
      let took = ContinuousClock().now - began
      #expect(took < .seconds(60), "seed \(seed): \(sample.path) took \(took)")
    }
  }

  @Test(.timeLimit(.minutes(rounds == nil ? 10 : 600))) func anInputTruncatedAnywhereAddsNoReading() throws {
    let samples = try Self.samples()
    let wholes = try samples.map { try Self.traces($0.bytes, $0.options) }
    let options = try samples.map { try Self.options(ofCutsOf: $0) }
    try Self.repeatSeeds(atMost: 2000) { seed in
      var generator = SeededGenerator(seed: seed)
      let index = try #require(samples.indices.randomElement(using: &generator))
      let sample = samples[index]
      let length = Int.random(in: 0...sample.bytes.count, using: &generator)
      let traces = try Self.traces(sample.bytes.prefix(length), options[index])
      // If only one row remains, no earlier row shows whether its last cell is complete.
      let added = traces.count > 1 ? traces.subtracting(wholes[index]) : []
      #expect(added.isEmpty, "seed \(seed): \(sample.path) cut to \(length) bytes adds \(added)")
    }
  }

  /// The options for a truncated sample. Two or three rows do not show the interval of a sensor, so the kind
  /// is given for them.
  private static func options(ofCutsOf sample: Sample) throws -> ExportOptions {
    let file = try ScratchFile(sample.bytes)
    var options = sample.options
    let reader = try InputReader(path: file.url.path, options: options)
    let kind = reader.decisions.first { $0.subject == "kind" && $0.basis == .inferred }
    options.kind = kind.flatMap { ReadingKind(name: $0.value) } ?? options.kind
    return options
  }

  private static func damage(_ bytes: inout [UInt8], _ other: [UInt8], using generator: inout SeededGenerator)
  {
    guard !bytes.isEmpty else { return bytes.append(contentsOf: other) }
    let from = Int.random(in: 0..<bytes.count, using: &generator)
    let to = min(bytes.count, from + Int.random(in: 1...200, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes[from] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1:
      let signs = Array("\",;\t\r\n\0{}[]:\\ 09.-+eEZT\u{FEFF}".utf8) + [0x80, 0xFF]
      bytes[from] = signs.randomElement(using: &generator) ?? 0
    case 2: bytes.removeSubrange(from..<to)
    case 3: bytes.insert(contentsOf: bytes[from..<to], at: from)
    case 4: bytes.removeSubrange(from...)
    default:
      guard !other.isEmpty else { return }
      let start = Int.random(in: 0..<other.count, using: &generator)
      bytes.replaceSubrange(from..., with: other[start...])
    }
  }
}
