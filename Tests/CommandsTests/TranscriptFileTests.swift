// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

@testable import Commands

/// Tests the file to which the transcript of a meter session is written.
@Suite struct TranscriptFileTests {
  private let program: Program

  init() throws { program = try Program() }

  private func category(_ work: () throws(Failure) -> Void) -> FailureCategory? {
    do {
      try work()
      return nil
    } catch {
      return error.category
    }
  }

  @Test func eachTranscriptLineIsInTheFileAsSoonAsItIsWritten() throws {
    let path = program.path("session")
    let file = try TranscriptFile(creating: path)
    try file.write("one\n")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\n")
    try file.write("two\n")
    try file.close()
    #expect(try TranscriptFile.read(path) == Array("one\ntwo\n".utf8))
    #expect(try mode(of: path) == 0o600)
  }

  @Test func aTranscriptDoesNotOverwriteAFile() throws {
    let path = try program.write("mine", to: "session")
    #expect(category { () throws(Failure) in _ = try TranscriptFile(creating: path) } == .cannotCreate)
    #expect(try TranscriptFile.read(path) == Array("mine".utf8))
  }

  @Test func aDiscardedTranscriptIsRemoved() throws {
    let path = program.path("session")
    let file = try TranscriptFile(creating: path)
    file.remove()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func aFullDiskIsReportedAtTheTranscriptLineThatDidNotFit() throws {
    let file = try TranscriptFile(creating: program.path("session"))
    try file.close()
    #expect(category { () throws(Failure) in try file.write("one\n") } == .inputOutput)
  }

  @Test func aFolderIsRefusedAsATranscript() {
    let folder = program.folder.path
    #expect(category { () throws(Failure) in _ = try TranscriptFile.read(folder) } == .badInput)
  }
}
