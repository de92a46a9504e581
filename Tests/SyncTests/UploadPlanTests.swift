// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Sync

@Suite struct UploadPlanTests {
  private func plan(pushes: Bool = true, pulls: Bool = true, after events: UploadEvent...) -> UploadPlan {
    var options = UploadOptions()
    (options.pushes, options.pulls) = (pushes, pulls)
    (options.maxReadings, options.maxRecords, options.maxChanges) = (8, 4, 16)
    var plan = UploadPlan(options)
    for event in events { plan.note(event) }
    return plan
  }

  @Test func aRunWithNothingToDoPullsOnceAndEnds() {
    var plan = plan(after: .done)
    var steps: [UploadStep] = []
    while steps.count < 10 {
      steps.append(plan.current)
      if case .finish = plan.current { break }
      plan.note(.exhausted)
    }
    #expect(
      steps == [
        .pushReadings(limit: 8), .pushRecords(.entries, limit: 4), .pushRecords(.children, limit: 4),
        .pull(limit: 16), .pushAttachments, .fetchAttachments, .finish(.complete),
      ])
  }

  @Test func pushOnlyNeverPullsAndPullOnlyNeverPushes() {
    #expect(
      plan(pulls: false, after: .done, .exhausted, .exhausted, .exhausted, .exhausted).current
        == .finish(.complete))
    let pullOnly = plan(pushes: false, after: .done)
    #expect(pullOnly.current == .pull(limit: 16))
    #expect(!pullOnly.canPushRecords)
  }

  @Test func aRolledBackPullPushesAndPullsAgain() {
    let plan = plan(after: .done, .exhausted, .exhausted, .exhausted, .rolledBack)
    #expect(plan.current == .pushRecords(.entries, limit: 4))
  }

  @Test func aBusyEditorEndsTheRunAsTemporary() {
    var plan = plan(after: .done, .exhausted)
    for _ in 0..<UploadPlan.maxRollbacks {
      plan.note(.exhausted)
      plan.note(.exhausted)
      #expect(plan.current == .pull(limit: 16))
      plan.note(.rolledBack)
    }
    guard case .finish(.workLeft) = plan.current else {
      Issue.record("the run goes on: \(plan.current)")
      return
    }
  }

  @Test(arguments: [RemoteError.tooLarge, .serverFailure("500"), .refused("no")])
  func aFailingBatchIsHalvedDownToTheItem(error: RemoteError) {
    var plan = plan(after: .done)
    var sizes: [Int] = []
    while case .pushReadings(let limit) = plan.current {
      sizes.append(limit)
      plan.note(.failed(error, items: limit))
    }
    #expect(sizes == [8, 4, 2, 1])
    switch error {
    case .serverFailure: #expect(plan.current == .setAside)
    case .refused: #expect(plan.current == .quarantine(reason: "no"))
    default: #expect(plan.current == .quarantine(reason: "larger than the remote takes"))
    }
    plan.note(.done)
    #expect(plan.current == .pushReadings(limit: 1))
    plan.note(.done)
    #expect(plan.current == .pushReadings(limit: 2))
  }

  @Test func aServerThatFailsAtEveryItemEndsTheRun() {
    var plan = plan(after: .done)
    var steps = 0
    while steps < 50 {
      if case .finish(let ending) = plan.current {
        #expect(ending == .failed(.serverFailure("500")))
        return
      }
      if plan.current == .setAside {
        plan.note(.done)
      } else {
        plan.note(.failed(.serverFailure("500"), items: 1))
      }
      steps += 1
    }
    Issue.record("the run never ends")
  }

  @Test func anItemSetAsideLeavesWorkForAnotherRun() {
    let plan = plan(
      after: .done, .failed(.serverFailure("500"), items: 1), .done, .exhausted, .exhausted, .exhausted,
      .exhausted, .exhausted, .exhausted)
    guard case .finish(.workLeft) = plan.current else {
      Issue.record("\(plan.current)")
      return
    }
  }

  @Test(arguments: [
    RemoteError.unavailable(""), .busy("", retryAfterSeconds: 3), .loginRefused(""),
    .otherLogbook(id: ""), .protocolViolation(""),
  ])
  func whatNoRetryMendsEndsTheRun(error: RemoteError) {
    #expect(plan(after: .done, .failed(error, items: 5)).current == .finish(.failed(error)))
  }

  @Test func aReusedNodeTakesAnotherIDAFewTimesAtMost() {
    var plan = plan(after: .done)
    for _ in 0..<UploadPlan.maxRenewals {
      plan.note(.failed(.nodeReused, items: 1))
      #expect(plan.current == .renewNode)
      plan.note(.done)
      #expect(plan.current == .pushReadings(limit: 8))
    }
    plan.note(.failed(.nodeReused, items: 1))
    #expect(plan.current == .finish(.failed(.nodeReused)))
  }

  @Test func anUnknownPositionIsVerifiedBeforeAnythingElse() {
    var plan = plan(after: .done, .exhausted, .exhausted, .exhausted, .failed(.positionUnknown, items: 0))
    #expect(plan.current == .requeueMissing)
    plan.note(.done)
    #expect(plan.current == .renewNode)
    plan.note(.done)
    #expect(plan.current == .pushReadings(limit: 8))
  }

  @Test func aLoginForReadingOnlyStillPulls() {
    var plan = plan(after: .done, .failed(.readOnly, items: 1))
    #expect(plan.current == .pull(limit: 16))
    #expect(!plan.canPushRecords)
    plan.note(.exhausted)
    #expect(plan.current == .fetchAttachments)
    plan.note(.exhausted)
    #expect(plan.current == .finish(.failed(.readOnly)))
  }

  @Test(arguments: [UploadStep.pushAttachments, .fetchAttachments])
  func whatOvertakesAttachmentsIsSentAndTheyGoOn(lane: UploadStep) {
    var plan = plan(after: .done, .exhausted, .exhausted, .exhausted, .exhausted)
    if lane == .fetchAttachments { plan.note(.exhausted) }
    for _ in 0..<2 {
      #expect(plan.current == lane)
      plan.note(.done)
      #expect(plan.current == lane)
      plan.note(.overtaken)
      #expect(plan.current == .pushReadings(limit: 8))
      for _ in 0..<3 { plan.note(.exhausted) }
    }
    #expect(plan.current == lane)
    plan.note(.overtaken)
    plan.note(.failed(.nodeReused, items: 1))
    plan.note(.done)
    for _ in 0..<3 { plan.note(.exhausted) }
    #expect(plan.current == .pull(limit: 16), "under another id everything begins anew")
  }

  @Test func theTimeOfARunEndsItBetweenSteps() {
    var plan = plan(after: .done)
    plan.stop("late")
    #expect(plan.current == .finish(.workLeft("late")))
  }
}
