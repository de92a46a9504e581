// SPDX-License-Identifier: Apache-2.0

import Archives
import Testing

@testable import Formats

/// Tests how many first bytes are read from a pipe, depending on how fast its writer sends.
@Suite struct HeadTests {
  @Test(
    arguments: [
      ("b", "Ben"), ("a", "Anna"), ("c", nil), ("d", nil), ("cut", "Carl"),
    ] as [(String, String?)])
  func theNameOfAPersonIsReadFromTheObjectWithTheGivenID(_ id: String, _ name: String?) throws {
    let text = #"""
      [{"patientId":"a","said":"\"firstName\": {","sensor":{"sn":"1"},"firstName":"Anna"},
      {"firstName":"Ben","sensor":{"firstName":"no"},"patientId" : "b"},{"patientId":"c","names":{"firstName":"no"}},
      {"firstName":"Carl","patientId":"cut","rest
      """#
    let head = try InputHead(text: Array(text.utf8), isWhole: false)
    #expect(head.value(of: "firstName", nextTo: id) == name)
  }

  /// A pipe whose writer sends this many bytes in intervals of this many milliseconds, until it has sent all.
  private final class Writer: ByteSource {
    private(set) var now = ContinuousClock.now
    private let bytes: Int
    private let gap: Int
    private var rest: Int
    private var waited = 0

    init(_ bytes: Int, each gap: Int, of rest: Int = .max) {
      (self.bytes, self.gap, self.rest) = (bytes, gap, rest)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
      if rest == 0 { return .end }
      if gap - waited > 200 {
        waited += 200
        now = now.advanced(by: .milliseconds(200))
        return .paused
      }
      now = now.advanced(by: .milliseconds(gap - waited))
      waited = 0
      let count = min(bytes, rest, buffer.count)
      rest -= count
      return .bytes(count)
    }

    func head() throws -> Head { try readHead(limit: 65536, now: { self.now }) }
  }

  @Test(arguments: [10, 100, 199, 300, 700, 999])
  func theFirstBytesOfALivePipeAreReadForOneSecond(gap: Int) throws {
    let writer = Writer(40, each: gap)
    let start = writer.now
    let head = try writer.head()
    #expect(head.isLive && !head.ended && !head.bytes.isEmpty)
    #expect(writer.now - start <= .milliseconds(gap + 1200), "a second behind the first bytes")
  }

  @Test func theReaderWaitsForTheFirstBytesOfAPipe() throws {
    let head = try Writer(40, each: 30_000, of: 40).head()
    #expect(head.bytes.count == 40)
  }

  @Test func aDownloadIsNotTakenForALivePipeHoweverLongItTakes() throws {
    let head = try Writer(1400, each: 100).head()
    #expect(!head.isLive && !head.ended && head.bytes.count >= 1400 * 10)
  }

  @Test func aFastPipeIsReadUpToTheLimitOfTheHead() throws {
    let head = try Writer(16384, each: 5).head()
    #expect(!head.isLive && !head.ended && head.bytes.count == 65536)
  }

  @Test func aShortPipeIsReadToItsEnd() throws {
    let head = try Writer(40, each: 10, of: 400).head()
    #expect(!head.isLive && head.ended && head.bytes.count == 400)
  }

  @Test func aWriterThatStopsForASecondMakesAPipeLive() throws {
    let head = try Writer(8000, each: 1100).head()
    #expect(head.isLive && head.bytes.count == 8000)
  }

  @Test func aDownloadWithAPauseAfterOneSecondIsNotTakenForALivePipe() throws {
    let head = try Writer(5000, each: 700).head()
    #expect(!head.isLive && head.bytes.count == 15000)
  }
}
