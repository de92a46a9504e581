// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import TestServers
import Testing

@testable import Remotes

/// Tests the requests that find documents, move them in time and withdraw them.
@Suite struct NightscoutMovingTests {
  private static let guid = NightscoutPushTests.guid

  /// An entry that glucoport made from a reading, with its time shifted by seconds and milliseconds.
  private static func entry(_ reading: Reading, _ device: Device, later seconds: Int64 = 0, shift: Int64 = 0)
    -> [String: JSONValue]
  {
    let identifier = ReadingIdentity(reading, device).uuid
    let members = NightscoutEntry.members(
      reading, device, identifier: identifier, shift: seconds * 1000 + shift,
      NightscoutWriter(Login.run(node: 2)))
    return members
  }

  @Test func readingsToMoveAreSearchedByIdentifierFiftyAtATime() async throws {
    let batch = Sample.batch(120)
    let device = batch.devices[0]
    let there = Self.entry(batch.readings[0], device, shift: 3)
    let moved = Self.entry(batch.readings[1], device, later: -3600)
    let double = Self.entry(batch.readings[1], device)
    let script = try NightscoutScript { call, _ in
      NightscoutScript.list(
        [there, moved, double].filter { call.contains($0["identifier"]?.text ?? "-") })
    }
    let found = try await script.ask { try await $0.instants(of: batch, Login.run()) }
    let seconds = batch.readings.map { $0.deviceTime.seconds - Int64($0.placement.utcOffset) }
    #expect(found.count == 120 && found[0] == [seconds[0]])
    #expect(found[1] == [seconds[1] - 3600, seconds[1]])
    let others = found.dropFirst(2).filter { !$0.isEmpty }
    #expect(others.isEmpty)
    #expect(script.calls.count == 3 && script.calls.allSatisfy { $0.contains("identifier$in=") })
    #expect(script.calls.allSatisfy { $0.utf8.count < 4096 }, "what every proxy takes")
  }

  @Test(arguments: [(200, "{}"), (404, "<html>"), (500, "")])
  func anInvalidListOfEntriesMovesNoReadings(_ status: Int, _ body: String) async throws {
    let script = try NightscoutScript { _, _ in (status, body) }
    await #expect(throws: ServiceError.self) {
      try await script.ask { _ = try await $0.instants(of: Sample.batch(1), Login.run()) }
    }
  }

  /// A treatment that others edited on the site must be pulled before it can be moved.
  @Test func aTreatmentThatOthersEditedIsNotMoved() async throws {
    let document = NightscoutPushTests.treatment(Sample.bolus, ["insulin": .number(9)])
    let script = try NightscoutScript { call, _ in
      call.contains("?") ? NightscoutScript.list([]) : NightscoutScript.document(document)
    }
    let verdict = try await script.ask {
      try await $0.move(
        NightscoutPushTests.change(Sample.bolus, base: NightscoutPushTests.revision(Sample.bolus)),
        Login.run())
    }
    guard case .conflict = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(script.calls.allSatisfy { $0.hasPrefix("GET") })
  }

  /// A site returns a deleted document only if the request does not ask for its member `isValid`.
  @Test(arguments: [true, false])
  func anEditRestoresAnUndoneRecordButNotADeletedOne(_ isWithdrawn: Bool) async throws {
    var members = NightscoutPushTests.treatment(Sample.bolus)
    if isWithdrawn, case .object(var own)? = members[NightscoutDocument.ownName] {
      own["withdrawn"] = .flag(true)
      members[NightscoutDocument.ownName] = .object(own)
    }
    let shown = members.filter { ["identifier", NightscoutDocument.ownName].contains($0.key) }
    let script = try NightscoutScript { call, _ in
      if call.contains("?fields=identifier,glucoport") { return NightscoutScript.document(shown) }
      if call.contains("?") { return NightscoutScript.list([]) }
      if call.hasPrefix("POST") {
        return (200, #"{"status":200,"identifier":"x","lastModified":5}"#)
      }
      return call.contains(Self.guid) ? (410, #"{"status":410}"#) : nil
    }
    var edited = Sample.bolus
    edited.fields["units"] = .number(6)
    let change = NightscoutPushTests.change(
      edited, base: NightscoutPushTests.revision(Sample.bolus), version: 2)
    let verdict = try await script.ask { try await $0.apply([change], Login.run()).verdicts.first }
    if isWithdrawn {
      #expect(verdict == .accepted(revision: NightscoutPushTests.revision(edited)))
      let posted = try #require(try script.bodies("POST").first)
      #expect(posted["insulin"] == .number(6) && posted[NightscoutDocument.ownName]?["withdrawn"] == nil)
    } else {
      guard case .conflict(_, let state, _)? = verdict else {
        Issue.record("\(String(describing: verdict))")
        return
      }
      #expect(state.isDeleted && !script.calls.contains { $0.hasPrefix("POST") })
    }
  }

  @Test func aTreatmentOfAnotherProgramIsNotRemovedFromTheSite() async throws {
    let document = NightscoutPushTests.treatment(Sample.bolus, ["app": .text("AAPS")])
    let script = try NightscoutScript { call, _ in
      call.contains("?") ? NightscoutScript.list([]) : NightscoutScript.document(document)
    }
    let change = NightscoutPushTests.change(
      Sample.bolus, base: NightscoutPushTests.revision(Sample.bolus))
    try await script.ask { try await $0.remove(change, Login.run()) }
    #expect(script.calls.allSatisfy { $0.hasPrefix("GET") })
  }
}
