// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Lists the sync rules, each with the tests that fail if it is broken. The listed tests must exist. Before a
/// rule is changed, break it in the code and check that its tests fail.
@Suite struct RuleTests {
  private struct Rule {
    let sentence: String
    /// The tests of the rule, each with its file as `Folder/File` and its name.
    let tests: [(file: String, name: String)]

    init(_ sentence: String, _ tests: (String, String)...) {
      self.sentence = sentence
      self.tests = tests.map { (file: "\($0.0).swift", name: $0.1) }
    }
  }

  private static let rules =
    edits + push + pull + conflicts + failures + states + zones + withdrawals
    + nesting + limits + files

  private static let zones = [
    Rule(
      "An offset that the zones derive is no content: it makes no edit, no merge, no conflict and no difference.",
      ("SyncTests/ZoneSyncTests", "derivedUTCOffsetsAreNotTreatedAsEdits"),
      ("LogbookStoreTests/ComparisonTests", "changingTheTimeZoneDoesNotChangeTheDigestsOfRecords")),
    Rule(
      "A store derives every offset in the transaction that changes a zone record, whatever its source.",
      ("LogbookStoreTests/ZoneRecordTests", "removingAZonePeriodMovesItsItemsBack"),
      ("SyncTests/ZoneSyncTests", "storesWithDifferentSystemTimeZonesEndWithEqualInstants")),
    Rule(
      "The zone of the remote's logbook replaces a base zone of a system, before anything is sent.",
      ("SyncTests/ZoneSyncTests", "aSystemTimeZoneIsReplacedByThatOfTheLogbook")),
    Rule(
      "A zone that is given for an import applies to the readings and records of this import, and to nothing else.",
      (
        "LogbookStoreTests/ItemZoneTests",
        "aTimeZoneGivenForAnImportDoesNotChangeAnotherImportOfTheSameDevice"
      ),
      ("LogbookStoreTests/ItemZoneTests", "anEditedRecordStaysInTheTimeZoneOfItsImport"),
      ("LogbookStoreTests/ItemZoneTests", "itemsOfAnInterruptedImportHaveItsTimeZone"),
      ("LogbookStoreTests/ZoneHistoryTests", "storedOffsetsAlwaysFollowFromTheTimeZoneRecords")),
    Rule(
      "The import that sets the base zone states nothing else, and counts as the first one until it is complete.",
      ("LogbookStoreTests/ItemZoneTests", "theImportThatSetsTheHomeTimeZoneStatesNoOtherZone"),
      ("LogbookStoreTests/ItemZoneTests", "aHomeTimeZoneSetByAPersonBelongsToNoImport")),
    Rule(
      "A change of the base moves only items without a stated zone; a statement that equals the base is still stored.",
      ("LogbookStoreTests/ItemZoneTests", "aTimeZoneGivenForAnImportIsKeptWhenTheHomeTimeZoneChanges"),
      ("LogbookStoreTests/ItemZoneTests", "aZonePeriodWithTheHomeTimeZoneIsKeptWhenTheHomeTimeZoneChanges"),
      ("LogbookTests/LogbookZonesTests", "aZonePeriodWithTheHomeTimeZoneIsStillAdded")),
    Rule(
      "Of a period and the zone of an import, the later statement wins in all of its parts; a device's own periods win over both.",
      ("LogbookTests/LogbookZonesTests", "theLaterZoneStatedForAnItemWinsWithAllPartsOfItsStatement"),
      ("LogbookTests/LogbookZonesTests", "aZonePeriodIsNotJoinedWithOneMadeBeforeAZoneWasStatedForAnImport"),
      ("LogbookTests/LogbookZonesTests", "theLaterOfAZonePeriodAndAZoneStatedForAnImportWins"),
      ("LogbookStoreTests/ItemZoneTests", "aZonePeriodStatedAfterAnImportWinsForItsReadingsAndRecords"),
      ("LogbookStoreTests/ItemZoneTests", "aTimeZoneGivenForAnImportAfterAZonePeriodWinsForItsItems"),
      ("LogbookStoreTests/ItemZoneTests", "theZonePeriodOfADeviceIsComparedWithTheTimeZoneOfTheImport"),
      ("SyncTests/ZoneSyncTests", "aZonePeriodAndAZoneOfAnImportSyncInAnyOrderToTheSameResult"),
      ("SyncTests/ZoneSyncTests", "manyDevicesGivenTwoTimeZonesInTwoStoresEndWithTheLaterOne")),
    Rule(
      "An undo of an import ends its zone, and a redo restores it, on every store.",
      ("LogbookStoreTests/ItemZoneTests", "undoOfAnInputRepeatedInAnotherTimeZoneEndsThatZone"),
      ("LogbookStoreTests/ItemZoneTests", "aTimeZoneOfRepeatedImportsIsStatedOnceAndEndsWhenAllAreUndone"),
      ("SyncTests/ZoneSyncTests", "theTimeZoneOfAnUndoneImportEndsInEveryStore")),
    Rule(
      "A statement about an import applies to its items whenever they arrive, and on a site.",
      ("LogbookStoreTests/ItemZoneTests", "aTimeZoneStatedForItemsAppliesWhenTheyArriveLater"),
      ("SyncTests/ZoneSyncTests", "aSiteShowsReadingsAtTheInstantsOfTheTimeZoneOfTheirImport")),
    Rule(
      "If people set two base zones, a person must choose one, and nothing is sent before.",
      ("SyncTests/ZoneSyncTests", "twoTimeZonesSetByPeopleEndTheUploadUntilOneIsChosen"),
      ("SyncTests/ZoneJoinTests", "aFetchOnlyUploadEndsIfPeopleSetTwoTimeZones"),
      ("SyncTests/ZoneJoinTests", "aReadOnlyUploadEndsIfPeopleSetTwoTimeZones"),
      ("SyncTests/ZoneJoinTests", "theTimeZoneOfANightscoutSiteIsAdoptedLikeThatOfAServer")),
    Rule(
      "A store that adopts the remote's base zone keeps the offsets of what it has.",
      ("SyncTests/ZoneSyncTests", "twoTimeZonesSetByPeopleEndTheUploadUntilOneIsChosen")),
    Rule(
      "A logbook always has a base zone: if another program deletes it, it is sent again; one that a person set is kept.",
      ("SyncTests/ZoneJoinTests", "aHomeTimeZoneDeletedByAnotherProgramIsSentAgain"),
      ("SyncTests/ZoneJoinTests", "aSystemTimeZoneNeverReplacesADeletedOneThatAPersonSet")),
    Rule(
      "A base zone that is kept while nothing can be sent is pending.",
      ("SyncTests/ZoneJoinTests", "aTimeZoneKeptInAFetchOnlyUploadIsSentByTheNextUpload"),
      ("SyncTests/ZoneJoinTests", "aTimeZoneSetByAPersonIsKeptIfTheLogbookHasASystemTimeZone")),
    Rule(
      "A zone that this system does not know moves nothing, until the system knows it.",
      ("LogbookStoreTests/ZoneImportTests", "anUnknownHomeTimeZoneChangesNoOffset"),
      ("LogbookStoreTests/ZoneImportTests", "offsetsOfATimeZoneAreDerivedOnceTheSystemKnowsIt")),
    Rule(
      "What an import stores at its end has the offsets of the zones at its end.",
      ("LogbookStoreTests/ZoneImportTests", "aRecordStoredAtTheEndOfAnImportHasTheTimeZoneOfThatMoment")),
    Rule(
      "A stated offset is content of a withdrawn item; a derived one is not.",
      ("LogbookStoreTests/ZoneImportTests", "onlyAStatedUTCOffsetCountsAsAnEditOfAnUndoneRecord")),
    Rule(
      "Stated offsets never move.",
      ("LogbookStoreTests/TimezoneTests", "aTimeZoneChangeChangesOnlyDerivedOffsetsAndNoIdentities"),
      ("LogbookStoreTests/ReadingRulesTests", "onlyADerivedUTCOffsetCanBeRecalculated")),
    Rule(
      "Ticks determine the offsets in a repeated hour, in any order of the readings.",
      ("LogbookStoreTests/ZoneRecordTests", "ticksDecideTheOccurrenceOfARepeatedHourInAnyOrderOfImports")),
    Rule(
      "Only a change of zone moves documents on a site, and only those of uploaded items whose instant changed.",
      ("SyncTests/SiteMoveTests", "aChangeOfTimeZoneMovesReadingsAndRecordsOnASite"),
      ("SyncTests/SiteMoveTests", "readingsWithStatedOffsetsAndPendingOnesAreNotQueuedForAMove"),
      ("SyncTests/SiteMoveTests", "aTimeZoneChangedBackBeforeTheUploadMovesNothingOnASite")),
    Rule(
      "A move that is interrupted anywhere leaves each reading with one document in the end.",
      ("SyncTests/SiteMoveTests", "aMoveKilledAtAnyRequestLosesAndDuplicatesNothing"),
      ("SyncTests/SiteMoveTests", "anySequenceOfZonesImportsAndUploadsEndsWithCorrectTimes")),
    Rule(
      "A change of zone during a move is not missed.",
      ("SyncTests/SiteMoveTests", "aTimeZoneChangedAtAnyRequestOfAMoveIsNotMissed")),
    Rule(
      "An item that was sent without an answer counts as sent when a zone changes.",
      ("SyncTests/SiteMoveTests", "aTimeZoneChangedAfterAKilledUploadDuplicatesNothing")),
    Rule(
      "A move restores no document that was deleted on the site, and does not change entries of other programs.",
      ("SyncTests/SiteMoveTests", "aDocumentDeletedOnTheSiteStaysDeletedAfterAMove"),
      ("SyncTests/SiteMoveTests", "entriesOfOtherProgramsOnASiteAreNotMoved")),
  ]

  private static let edits = [
    Rule(
      "An edit of another program's treatment changes what acts on a running site as it changes the treatment, and overwrites "
        + "nothing that it has not read.",
      ("RemotesTests/NightscoutForeignEditTests", "afterEditsADoseWithoutAnIdentifierCountsOnce"),
      ("RemotesTests/NightscoutForeignEditTests", "afterEditsADoseWithAnIdentifierCountsOnce"),
      ("RemotesTests/NightscoutForeignEditTests", "changesOfOthersJustBeforeAWriteAreNotOverwritten"),
      (
        "RemotesTests/NightscoutForeignEditTests",
        "aDocumentOfAnotherProgramIsReadImmediatelyBeforeItIsReplaced"
      )),
    Rule(
      "An edit raises the version by one, in its own transaction.",
      ("LogbookStoreTests/RecordEditorTests", "eachEditIncreasesTheVersionOfARecordByOne")),
    Rule(
      "An edit that a command reported is stored and pending, even if the command is killed right then.",
      ("ProgramTests/RecordTests", "aReportedEditIsStoredAndPendingEvenIfTheCommandIsKilled")),
    Rule(
      "Sync never writes the version.",
      ("LogbookStoreTests/RecordRulesTests", "theSyncRoleCannotChangeTheVersionOfARecord")),
    Rule(
      "A later export corrects what an import on any store wrote, and never what a person wrote.",
      ("SyncTests/ImportedCorrectionTests", "aLaterExportCorrectsARecordThatAnotherStoreImported"),
      ("SyncTests/ReplacedContentTests", "anUndoBeforeTheFirstUploadYieldsToTheImportOfAnotherStore"),
      ("SyncTests/ReplacedContentTests", "anUndoBeforeTheFirstUploadIsAConflictWithAnEdit"),
      ("SyncTests/ImportedCorrectionTests", "anEarlierExportDoesNotRevertARecordThatAnotherStoreImported"),
      ("SyncTests/ImportedCorrectionTests", "anEditByAPersonIsKeptInEveryStore")),
    Rule(
      "Only sync marks readings as uploaded.",
      ("LogbookStoreTests/ReadingRulesTests", "onlySyncMayMarkReadingsAsUploaded")),
    Rule(
      "Only sync writes the columns of sync of a record.",
      ("LogbookStoreTests/RecordRulesTests", "anEditCannotChangeTheSyncColumnsOfARecord")),
    Rule(
      "Edits that cancel each other are one change.",
      ("SyncTests/PartialTests", "editsThatCancelEachOtherAreSentAsOneChangeOfTheFinalValue")),
    Rule("Pending work never expires.", ("SyncTests/PartialTests", "pendingItemsAreStillSentAfterALongTime")),
    Rule(
      "A field that no schema knows is pending, sent, merged and stored like the others.",
      ("SyncTests/IndependentRecordTests", "aFieldUnknownToTheSchemaIsSyncedLikeAnyOther")),
  ]

  private static let push = [
    Rule(
      "The version that was sent becomes synced, not the version at the time of the answer.",
      ("SyncTests/InFlightTests", "anEditOfARecordDuringItsUploadStaysPending"),
      ("SyncTests/InFlightTests", "aDeletionOfARecordDuringItsUploadStaysPending")),
    Rule(
      "Exactly the readings that were sent and acknowledged are marked, never a range.",
      ("SyncTests/InFlightTests", "onlyReadingsThatWereSentAreMarkedAsUploaded"),
      ("SyncTests/PartialTests", "onlyTheItemsOfAnUploadedBatchStopBeingPending")),
    Rule(
      "A batch that was read during the request before it is sent only if nothing has changed since.",
      ("SyncTests/InFlightTests", "theNextBatchIsReadWhileTheRequestBeforeItRuns"),
      ("SyncTests/InFlightTests", "aBatchThatWasReadBeforeAnImportIsNotSent"),
      ("SyncTests/InFlightTests", "aBatchThatWasReadBeforeAFailureIsNotSent")),
    Rule(
      "Every pending reading is in a range of positions that a push searches, whichever program made it pending.",
      ("LogbookStoreTests/PendingRangesTests", "everyPendingReadingIsInAPendingRange"),
      ("LogbookStoreTests/PendingRangesTests", "readingsThatAnotherProgramMakesPendingAreUploaded"),
      ("LogbookStoreTests/PendingRangesTests", "noProgramCanRemoveThePendingRangeOfAReading")),
    Rule(
      "Uploaded readings leave the ranges, so that the cost of a push depends on what is pending.",
      ("LogbookStoreTests/PendingRangesTests", "uploadedReadingsLeaveTheirPendingRange")),
    Rule(
      "Of a batch only the acknowledged items advance.",
      ("SyncTests/PartialTests", "onlyAcknowledgedItemsOfABatchAreMarkedAsSynced")),
    Rule(
      "Entries are sent before their children.",
      ("SyncTests/PartialTests", "recordsOfAnEntryAreSentAfterTheEntry")),
    Rule(
      "Pending records are a set: no other order of sending changes the result.",
      ("SyncTests/SendOrderTests", "uploadsInAnyOrderGiveTheSameResult")),
    Rule(
      "Only what changed is sent and fetched, each record once.",
      ("SyncTests/PullTests", "onlyTheChangedRecordOfAThousandIsTransferred"),
      ("SyncTests/PartialTests", "manyEditsAreSentInFewRequestsAndEachRecordOnce")),
    Rule(
      "Without pending work there is no push request.",
      ("SyncTests/PartialTests", "withNothingPendingNoPushRequestIsSent")),
    Rule(
      "A send without an answer is repeated byte for byte before a newer version is sent.",
      ("SyncTests/LostAnswerTests", "anUnansweredUploadIsRepeatedByteForByteBeforeANewerVersion")),
    Rule(
      "A lost answer never causes a conflict of a store with itself.",
      ("SyncTests/LostAnswerTests", "aLostAnswerCausesNoConflictEvenAfterLaterWritesOfOthers")),
    Rule(
      "Nothing about the state of sync leaves the store.",
      ("SyncTests/IndependentRecordTests", "theLocalSyncStateOfARecordIsNotSent"),
      ("SyncTests/IndependentRecordTests", "theVersionCounterOfAStoreDoesNotAffectOtherStores")),
  ]

  private static let pull = [
    Rule(
      "A pull starts only when no record is pending.",
      ("SyncTests/InFlightTests", "aPullNeverStartsWhileARecordIsPending")),
    Rule(
      "An edit made while a page is fetched rolls the whole page back.",
      ("SyncTests/InFlightTests", "anEditOfARecordOnAPulledPageRollsBackTheWholePage")),
    Rule(
      "A page that was requested before the run began is applied only if the run has sent nothing since.",
      ("SyncTests/IdleUploadTests", "aPageRequestedBeforeTheUploadNeverReplacesARecordSentLater"),
      ("SyncTests/IdleUploadTests", "readingsImportedDuringTheRequestAreSentBeforeThePageIsFetchedAgain")),
    Rule(
      "What is added during the only request of a run is sent by this run.",
      ("SyncTests/IdleUploadTests", "anItemAddedDuringTheOnlyRequestOfAnUploadIsSentByIt")),
    Rule(
      "A number of a run is used again only by a store that has the end of this run, and only if it pulled.",
      ("SyncTests/IdleUploadTests", "aStoreCopiedDuringAnUploadReceivesWhatTheUploadSentLater"),
      ("SyncTests/IdleUploadTests", "aStoreCopiedAfterAnUploadReceivesWhatLaterUploadsSent"),
      ("SyncTests/IdleUploadTests", "onlyTheRunNumberOfAnUploadThatPulledIsUsedAgain")),
    Rule(
      "A page is applied with its cursor, or not at all.",
      ("SyncTests/HistoryTests", "pulledPagesAreStoredWithTheirCursorOrNotAtAll")),
    Rule(
      "A busy editor ends the run after a bounded number of rounds.",
      ("SyncTests/InFlightTests", "constantEditsDuringAPullEndTheUploadWithoutLoss")),
    Rule(
      "The guid alone identifies a record, whatever the server made of its content.",
      ("SyncTests/IndependentRecordTests", "contentRewrittenByTheRemoteIsStoredAndNotSentAgain")),
    Rule(
      "The node's own writes never hide what others wrote before.",
      ("SyncTests/HistoryTests", "aStoreStillReceivesEarlierWritesOfOthersAfterItsOwnWrites")),
    Rule(
      "Pulled readings are not sent back.", ("SyncTests/PartialTests", "downloadedReadingsAreNotSentBack")),
    Rule(
      "Nodes that sync in turn become quiet.",
      ("SyncTests/IndependentRecordTests", "storesThatSyncInTurnStopSendingChanges")),
    Rule(
      "A download that a person requested comes first, and a cancelled one causes no request.",
      ("SyncTests/DownloadTests", "requestedRecordsAreDownloadedFirst"),
      ("SyncTests/DownloadTests", "aCancelledDownloadIsNotFetched")),
  ]

  private static let conflicts = [
    Rule(
      "Edits of different fields are merged, edits of one field are a conflict.",
      ("SyncTests/ConflictMatrixTests", "anEditOfAnOlderVersionIsMergedOrBothVersionsAreKept")),
    Rule(
      "Without a base, only equal content and imports yield.",
      ("SyncTests/MergeTests", "withoutACommonBaseDifferentVersionsConflictUnlessImported")),
    Rule(
      "An edit of a conflicted record is kept and stays in conflict.",
      ("SyncTests/ConflictMatrixTests", "anEditOfARecordInConflictIsKeptAndTheConflictStays")),
    Rule(
      "A conflict holds nothing else back.", ("SyncTests/PartialTests", "aConflictDoesNotDelayOtherItems")),
    Rule(
      "A deleted record stays deleted, whatever the age of the other side.",
      ("SyncTests/HistoryTests", "aDeletedRecordStaysDeletedWhateverTheAgeOfTheOtherStore")),
    Rule(
      "A deletion against an edit is a conflict both ways.",
      ("SyncTests/MergeTests", "aDeletionAndAnEditOfARecordConflictInEitherOrder")),
    Rule(
      "A child that arrives for a deleted entry makes the entry a conflict.",
      ("SyncTests/HistoryTests", "aRecordAddedToADeletedEntryIsKeptAndCausesAConflict")),
    Rule(
      "No clock decides anything.",
      ("SyncTests/IndependentRecordTests", "storesWithWrongClocksReachTheSameResult")),
  ]

  private static let failures = [
    Rule(
      "A refused item is quarantined with the remote's message. It is visible and delays nothing.",
      ("SyncTests/PartialTests", "aRefusedRecordIsListedAndDoesNotDelayOtherItems"),
      ("SyncTests/PartialTests", "aRefusedReadingIsKeptWithItsReasonAndDelaysNoOthers")),
    Rule(
      "A failing batch is halved down to the item, which is set aside.",
      ("SyncTests/UploadPlanTests", "aFailingBatchIsHalvedDownToTheFailingItem"),
      ("SyncTests/PartialTests", "aFailingBatchIsHalvedAndEverythingIsSent")),
    Rule(
      "The time of the next attempt is in the store, and a success removes it.",
      ("SyncTests/HistoryTests", "aTemporaryFailureIsRememberedUntilTheNextSuccess")),
    Rule(
      "A next attempt that is later than the longest wait is due immediately.",
      ("SyncTests/BackoffTests", "aRetryPlannedFurtherAheadThanTheMaximumIsDueImmediately")),
    Rule(
      "No failing request or statement loses anything.",
      ("SyncTests/FaultTests", "aRemoteThatFailsAtAnyRequestLosesNothing"),
      ("SyncTests/FaultTests", "aStoreThatFailsAtAnySQLStatementLosesNothing")),
    Rule(
      "A copied store gets another node id.",
      ("SyncTests/HistoryTests", "aCopiedStoreFileGetsANewClientIDAndNothingIsLost"),
      ("SyncTests/HistoryTests", "aCopiedStoreFileKeepsItsCursorWithANewClientID")),
    Rule(
      "A restored server receives the items that it lacks.",
      ("SyncTests/HistoryTests", "aServerRestoredFromABackupGetsItsMissingItems")),
    Rule(
      "Another logbook under a known address is refused.",
      ("SyncTests/HistoryTests", "anUploadToAKnownAddressWithAnotherLogbookIsRefused")),
    Rule(
      "One upload at a time uses a store, and it never delays an edit.",
      ("ProgramRemoteTests/UploadTests", "onlyOneUploadUsesAStoreAndItNeverBlocksAnEdit")),
    Rule(
      "A step accepts only the events that can follow it.",
      ("SyncTests/UploadPlanTests", "noStepOfTheUploadPlanAcceptsAnImpossibleEvent")),
  ]

  private static let states = [
    Rule(
      "The state of an item follows from its rows alone.",
      ("LogbookStoreTests/SyncStateTests", "theSyncStateFollowsOnlyFromQueueAndRunningUpload"),
      ("LogbookStoreTests/SyncStateTests", "theTimesOfQueueingTransferAndSuccessAreStored")),
    Rule(
      "The queue follows the versions, whichever program writes.",
      ("LogbookStoreTests/QueueRulesTests", "noRoleCanQueueSyncedItemsOrRemovePendingOnes")),
    Rule(
      "Nothing is in the queue twice.",
      ("LogbookStoreTests/QueueRulesTests", "aPendingItemCannotBeQueuedForUploadTwice")),
    Rule(
      "An entry is unsynced as long as one of its children is.",
      ("LogbookStoreTests/SyncStateTests", "anEntryIsQueuedUntilItsLastRecordIsSynced")),
    Rule(
      "Items in transfer when an upload was killed are queued.",
      ("LogbookStoreTests/SyncStateTests", "itemsOfAKilledUploadAreShownAsQueued")),
    Rule(
      "Each command is immediate or deferrable.",
      ("CommandsTests/ActionClassTests", "everyCommandIsInExactlyOneNetworkClass")),
    Rule(
      "An immediate command that fails changes nothing here.",
      ("CommandsTests/ImmediateFailureTests", "everyFailedServerCommandStatesThatNothingChanged")),
  ]

  private static let withdrawals = [
    Rule(
      "What other programs have on a site is an import of the site's, which no undo hides.",
      ("SyncTests/SiteStatementTests", "anUndoBeforeTheFirstDownloadKeepsTheReadingsOfTheSite"),
      ("SyncTests/SiteStatementTests", "anUndoAfterTheDownloadKeepsTheReadingsOfTheSite"),
      ("SyncTests/SiteStatementTests", "anUndoOfAnExportOfTheSiteKeepsTheReadingsOfTheSite"),
      ("SyncTests/SiteStatementTests", "anUndoInAnotherStoreKeepsTheReadingsOfTheSite")),
    Rule(
      "The removals of a run are counted and bounded.",
      ("SyncTests/SiteRemovalTests", "readingsRemovedFromASiteAreCountedAndLimitedInOneUpload"),
      ("SyncTests/SiteRemovalTests", "anUploadCountsARecordRemovedFromTheSite")),
    Rule(
      "Items and withdrawals determine what is visible, in any order.",
      ("LogbookTests/VisibilityTests", "theOrderOfHidingRecordsDoesNotChangeTheVisibleItems"),
      ("LogbookTests/VisibilityTests", "aCursorOverASeriesFindsTheSameHiddenReadingsAsSingleSearches"),
      ("SyncTests/UndoSequenceTests", "anySequenceOfImportsAndUndosEndsWithEqualDataOnThreeStores")),
    Rule(
      "The cost of a question about a reading does not grow with the number of withdrawals, and a series has a maximum of points.",
      ("LogbookTests/VisibilityTests", "visibilityChecksOfAllReadingsVisitEachHiddenPointOnce"),
      ("LogbookTests/VisibilityTests", "aboveTheMaximumOfHiddenPointsTheLargestUndosAreIgnoredFirst")),
    Rule(
      "A withdrawal never needs a decision: two sides of one always merge.",
      ("LogbookTests/VisibilityTests", "differentEditsOfAnUndoMergeToTheSameResultOnBothSides"),
      ("LogbookTests/PointRunsTests", "setOperationsOnPackedPointsGiveTheSamePointsAsOnPlainSets"),
      ("SyncTests/WithdrawalTests", "independentEditsOfAnUndoAreNotAConflict")),
    Rule(
      "A redo after an undo changes nothing in total, and no reading is ever changed or deleted.",
      ("LogbookStoreTests/UndoTests", "randomImportsUndosAndHidesMatchAReferenceImplementation"),
      ("SyncTests/UndoSequenceTests", "anySequenceOfImportsAndUndosEndsWithEqualDataOnThreeStores")),
    Rule(
      "A reading stays visible as long as one of its imports is not undone.",
      ("LogbookStoreTests/UndoTests", "undoKeepsAReadingVisibleWhileAnotherImportHasIt"),
      ("SyncTests/WithdrawalTests", "anUndoKeepsReadingsVisibleThatAnotherStoreImported"),
      ("SyncTests/WithdrawalTests", "anUndoKeepsARecordVisibleThatAnotherStoreImported")),
    Rule(
      "An import is undone once, on every copy of its store, and only a redo shows it again.",
      ("LogbookStoreTests/UndoTests", "anImportIsUndoneOnlyOnceAndRedoneOnlyOnce"),
      ("SyncTests/WithdrawalTests", "aStoreRestoredFromABackupLearnsItsUndoAndCanRedoTheImport"),
      ("SyncTests/WithdrawalTests", "anUndoInACopiedStoreKeepsReadingsOfAnotherImportVisible")),
    Rule(
      "Hiding an item that is hidden already is stored.",
      ("LogbookStoreTests/UndoTests", "hidingAReadingOfAnUndoneImportIsKeptAfterRedo"),
      ("LogbookStoreTests/ActionTests", "aReadingOfAnUndoneImportStaysHiddenWhenItsHidingIsUndone")),
    Rule(
      "An undo restores only what a person deleted in this store within 30 days, with its content.",
      ("LogbookStoreTests/ActionTests", "aDeletedRecordCanBeRestoredOnlyWithItsFormerContent"),
      ("LogbookStoreTests/ActionTests", "theContentOfADeletedRecordIsKeptForThirtyDaysForUndo"),
      ("SyncTests/DeletionUndoTests", "anUndoneDeletionRestoresTheRecordOnEveryStore")),
    Rule(
      "A withdrawal of an import hides its readings and none between them, of its device or another.",
      ("LogbookStoreTests/UndoTests", "undoHidesOnlyTheItemsOfTheImport"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "everySecondOfManyReadingsCanBeHiddenAndShown"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "undoKeepsReadingsOfAnotherDeviceInBetweenVisible")),
    Rule(
      "The withdrawal of one reading or record has precedence over all others.",
      ("LogbookTests/VisibilityTests", "hidingOrShowingASingleReadingHasPrecedenceOverItsImportAndDevice"),
      ("LogbookTests/VisibilityTests", "aRecordIsHiddenWhileItHasTheContentOfTheImport")),
    Rule(
      "A rule of a device applies to later readings; a withdrawal of an import does not.",
      ("LogbookStoreTests/UndoTests", "hidingADeviceHidesItsCurrentAndLaterReadings"),
      ("LogbookStoreTests/UndoTests", "undoHidesOnlyTheItemsOfTheImport")),
    Rule(
      "A record that was edited since the import stays, and one that the import changed has its earlier content again.",
      ("LogbookStoreTests/UndoTests", "undoHidesRecordsExceptEditedOnes")),
    Rule(
      "A different value at the position of a withdrawn reading is stored as the next occurrence, for every kind of position.",
      (
        "LogbookStoreTests/WithdrawnReadingsTests", "afterAnUndoACorrectedImportShowsTheSameAsInAnEmptyStore"
      ),
      ("LogbookStoreTests/WithdrawnReadingsTests", "withoutAnUndoOnlyCorrectedSensorValuesCountAsRevisions"),
      ("LogbookStoreTests/UndoTests", "theCounterOfAnUndoneReadingCanIdentifyAReadingOfAnotherDay")),
    Rule(
      "Equal visible values at one position are shown once, for kinds whose value is not part of the identity.",
      ("LogbookTests/VisibilityTests", "equalVisibleValuesAtOneTimeAreShownOnce")),
    Rule(
      "Two stores with other passes of a repeated hour end with every value of both, each visible once.",
      ("SyncTests/ValueSetTests", "bothPassesOfARepeatedHourReachBothStoresWhicheverUploadsFirst"),
      ("SyncTests/ValueSetTests", "aSecondPassOfARepeatedHourImportedLaterReachesBothStores"),
      ("SyncTests/ValueSetTests", "importsAndUploadsInAnyOrderShowEachValueOnce"),
      ("LogbookStoreTests/StoreMergeTests", "aMergeWithDifferentPassesOfARepeatedHourHasEveryValueOnce")),
    Rule(
      "A value that changed at the source is not another pass.",
      ("SyncTests/ValueSetTests", "throughASiteValuesChangedAtTheSourceAreNotTakenForARepeatedHour")),
    Rule(
      "The same input stays withdrawn until a person restores it; another input with the same readings shows them.",
      ("LogbookStoreTests/UndoTests", "anUndoneFileImportedAgainStaysHiddenUntilRestored"),
      ("LogbookStoreTests/UndoTests", "anotherFileWithTheReadingsOfAnUndoneImportShowsThemAgain")),
    Rule(
      "A withdrawal that others wrote costs no more than its bytes and the store's readings; one beyond the limits is kept "
        + "and hides nothing.",
      ("LogbookTests/PointRunsTests", "damagedPackedPointsNeverGiveUnorderedPoints"),
      ("LogbookTests/PointRunsTests", "aRunWithMorePointsThanTheMaximumIsRefused"),
      ("LogbookTests/VisibilityTests", "anUndoRecordAboveTheSizeLimitsIsIgnored"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "anUndoAboveTheLimitsIsStoredAndHidesNothing"),
      (
        "LogbookStoreTests/WithdrawnReadingsTests",
        "anUndoOfMoreReadingsThanStoredHidesTheStoredOnes"
      )),
    Rule(
      "No withdrawal that a store writes is larger than a record may be.",
      (
        "LogbookStoreTests/WithdrawnReadingsTests",
        "anUndoOfIrregularReadingsTakesFewBytesInRecordsOfLimitedSize"
      ),
      ("LogbookStoreTests/WithdrawnReadingsTests", "anUndoOfManyRecordsIsSplitIntoRecordsOfLimitedSize")),
    Rule(
      "No comparison with a server restores withdrawn items.",
      ("SyncTests/WithdrawalTests", "verifyNeverRestoresUndoneItems"),
      ("SyncTests/WithdrawalTests", "verifyFetchesAnUndoBeforeItsReadings")),
    Rule(
      "No export followed by an import restores withdrawn items.",
      ("ProgramRemoteTests/UndoCommandTests", "importingAnExportDoesNotRestoreHiddenReadings"),
      ("ProgramRemoteTests/WithdrawnTests", "anExportWithHiddenReadingsHidesThemInAnotherStore")),
    Rule(
      "A site shows no hidden item, and no store treats its absence as a deletion.",
      ("SyncTests/WithdrawalTests", "undoneItemsAreRemovedFromASiteAndSentAgainAfterARedo"),
      ("SyncTests/SiteRemovalTests", "aHiddenRecordIsDeletedOnTheSiteAndCreatedAgainWhenItIsShown"),
      ("SyncTests/SiteRemovalTests", "aRecordHiddenBeforeItsUploadIsNeverSentToASite"),
      ("SyncTests/SiteRemovalTests", "aRemovalInterruptedByAKillIsCompletedByTheNextUpload")),
  ]

  private static let nesting = [
    Rule(
      "No store nests entries in a circle, or deeper than one level, in any order of arrival.",
      ("SyncTests/ConflictResolutionSyncTests", "entriesThatWouldContainEachOtherAreAConflict"),
      ("SyncTests/ConflictResolutionSyncTests", "nestingDeeperThanTheCommandLinePermitsIsAConflict"),
      ("SyncTests/NestingConflictTests", "aThirdStoreThatDownloadsTwoEntriesInsideEachOtherHasOneConflict"),
      ("SyncTests/NestingConflictTests", "tooDeepNestingIsAConflictForTheFirstStoreThatSeesIt"),
      ("SyncTests/NestingConflictTests", "inAnyOrderOfMovesNestingStaysValidAndDecisionsEndAllConflicts")),
    Rule(
      "A conflict that is only about the nesting ends when the nesting is valid, and never overwrites an edit.",
      ("SyncTests/NestingConflictTests", "aNestingConflictDecidedInOneStoreEndsInTheThirdStore"),
      ("SyncTests/NestingConflictTests", "entriesThatContainEachOtherOnlyTemporarilyAreNotAConflict"),
      ("SyncTests/NestingConflictTests", "aLaterValidNestingEndsANestingConflict")),
    Rule(
      "If one conflict is resolved in two opposite ways, the second resolution is a conflict again.",
      ("SyncTests/ConflictResolutionSyncTests", "oppositeResolutionsOfAConflictCauseAnotherConflict"),
      ("SyncTests/ConflictResolutionSyncTests", "equalResolutionsOfAConflictInTwoStoresEndIt")),
    Rule(
      "An import without items is not undone. A change that is too large for a withdrawal is reported and stays.",
      ("LogbookStoreTests/UndoTests", "anImportWithoutItemsCannotBeUndone"),
      ("LogbookStoreTests/UndoTests", "aRecordTooLargeToUndoIsReportedAndKept")),
    Rule(
      "A missing --timezone does not make the same input another one.",
      ("LogbookStoreTests/UndoTests", "anUndoneFileImportedWithoutItsTimeZoneStaysHidden"),
      ("LogbookStoreTests/UndoTests", "anUndoneFileImportedWithAnotherTimeZoneIsVisible")),
    Rule(
      "A cache of withdrawals always agrees with the store.",
      ("LogbookStoreTests/WithdrawalCacheTests", "readingsHiddenBetweenTwoBatchesAffectTheNextBatch"),
      ("LogbookStoreTests/WithdrawalCacheTests", "undosOfARolledBackTransactionAreForgotten")),
  ]

  private static let limits = [
    Rule(
      "No remote keeps an upload running without progress.",
      ("SyncTests/EndlessRemoteTests", "aPageThatReturnsTheCursorOfItsRequestViolatesTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "pagesWithCircularCursorsViolateTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "endlessEmptyPagesWithNewCursorsViolateTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "oneUploadFetchesALimitedNumberOfPages"),
      ("SyncTests/EndlessRemoteTests", "anAttachmentTransferredOneByteAtATimeIsLeftForAnotherUpload")),
    Rule(
      "An implausible amount is counted and not stored, whichever remote sends it.",
      ("LogbookTests/PullGateTests", "downloadedItemsWithImplausibleAmountsAreCountedAndTheRestAccepted"),
      ("LogbookTests/PullGateTests", "anImplausibleAmountThatIsAlreadyStoredIsAcceptedInADownload"),
      ("NightscoutTests/InsulinKindTests", "anImplausibleEditOfAnotherProgramIsRejected")),
    Rule(
      "A record that no remote accepts delays no other, and every way into the store refuses it.",
      ("SyncTests/UnsendableRecordTests", "aRecordThatCannotBeSentDoesNotStopOthers"),
      ("LogbookTests/RecordLimitsTests", "fieldsAboveALimitAreRefusedWithTheReasonWhateverTheirSource"),
      ("LogbookTests/RecordLimitsTests", "aRecordWithContentExactlyAtTheLimitsIsValid")),
    Rule(
      "No client blocks others by silence, by work, by bodies, or by answers that it does not read.",
      (
        "LogbookServerTests/ConnectionTableTests",
        "oneClientAddressIsLimitedToItsShareEvenIfAllItsConnectionsAreBusy"
      ),
      ("LogbookServerTests/ConnectionTableTests", "aClientAddressAtItsLimitClosesOnlyItsOwnConnections"),
      ("LogbookServerTests/LoadTests", "oneClientAddressWithManyBusyConnectionsLeavesRoomForOthers"),
      ("LogbookServerTests/LoadTests", "slowRequestBodiesDoNotBlockOtherLogbooks"),
      ("LogbookServerTests/LoadTests", "unreadResponsesAreLimitedForEachLogin")),
    Rule(
      "A logbook accepts no more than its quota, and keeps what it has.",
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreReadingsThanItsQuota"),
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreRecordsThanItsQuota"),
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreClientStoresThanItsQuota")),
    Rule(
      "A comparison reads each side once, in bounded memory.",
      ("ServerStoreTests/ReadingBucketsTests", "extendingDigestsReadsOnlyNewReadings"),
      ("ServerStoreTests/ReadingBucketsTests", "twoVerificationsInTurnKeepTheirOwnDigestBuckets"),
      ("ServerStoreTests/ReadingBucketsTests", "theDigestBucketsKeptForComparisonsAreBounded"),
      ("SyncTests/VerifyTests", "verifyInPortionsFindsTheSameDifferencesAsInOneStep"),
      (
        "LogbookStoreTests/ComparisonTests",
        "computedDigestBucketsKeepTheirReadingsWhenTheStoreChanges"
      )),
  ]

  private static let files = [
    Rule(
      "No SQLite program changes or removes what a store or a server has accepted.",
      ("LogbookStoreTests/ForeignProgramTests", "otherProgramsCannotDeleteOrReplaceAProtectedRow"),
      ("LogbookStoreTests/ForeignProgramTests", "otherProgramsCannotChangeTheKeyOfAProtectedRow"),
      (
        "ServerStoreTests/ForeignProgramOnServerTests",
        "anotherProgramCannotDeleteOrReplaceAPermanentServerRow"
      ),
      (
        "ServerStoreTests/ForeignProgramOnServerTests",
        "anotherProgramCannotChangeTheKeyOfAPermanentServerRow"
      ),
      ("ServerStoreTests/ForeignProgramOnServerTests", "aStoredReadingIsNeverReplacedEvenAfterALargeUpload")),
    Rule(
      "A damaged file of one logbook affects no other logbook, and damage is never read as data.",
      ("ProgramRemoteTests/DamagedServerFileTests", "aDamagedFileOfOneLogbookDoesNotAffectOthers"),
      ("ServerStoreTests/DamagedFileTests", "anInvalidStoredNumberIsReportedAndNotReadAsZero"),
      ("ServerStoreTests/DamagedFileTests", "anImpossiblyLargeStoredNumberIsReportedAsDamage")),
  ]

  @Test func eachSyncRuleNamesExistingTests() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    var texts: [String: String] = [:]
    for (file, name) in Self.rules.flatMap(\.tests) {
      let text = try texts[file] ?? String(contentsOf: folder.appending(path: file), encoding: .utf8)
      texts[file] = text
      // No empty line is between the attribute and the function.
      let declaration = try Regex("@Test(?:[^\\n]|\\n(?!\\n))*?func \(name)\\(")
      #expect(text.firstMatch(of: declaration) != nil, "\(file): \(name)")
    }
  }
}
