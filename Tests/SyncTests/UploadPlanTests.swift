// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Sync

@Suite struct UploadPlanTests {
  private func plan(pushes: Bool = true, pulls: Bool = true, after events: UploadEvent...) throws
    -> UploadPlan
  {
    var options = UploadOptions()
    (options.pushes, options.pulls) = (pushes, pulls)
    (options.maxReadings, options.maxRecords, options.maxChanges) = (8, 4, 16)
    var plan = UploadPlan(options)
    for event in events { try plan.advance(after: event) }
    return plan
  }

  @Test func anUploadWithNothingToSendPullsOnceAndEnds() throws {
    var plan = try plan(after: .done)
    var steps: [UploadStep] = []
    while steps.count < 10 {
      steps.append(plan.current)
      if case .finish = plan.current { break }
      try plan.advance(after: .exhausted)
    }
    #expect(
      steps == [
        .pushReadings(limit: 8), .pushRecords(.entries, limit: 4), .pushRecords(.children, limit: 4),
        .pull(limit: 16), .pushAttachments, .fetchAttachments, .finish(.complete),
      ])
  }

  @Test func pushOnlyNeverPullsAndPullOnlyNeverPushes() throws {
    #expect(
      try plan(pulls: false, after: .done, .exhausted, .exhausted, .exhausted, .exhausted).current
        == .finish(.complete))
    let pullOnly = try plan(pushes: false, after: .done)
    #expect(pullOnly.current == .pull(limit: 16))
    #expect(!pullOnly.canPushRecords)
  }

  @Test func aPullRolledBackByAnEditPushesAndPullsAgain() throws {
    let plan = try plan(after: .done, .exhausted, .exhausted, .exhausted, .rolledBack)
    #expect(plan.current == .pushRecords(.entries, limit: 4))
  }

  @Test func tooManyPullsRolledBackByEditsEndTheUploadAsATemporaryFailure() throws {
    var plan = try plan(after: .done, .exhausted)
    for _ in 0..<UploadPlan.maxRollbacks {
      try plan.advance(after: .exhausted)
      try plan.advance(after: .exhausted)
      #expect(plan.current == .pull(limit: 16))
      try plan.advance(after: .rolledBack)
    }
    guard case .finish(.workLeft) = plan.current else {
      Issue.record("the run goes on: \(plan.current)")
      return
    }
  }

  @Test(arguments: [ServiceError.tooLarge, .serverFailure("500"), .refused("no")])
  func aFailingBatchIsHalvedDownToTheFailingItem(error: ServiceError) throws {
    var plan = try plan(after: .done)
    var sizes: [Int] = []
    while case .pushReadings(let limit) = plan.current {
      sizes.append(limit)
      try plan.advance(after: .failed(error, items: limit))
    }
    #expect(sizes == [8, 4, 2, 1])
    switch error {
    case .serverFailure: #expect(plan.current == .setAside)
    case .refused: #expect(plan.current == .quarantine(reason: "no"))
    default: #expect(plan.current == .quarantine(reason: "larger than the remote accepts"))
    }
    try plan.advance(after: .done)
    #expect(plan.current == .pushReadings(limit: 1))
    try plan.advance(after: .done)
    #expect(plan.current == .pushReadings(limit: 2))
  }

  @Test func aServerThatFailsForEveryItemEndsTheUpload() throws {
    var plan = try plan(after: .done)
    var steps = 0
    while steps < 50 {
      if case .finish(let ending) = plan.current {
        #expect(ending == .failed(.serverFailure("500")))
        return
      }
      if plan.current == .setAside {
        try plan.advance(after: .done)
      } else {
        try plan.advance(after: .failed(.serverFailure("500"), items: 1))
      }
      steps += 1
    }
    Issue.record("the run never ends")
  }

  @Test func anItemSkippedAfterAServerFailureIsLeftForAnotherUpload() throws {
    let plan = try plan(
      after: .done, .failed(.serverFailure("500"), items: 1), .done, .exhausted, .exhausted, .exhausted,
      .exhausted, .exhausted, .exhausted)
    guard case .finish(.workLeft) = plan.current else {
      Issue.record("\(plan.current)")
      return
    }
  }

  @Test(arguments: [
    ServiceError.unavailable(""), .busy("", retryAfterSeconds: 3), .loginRefused(""),
    .otherLogbook(id: ""), .protocolViolation(""),
  ])
  func errorsThatCannotBeRetriedEndTheUpload(error: ServiceError) throws {
    #expect(try plan(after: .done, .failed(error, items: 5)).current == .finish(.failed(error)))
  }

  @Test func aClientIDThatIsInUseIsReplacedALimitedNumberOfTimes() throws {
    var plan = try plan(after: .done)
    for _ in 0..<UploadPlan.maxRenewals {
      try plan.advance(after: .failed(.nodeReused, items: 1))
      #expect(plan.current == .renewNode)
      try plan.advance(after: .done)
      #expect(plan.current == .pushReadings(limit: 8))
    }
    try plan.advance(after: .failed(.nodeReused, items: 1))
    #expect(plan.current == .finish(.failed(.nodeReused)))
  }

  @Test func ifTheServerDoesNotKnowTheCursorMissingItemsAreQueuedFirst() throws {
    var plan = try plan(after: .done, .exhausted, .exhausted, .exhausted, .failed(.positionUnknown, items: 0))
    #expect(plan.current == .requeueMissing)
    try plan.advance(after: .done)
    #expect(plan.current == .renewNode)
    try plan.advance(after: .done)
    #expect(plan.current == .pushReadings(limit: 8))
  }

  @Test func anUploadWithAReadOnlyTokenStillPulls() throws {
    var plan = try plan(after: .done, .failed(.readOnly, items: 1))
    #expect(plan.current == .pull(limit: 16))
    #expect(!plan.canPushRecords)
    try plan.advance(after: .exhausted)
    #expect(plan.current == .fetchAttachments)
    try plan.advance(after: .exhausted)
    #expect(plan.current == .finish(.failed(.readOnly)))
  }

  @Test(arguments: [UploadStep.pushAttachments, .fetchAttachments])
  func pendingItemsAreSentBeforeAttachmentsContinue(lane: UploadStep) throws {
    var plan = try plan(after: .done, .exhausted, .exhausted, .exhausted, .exhausted)
    if lane == .fetchAttachments { try plan.advance(after: .exhausted) }
    for _ in 0..<2 {
      #expect(plan.current == lane)
      try plan.advance(after: .done)
      #expect(plan.current == lane)
      try plan.advance(after: .newItemsFirst)
      #expect(plan.current == .pushReadings(limit: 8))
      for _ in 0..<3 { try plan.advance(after: .exhausted) }
    }
    #expect(plan.current == lane)
    try plan.advance(after: .newItemsFirst)
    try plan.advance(after: .failed(.nodeReused, items: 1))
    try plan.advance(after: .done)
    for _ in 0..<3 { try plan.advance(after: .exhausted) }
    #expect(plan.current == .pull(limit: 16), "under another id everything begins anew")
  }

  @Test func theTimeLimitOfAnUploadEndsItBetweenSteps() throws {
    var plan = try plan(after: .done)
    try plan.advance(after: .limitReached(.time))
    #expect(plan.current == .finish(.workLeft("--max-time reached; the next run continues")))
  }

  @Test func aRequestInterruptedByTheTimeLimitIsNotAFailureOfTheRemote() throws {
    var interrupted = try plan(after: .done)
    try interrupted.advance(after: .failed(.unavailable("cut"), items: 1))
    var other = interrupted
    try interrupted.advance(after: .limitReached(.time))
    #expect(interrupted.current == .finish(.workLeft("--max-time reached; the next run continues")))
    try other.advance(after: .limitReached(.bytes))
    #expect(other.current == .finish(.failed(.unavailable("cut"))))
    var refused = try plan(after: .done)
    try refused.advance(after: .failed(.loginRefused("no"), items: 1))
    try refused.advance(after: .limitReached(.time))
    #expect(refused.current == .finish(.failed(.loginRefused("no"))))
  }

  @Test func theReasonForUnfinishedItemsIsReportedOnlyIfTheUploadCompletes() throws {
    let left = UploadEvent.workLeft("some are left")
    var plan = try plan(after: .done, left)
    #expect(plan.current == .pushReadings(limit: 8))
    var failed = plan
    for _ in 0..<6 { try plan.advance(after: .exhausted) }
    #expect(plan.current == .finish(.workLeft("some are left")))
    try failed.advance(after: .failed(.busy("", retryAfterSeconds: 3), items: 0))
    #expect(failed.current == .finish(.failed(.busy("", retryAfterSeconds: 3))))
  }

  @Test func aFetchOnlyUploadRepeatsAPageThatWasRolledBack() throws {
    #expect(try plan(pushes: false, after: .done, .rolledBack).current == .pull(limit: 16))
    let readOnly = try plan(after: .done, .failed(.readOnly, items: 1), .rolledBack)
    #expect(readOnly.current == .pull(limit: 16))
  }

  // MARK: - Impossible events

  private static let failure = UploadEvent.failed(.unavailable(""), items: 1)
  private static let left = UploadEvent.workLeft("some are left")

  /// Plans, each with its current step and the events that cannot occur in this step.
  private func impossible() throws -> [(plan: UploadPlan, step: UploadStep, events: [UploadEvent])] {
    let refused = UploadEvent.failed(.refused("no"), items: 1)
    let failing = UploadEvent.failed(.serverFailure("500"), items: 1)
    let pulling = try plan(after: .done, .exhausted, .exhausted, .exhausted)
    func after(_ plan: UploadPlan, _ events: UploadEvent...) throws -> UploadPlan {
      var plan = plan
      for event in events { try plan.advance(after: event) }
      return plan
    }
    let sending = try after(pulling, .exhausted)
    return [
      (try plan(), .begin, [.newItemsFirst, .rolledBack]),
      (try plan(after: .done), .pushReadings(limit: 8), [.newItemsFirst, .rolledBack]),
      (try plan(after: .done, .exhausted), .pushRecords(.entries, limit: 4), [.newItemsFirst, .rolledBack]),
      (try plan(after: .done, failing), .setAside, [.exhausted, .newItemsFirst, .rolledBack, Self.failure]),
      (
        try plan(after: .done, refused), .quarantine(reason: "no"),
        [.exhausted, .newItemsFirst, .rolledBack, Self.failure]
      ),
      (pulling, .pull(limit: 16), []),
      (sending, .pushAttachments, [.rolledBack]),
      (try after(sending, .exhausted), .fetchAttachments, [.rolledBack]),
      (
        try after(pulling, .failed(.positionUnknown, items: 0)), .requeueMissing,
        [.exhausted, .newItemsFirst, .rolledBack]
      ),
      (
        try after(pulling, .failed(.nodeReused, items: 0)), .renewNode,
        [.exhausted, .newItemsFirst, .rolledBack, Self.failure]
      ),
      (
        try after(sending, .exhausted, .exhausted), .finish(.complete),
        [.done, .exhausted, .newItemsFirst, .rolledBack, Self.failure, Self.left]
      ),
    ]
  }

  @Test func noStepOfTheUploadPlanAcceptsAnImpossibleEvent() throws {
    let events = [
      UploadEvent.done, .exhausted, .newItemsFirst, .rolledBack, Self.failure, Self.left,
      .limitReached(.time),
    ]
    for (plan, step, impossible) in try impossible() {
      #expect(plan.current == step)
      for event in events {
        var plan = plan
        #expect((plan.state(after: event) == nil) == impossible.contains(event), "\(step): \(event)")
      }
    }
  }

  private static var hasAssertions: Bool {
    var has = false
    assert(
      {
        has = true
        return true
      }())
    return has
  }

  @Test(.enabled(if: hasAssertions)) func withAssertionsAnImpossibleUploadEventStopsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      var plan = UploadPlan(UploadOptions())
      do {
        try plan.advance(after: .rolledBack)
      } catch {
        // In a build without assertions, the event is an error. It is caught, the process succeeds, and the
        // test fails.
      }
    }
  }

  @Test func anImpossibleUploadEventIsReportedAsABug() {
    let error = UploadPlanError(step: .begin, event: .rolledBack)
    #expect("\(error)" == "the upload step begin ended with rolledBack")
  }
}
