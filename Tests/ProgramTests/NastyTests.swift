// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// A difficult input that exists or could exist, and its expected result.
struct NastyInput: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let arguments: [String]
  let status: Int32
  /// The number of new readings. Nil if the whole input is refused.
  let new: Int?
  let rejected: Int
  let isTruncated: Bool
  /// A text that standard error must contain.
  let says: String

  init(
    _ name: String, _ bytes: [UInt8], _ arguments: [String] = [], status: Int32, new: Int?, rejected: Int = 0,
    isTruncated: Bool = false, says: String = ""
  ) {
    self.name = name
    self.bytes = bytes
    self.arguments = arguments
    self.status = status
    self.new = new
    self.rejected = rejected
    self.isTruncated = isTruncated
    self.says = says
  }

  init(
    _ name: String, _ text: String, _ arguments: [String] = [], status: Int32, new: Int?, rejected: Int = 0,
    isTruncated: Bool = false, says: String = ""
  ) {
    self.init(
      name, Array(text.utf8), arguments, status: status, new: new, rejected: rejected,
      isTruncated: isTruncated, says: says)
  }

  var testDescription: String { name }
}

/// Tests difficult inputs from a file and from a pipe.
@Suite(.timeLimit(.minutes(10)))
struct NastyTests {
  @Test(arguments: NastyInput.files + NastyInput.structures + NastyInput.values + NastyInput.times)
  func anUnusualInputIsImportedOrRefusedAsExpected(input: NastyInput) async throws {
    let program = try Program()
    let path = try program.write(input.bytes, to: "input")
    let arguments = ["--json", "--timezone", "Europe/Madrid"] + input.arguments
    let outcome = try await program.run(arguments: ["import", path] + arguments)
    try Self.judge(outcome, input)
    let piped = try await program.run(
      arguments: ["import", "-", "--store", program.path("piped.db")] + arguments, input: input.bytes)
    try Self.judge(piped, input)
    if let new = input.new {
      #expect(try StoreFile(program.store).count("reading") == new)
      #expect(try StoreFile(program.store).readings() == StoreFile(program.path("piped.db")).readings())
    } else {
      #expect(!FileManager.default.fileExists(atPath: program.store))
    }
  }

  private static func judge(_ outcome: Program.Outcome, _ input: NastyInput) throws {
    #expect(outcome.status == input.status, "\(outcome.errors)\(outcome.output)")
    let object = try outcome.objects().first
    #expect(object?["new"] as? Int == input.new, "\(outcome.errors)\(outcome.output)")
    #expect(object?["rejected"] as? Int ?? 0 == input.rejected, "\(outcome.errors)\(outcome.output)")
    #expect((object?["outcome"] as? String == "truncated") == input.isTruncated)
    #expect(input.says.isEmpty || outcome.errors.contains(input.says), "\(outcome.errors)")
  }
}
