// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rules of sync, each with the tests that fail when it is broken. To change a rule, first break it by hand and
/// check that they fail. A rule without its tests fails here.
@Suite struct RuleTests {
  private struct Rule {
    let sentence: String
    /// As `Folder/File` and the name of the test.
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
      ("SyncTests/ZoneSyncTests", "derivedOffsetsAreNotContent"),
      ("LogbookStoreTests/ComparisonTests", "anotherTimeZoneOfTheLogbookDoesNotChangeTheRemotesState")),
    Rule(
      "A store derives every offset in the transaction that changes a zone record, however it came.",
      ("LogbookStoreTests/ZoneRecordTests", "aPeriodMovesOnlyItemsOfItsDaysAndItsRemovalMovesThemBack"),
      ("SyncTests/ZoneSyncTests", "storesOfDifferentSystemZonesEndWithEqualInstants")),
    Rule(
      "The base zone of a system yields to that of the remote's logbook, before anything is sent.",
      ("SyncTests/ZoneSyncTests", "theZoneOfASystemYieldsToThatOfTheLogbook")),
    Rule(
      "A zone that is given for an import holds for what it brought, readings and records, and for nothing else.",
      ("LogbookStoreTests/ItemZoneTests", "anotherImportOfTheSameDeviceKeepsItsOffsets"),
      ("LogbookStoreTests/ItemZoneTests", "aRowThatAPersonEditedIsInTheZoneOfItsImport"),
      ("LogbookStoreTests/ItemZoneTests", "theItemsOfAnInterruptedImportHaveItsZone"),
      ("LogbookStoreTests/ZoneHistoryTests", "theStoredOffsetsFollowFromTheRecords")),
    Rule(
      "The import that sets the base zone states nothing else, and is the first until it was whole.",
      ("LogbookStoreTests/ItemZoneTests", "theImportThatSetsTheBaseAddsNoStatement"),
      ("LogbookStoreTests/ItemZoneTests", "aBaseThatAPersonSetBelongsToNoImport")),
    Rule(
      "A change of the base moves only what nothing states; a statement is kept where it says what holds already.",
      ("LogbookStoreTests/ItemZoneTests", "aStatedZoneIsKeptWhenTheBaseChangesFromThatZone"),
      ("LogbookStoreTests/ItemZoneTests", "aPeriodWithTheBaseZoneIsKeptWhenTheBaseChanges"),
      ("LogbookTests/LogbookZonesTests", "aPeriodWithTheZoneOfTheBaseIsStillAdded")),
    Rule(
      "Of a period and the zone of an import the later made wins, in all of its parts; a device's own periods come first.",
      ("LogbookTests/LogbookZonesTests", "theLaterStatementAboutAnItemWinsWithAllItsParts"),
      ("LogbookTests/LogbookZonesTests", "aPeriodIsNotJoinedWithOneBeforeAStatementAboutAnImport"),
      ("LogbookTests/LogbookZonesTests", "theLaterOfAPeriodAndAStatementAboutAnImportWins"),
      ("LogbookStoreTests/ItemZoneTests", "aLaterPeriodWinsForReadingsAndRecords"),
      ("LogbookStoreTests/ItemZoneTests", "aZoneThatIsStatedAfterAPeriodWinsForWhatItsImportBrought"),
      ("LogbookStoreTests/ItemZoneTests", "thePeriodThatPlacesADeviceIsComparedWithTheImport"),
      ("SyncTests/ZoneSyncTests", "anyOrderOfSyncsOfAPeriodAndAnImportsZoneHasTheSameResult"),
      ("SyncTests/ZoneSyncTests", "manyDevicesThatTwoStoresStateAtOnceEndInOneZone")),
    Rule(
      "The zone of an import goes with its undo and comes back with it, on every store.",
      ("LogbookStoreTests/ItemZoneTests", "theSameInputInAnotherZoneStoresNothingAndItsUndoEndsTheZone"),
      ("LogbookStoreTests/ItemZoneTests", "theSameInputInTheSameZoneIsStatedOnceUntilBothAreUndone"),
      ("SyncTests/ZoneSyncTests", "theZoneOfAnUndoneImportEndsOnEveryStore")),
    Rule(
      "A statement about an import places its items whenever they come, and on a site.",
      ("LogbookStoreTests/ItemZoneTests", "aStatementAppliesToLaterReadings"),
      ("SyncTests/ZoneSyncTests", "aSiteHasTheInstantsOfTheZoneOfAnImport")),
    Rule(
      "Two base zones that people gave wait for a person, and nothing is sent.",
      ("SyncTests/ZoneSyncTests", "twoZonesSetByPeopleEndTheRunUntilOneIsChosen"),
      ("SyncTests/ZoneJoinTests", "aRunThatOnlyFetchesEndsIfPeopleSetTwoZones"),
      ("SyncTests/ZoneJoinTests", "aReadOnlyLoginEndsIfPeopleSetTwoZones"),
      ("SyncTests/ZoneJoinTests", "aSiteIsJoinedInTheSameWay")),
    Rule(
      "A store that takes the remote's base zone keeps what it has in its own.",
      ("SyncTests/ZoneSyncTests", "twoZonesSetByPeopleEndTheRunUntilOneIsChosen")),
    Rule(
      "No logbook is without its base zone: one that another program deletes is sent again, and one that was given holds.",
      ("SyncTests/ZoneJoinTests", "aBaseZoneDeletedByAnotherProgramIsSentAgain"),
      ("SyncTests/ZoneJoinTests", "theSystemsZoneOfANewStoreNeverReplacesADeletedZoneSetByAPerson")),
    Rule(
      "A base zone that is kept while nothing can be sent is pending.",
      ("SyncTests/ZoneJoinTests", "aZoneKeptWhileFetchingIsSentByTheNextUpload"),
      ("SyncTests/ZoneJoinTests", "aZoneSetByAPersonIsKeptIfTheLogbookHasASystemsZone")),
    Rule(
      "A zone that this system does not know moves nothing, until the system knows it.",
      ("LogbookStoreTests/ZoneImportTests", "anUnknownBaseChangesNoOffset"),
      ("LogbookStoreTests/ZoneImportTests", "offsetsOfAZoneAreDerivedOnceTheSystemKnowsIt")),
    Rule(
      "What an import keeps for its end is placed by the zones of its end.",
      ("LogbookStoreTests/ZoneImportTests", "aRecordKeptUntilTheEndGetsTheOffsetOfTheZoneAtTheEnd")),
    Rule(
      "A stated offset is content of what is withdrawn, a derived one is not.",
      ("LogbookStoreTests/ZoneImportTests", "aDerivedOffsetIsNotAnEditOfAWithdrawnRecordButAStatedOneIs")),
    Rule(
      "Stated offsets never move.",
      ("LogbookStoreTests/TimezoneTests", "onlyDerivedOffsetsChangeAndIdentitiesStay"),
      ("LogbookStoreTests/ReadingRulesTests", "onlyADerivedOffsetCanBeRecalculated")),
    Rule(
      "Ticks settle a repeated hour whatever the order in which readings came.",
      ("LogbookStoreTests/ZoneRecordTests", "ticksDecideTheRepeatedHourInAnyOrderOfImports")),
    Rule(
      "Only a change of zone moves documents on a site, and only those of uploaded items whose instant changed.",
      ("SyncTests/SiteMoveTests", "aChangeOfZoneMovesReadingsAndRecords"),
      ("SyncTests/SiteMoveTests", "statedOffsetsAndPendingReadingsAreNotQueued"),
      ("SyncTests/SiteMoveTests", "aChangeBackBeforeTheUploadMovesNothing")),
    Rule(
      "A move that is interrupted anywhere leaves each reading with one document in the end.",
      ("SyncTests/SiteMoveTests", "anUploadKilledAtAnyRequestLosesAndDuplicatesNothing"),
      ("SyncTests/SiteMoveTests", "anySequenceOfZonesImportsAndUploadsEndsWithCorrectTimes")),
    Rule(
      "A change of zone during a move is not missed.",
      ("SyncTests/SiteMoveTests", "aChangeOfZoneAtAnyRequestOfAMoveIsNotMissed")),
    Rule(
      "What was sent without an answer counts as sent when a zone changes.",
      ("SyncTests/SiteMoveTests", "aChangeOfZoneAfterAKilledUploadDuplicatesNothing")),
    Rule(
      "A move revives nothing that somebody deleted on the site, and leaves other programs' entries alone.",
      ("SyncTests/SiteMoveTests", "aDocumentDeletedOnTheSiteStaysDeleted"),
      ("SyncTests/SiteMoveTests", "entriesOfOtherProgramsAreNotMoved")),
  ]

  private static let edits = [
    Rule(
      "An edit of another program's treatment changes what acts on a running site as it changes the treatment, and overwrites "
        + "nothing that it has not read.",
      ("RemotesTests/NightscoutForeignEditTests", "afterEditsATreatmentWithoutAnIdentifierActsOnce"),
      ("RemotesTests/NightscoutForeignEditTests", "afterEditsATreatmentWithAnIdentifierActsOnce"),
      ("RemotesTests/NightscoutForeignEditTests", "changesOfOthersBeforeTheWriteAreNotOverwritten"),
      ("RemotesTests/NightscoutForeignEditTests", "theDocumentIsReadImmediatelyBeforeItIsPut")),
    Rule(
      "An edit raises the version by one, in its own transaction.",
      ("LogbookStoreTests/RecordEditorTests", "eachEditIncreasesTheVersionByExactlyOne")),
    Rule(
      "An edit that a command reported is stored and pending, even if the command is killed right then.",
      ("ProgramTests/RecordTests", "aReportedEditIsStoredAndPendingEvenIfTheCommandIsKilled")),
    Rule("Sync never writes the version.", ("LogbookStoreTests/RecordRulesTests", "syncNeverWritesVersion")),
    Rule(
      "Only sync marks readings as uploaded.",
      ("LogbookStoreTests/ReadingRulesTests", "onlySyncWritesUploaded")),
    Rule(
      "Edits that cancel each other are one change.",
      ("SyncTests/PartialTests", "editsThatCancelEachOtherAreOneChangeOfTheFinalValue")),
    Rule("Pending work never expires.", ("SyncTests/PartialTests", "pendingItemsNeverExpire")),
    Rule(
      "A field that no schema knows is pending, sent, merged and stored like the others.",
      ("SyncTests/MeetingTests", "anUnknownStatusNeedsNeitherTableNorColumn")),
  ]

  private static let push = [
    Rule(
      "The version that was sent becomes synced, not the version at the time of the answer.",
      ("SyncTests/InFlightTests", "anEditDuringTheSendStaysPending"),
      ("SyncTests/InFlightTests", "aDeletionDuringTheSendIsNotMissed")),
    Rule(
      "Only the very readings that were sent and answered are marked, never a range.",
      ("SyncTests/InFlightTests", "onlyTheReadingsSentAreMarked"),
      ("SyncTests/PartialTests", "aBatchClearsExactlyItsItems")),
    Rule(
      "Every pending reading is in a range of positions that a push searches, whichever program made it pending.",
      ("LogbookStoreTests/PendingRangesTests", "everyPendingReadingIsInARange"),
      ("LogbookStoreTests/PendingRangesTests", "readingsThatAnotherProgramMakesPendingAreFound"),
      ("LogbookStoreTests/PendingRangesTests", "noProgramCanRemoveTheRangeOfAPendingReading")),
    Rule(
      "What was uploaded leaves the ranges, so that a push costs what is pending.",
      ("LogbookStoreTests/PendingRangesTests", "uploadedReadingsLeaveTheRange")),
    Rule(
      "Of a batch only the acknowledged items advance.",
      ("SyncTests/PartialTests", "onlyAcknowledgedItemsOfABatchAdvance")),
    Rule(
      "Entries are sent before their children.", ("SyncTests/PartialTests", "childrenAreSentAfterTheirEntry")),
    Rule(
      "Pending records are a set: no other order of sending changes the result.",
      ("SyncTests/SendOrderTests", "anyOrderOfSendingHasTheSameResult")),
    Rule(
      "Only what changed is sent and fetched, each record once.",
      ("SyncTests/PullTests", "onlyTheChangedRecordOfAThousandIsTransferred"),
      ("SyncTests/PartialTests", "manyEditsAreSentInFewRequestsAndEachRecordOnce")),
    Rule(
      "Without pending work there is no push request.",
      ("SyncTests/PartialTests", "nothingPendingMeansNoPushRequest")),
    Rule(
      "A send without an answer is repeated byte for byte before a newer version is sent.",
      ("SyncTests/LostAnswerTests", "aSendWithoutAnAnswerIsRepeatedByteForByteBeforeANewerVersion")),
    Rule(
      "A lost answer is never a conflict with oneself.",
      ("SyncTests/LostAnswerTests", "aLostAnswerCausesNoConflictEvenAfterLaterWritesOfOthers")),
    Rule(
      "Nothing about the state of sync leaves the store.",
      ("SyncTests/MeetingTests", "theStateOfSyncIsNotSent"),
      ("SyncTests/MeetingTests", "countersOfStoresHaveNoMeaningForOthers")),
  ]

  private static let pull = [
    Rule(
      "A pull starts only when no record is pending.",
      ("SyncTests/InFlightTests", "aPullNeverStartsWhileARecordIsPending")),
    Rule(
      "An edit made while a page is fetched rolls the whole page back.",
      ("SyncTests/InFlightTests", "anEditOnAPulledPageRollsTheWholePageBack")),
    Rule(
      "A page is applied with its cursor, or not at all.",
      ("SyncTests/HistoryTests", "pagesAreAppliedWithTheirCursorOrNotAtAll")),
    Rule(
      "A busy editor ends the run after a bounded number of rounds.",
      ("SyncTests/InFlightTests", "aBusyEditorEndsTheRunWithNothingLost")),
    Rule(
      "The guid alone identifies a record, whatever the server made of its content.",
      ("SyncTests/MeetingTests", "contentRewrittenByTheRemoteIsStoredInTheSameRecordAndNotSentAgain")),
    Rule(
      "The node's own writes never hide what others wrote before.",
      ("SyncTests/HistoryTests", "ownWritesNeverHideEarlierWritesOfOthers")),
    Rule("Pulled readings are not sent back.", ("SyncTests/PartialTests", "pulledReadingsAreNeverEchoed")),
    Rule(
      "Nodes that sync in turn become quiet.",
      ("SyncTests/MeetingTests", "nodesThatSyncInTurnStopSendingChanges")),
    Rule(
      "A download that a person waits for comes first, and a cancelled one causes no request.",
      ("SyncTests/DownloadTests", "requestedRecordsAreFetchedFirst"),
      ("SyncTests/DownloadTests", "aCancelledDownloadIsNotRequested")),
  ]

  private static let conflicts = [
    Rule(
      "Edits of different fields are merged, edits of one field are a conflict.",
      ("SyncTests/ConflictMatrixTests", "anEditOnAnOlderBaseIsMergedOrKeptBothWays")),
    Rule(
      "Without a base only equal content and imports give way.",
      ("SyncTests/MergeTests", "withoutABaseOnlyEqualContentAndImportsYield")),
    Rule(
      "An edit of a conflicted record is kept and stays in conflict.",
      ("SyncTests/ConflictMatrixTests", "anEditWhileConflictedStaysConflictedAndIsKept")),
    Rule("A conflict holds nothing else back.", ("SyncTests/PartialTests", "aConflictDelaysNothingElse")),
    Rule(
      "Deleted stays deleted at any age of the other side.",
      ("SyncTests/HistoryTests", "aDeletedRecordStaysDeletedWhateverTheAgeOfTheOtherSide")),
    Rule(
      "A deletion against an edit is a conflict both ways.",
      ("SyncTests/MergeTests", "aDeletionAndAnEditConflictInEitherOrder")),
    Rule(
      "A child that arrives for a deleted entry makes the entry a conflict.",
      ("SyncTests/HistoryTests", "anAdditionToADeletedEntryIsKeptAndMakesTheEntryAConflict")),
    Rule("No clock decides anything.", ("SyncTests/MeetingTests", "wrongClocksHaveNoEffectOnTheResult")),
  ]

  private static let failures = [
    Rule(
      "A refused item is quarantined with the remote's words, visible and never in the way.",
      ("SyncTests/PartialTests", "quarantineIsVisibleAndDelaysNothing"),
      ("SyncTests/PartialTests", "aRefusedReadingIsKeptWithItsReasonAndDelaysNothing")),
    Rule(
      "A failing batch is halved down to the item, which is set aside.",
      ("SyncTests/UploadPlanTests", "aFailingBatchIsHalvedDownToTheItem"),
      ("SyncTests/PartialTests", "aFailingBatchIsHalvedAndEverythingIsSent")),
    Rule(
      "The time of the next attempt is in the store, and a success forgets it.",
      ("SyncTests/HistoryTests", "aTemporaryFailureIsStoredAndASuccessRemovesIt")),
    Rule(
      "A next attempt further ahead than the longest wait is due now.",
      ("SyncTests/BackoffTests", "anAttemptFurtherAheadThanTheMaximumIsDueImmediately")),
    Rule(
      "No failing request or statement loses anything.",
      ("SyncTests/FaultTests", "aRemoteThatFailsAtAnyRequestLosesNothing"),
      ("SyncTests/FaultTests", "aStoreThatFailsAtAnyStatementLosesNothing")),
    Rule(
      "A copied store takes a node id of its own.",
      ("SyncTests/HistoryTests", "aCopiedStoreGetsANewNodeIdAndNothingIsLost"),
      ("SyncTests/HistoryTests", "aCopiedStoreKeepsItsCursorWithAnotherNodeID")),
    Rule(
      "A restored server gets back what it lacks.",
      ("SyncTests/HistoryTests", "aRestoredServerGetsItsMissingItems")),
    Rule(
      "Another logbook under a known address is refused.",
      ("SyncTests/HistoryTests", "anotherLogbookAtAKnownAddressIsRefused")),
    Rule(
      "One upload at a time holds a store, and never holds an edit.",
      ("ProgramRemoteTests/UploadTests", "onlyOneUploadUsesAStoreAndItNeverBlocksAnEdit")),
    Rule(
      "A step goes on only from an event that it can have.",
      ("SyncTests/UploadPlanTests", "noStepAcceptsAnImpossibleEvent")),
  ]

  private static let states = [
    Rule(
      "The state of an item follows from its rows alone.",
      ("LogbookStoreTests/SyncStateTests", "theStateFollowsOnlyFromTheRows"),
      ("LogbookStoreTests/SyncStateTests", "pendingAndSentItemsAndResultsHaveTheirTimes")),
    Rule(
      "The queue follows the versions, whoever writes.",
      ("LogbookStoreTests/QueueRulesTests", "noRoleQueuesSyncedItemsOrRemovesPendingOnes")),
    Rule(
      "Nothing is in the queue twice.",
      ("LogbookStoreTests/QueueRulesTests", "aPendingItemCannotBeQueuedTwice")),
    Rule(
      "An entry is unsynced as long as one of its children is.",
      ("LogbookStoreTests/SyncStateTests", "anEntryIsQueuedUntilItsLastRecordIsSynced")),
    Rule(
      "What a dead upload had under way is queued.",
      ("LogbookStoreTests/SyncStateTests", "itemsOfADeadUploadAreQueued")),
    Rule(
      "Each command is immediate or deferrable.",
      ("CommandsTests/ActionClassTests", "everyCommandIsInExactlyOneClass")),
    Rule(
      "An immediate command that fails changes nothing here.",
      ("CommandsTests/ImmediateFailureTests", "everyFailedImmediateCommandSaysThatNothingChanged")),
  ]

  private static let withdrawals = [
    Rule(
      "What other programs have on a site is an import of the site's, which no undo hides.",
      ("SyncTests/SiteStatementTests", "anUndoBeforeTheFirstDownloadKeepsTheSitesReadings"),
      ("SyncTests/SiteStatementTests", "anUndoAfterTheDownloadKeepsTheSitesReadings"),
      ("SyncTests/SiteStatementTests", "anUndoOfTheSitesExportKeepsTheSitesReadings"),
      ("SyncTests/SiteStatementTests", "anUndoOfAnotherStoreKeepsTheSitesReadings")),
    Rule(
      "The removals of a run are counted and bounded.",
      ("SyncTests/SiteRemovalTests", "removalsAreCountedAndLimited"),
      ("SyncTests/SiteRemovalTests", "aRemovedRecordIsCounted")),
    Rule(
      "What is visible follows from items and withdrawals alone, in any order.",
      ("LogbookTests/VisibilityTests", "theOrderOfWithdrawalsMakesNoDifference"),
      ("LogbookTests/VisibilityTests", "orderedQuestionsHaveTheSameAnswers"),
      ("SyncTests/UndoSequenceTests", "anySequenceOnThreeStoresEndsWithTheSameVisibleData")),
    Rule(
      "What withdrawals cost a reading does not grow with their number, and so many points count in a series.",
      ("LogbookTests/VisibilityTests", "theCostOfAQuestionDoesNotDependOnTheNumberOfWithdrawals"),
      ("LogbookTests/VisibilityTests", "theNumberOfPointsIsBoundedAndTheLargestWithdrawalsAreLeftOutFirst")),
    Rule(
      "A withdrawal never waits for a person: two sides of one always merge.",
      ("LogbookTests/VisibilityTests", "differentEditsMergeToTheSameResultOnBothSides"),
      ("LogbookTests/PointRunsTests", "setOperationsGiveTheSetsOfThePoints"),
      ("SyncTests/WithdrawalTests", "independentEditsOfAWithdrawalAreNotAConflict")),
    Rule(
      "Undoing an undo is the identity, and no reading is ever changed or deleted.",
      ("LogbookStoreTests/UndoTests", "randomImportsUndosAndHidesFollowTheRules"),
      ("SyncTests/UndoSequenceTests", "anySequenceOnThreeStoresEndsWithTheSameVisibleData")),
    Rule(
      "A reading stays visible while an import that is not undone brought it.",
      ("LogbookStoreTests/UndoTests", "aReadingStaysVisibleWhileAnotherImportHasIt"),
      ("SyncTests/WithdrawalTests", "readingsOfAnotherStoresImportStayVisible"),
      ("SyncTests/WithdrawalTests", "aRecordOfAnotherStoresImportStaysVisible")),
    Rule(
      "An import is undone once, on every copy of its store, and only a redo shows it again.",
      ("LogbookStoreTests/UndoTests", "anImportIsUndoneOnlyOnceAndRedoneOnlyOnce"),
      ("SyncTests/WithdrawalTests", "aRestoredStoreLearnsItsUndoAndCanRedoTheImport"),
      ("SyncTests/WithdrawalTests", "readingsUndoneByACopyStayVisibleForAnotherImport")),
    Rule(
      "Hiding what something else hides is kept.",
      ("LogbookStoreTests/UndoTests", "hidingAHiddenReadingIsStored"),
      ("LogbookStoreTests/ActionTests", "anUndoneHidingDoesNotEndOtherWithdrawals")),
    Rule(
      "Only what a person deleted here within 30 days comes back by an undo, as it was.",
      ("LogbookStoreTests/ActionTests", "aDeletedRecordIsRestoredOnlyWithItsOwnContent"),
      ("LogbookStoreTests/ActionTests", "theContentOfADeletedRecordIsKeptForThirtyDays"),
      ("SyncTests/DeletionUndoTests", "anUndoneDeletionRestoresTheRecordOnEveryStore")),
    Rule(
      "A withdrawal of an import hides its readings and none between them, of its device or another.",
      ("LogbookStoreTests/UndoTests", "onlyTheItemsOfAnImportAreHidden"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "everySecondReadingOfManyIsHiddenAndShown"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "theReadingsOfAnotherDeviceBetweenThemStayVisible")),
    Rule(
      "What a reading's or a record's own withdrawal says goes before all others.",
      ("LogbookTests/VisibilityTests", "aReadingsOwnWithdrawalHasPrecedence"),
      ("LogbookTests/VisibilityTests", "aRecordIsHiddenWhileItHasTheContentOfTheImport")),
    Rule(
      "A rule of a device catches what comes later, an import's withdrawal does not.",
      ("LogbookStoreTests/UndoTests", "aRuleHidesADevicesCurrentAndLaterReadings"),
      ("LogbookStoreTests/UndoTests", "onlyTheItemsOfAnImportAreHidden")),
    Rule(
      "A record that somebody edited since stays, and a changed one gets its earlier content back.",
      ("LogbookStoreTests/UndoTests", "recordsAreHiddenExceptEditedOnes")),
    Rule(
      "A different value at a withdrawn place is stored as the next occurrence, on every axis.",
      ("LogbookStoreTests/WithdrawnReadingsTests", "afterTheUndoTheRightImportIsStoredForEachAxis"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "withoutAnUndoTheRightImportIsARevision"),
      ("LogbookStoreTests/UndoTests", "aTickOfAWithdrawnReadingIsFreeForAnotherDay")),
    Rule(
      "Equal shown values of one place on an axis without values are shown once.",
      ("LogbookTests/VisibilityTests", "equalVisibleValuesAtOnePlaceAreShownOnce")),
    Rule(
      "Two stores with other passes of a repeated hour end with every value of both, each visible once.",
      ("SyncTests/ValueSetTests", "eitherStoreUploadsFirst"),
      ("SyncTests/ValueSetTests", "theSecondPassIsImportedLater"),
      ("SyncTests/ValueSetTests", "anyOrderShowsEachValueOnce"),
      ("LogbookStoreTests/StoreMergeTests", "storesWithOtherPassesOfAnHourGiveEveryValueOnce")),
    Rule(
      "A value that changed at the source is no other pass.",
      ("SyncTests/ValueSetTests", "aChangeAtTheSourceIsNotAnotherPass")),
    Rule(
      "The same input stays withdrawn until it is wanted again; another one with the same readings shows them.",
      ("LogbookStoreTests/UndoTests", "theSameFileStaysWithdrawnUntilAPersonRestoresIt"),
      ("LogbookStoreTests/UndoTests", "anotherFileWithTheSameReadingsShowsThemAgain")),
    Rule(
      "A withdrawal that others wrote costs no more than its bytes and the store's readings; one beyond the limits is kept "
        + "and hides nothing.",
      ("LogbookTests/PointRunsTests", "damagedBytesAreInvalidOrOrderedPoints"),
      ("LogbookTests/PointRunsTests", "aRunOfMorePointsThanAValueMayStateIsRefused"),
      ("LogbookTests/VisibilityTests", "aWithdrawalAboveTheLimitsOfARecordIsIgnored"),
      ("LogbookStoreTests/WithdrawnReadingsTests", "aWithdrawalBeyondTheLimitsIsStoredAndHidesNothing"),
      (
        "LogbookStoreTests/WithdrawnReadingsTests",
        "withdrawalsOfMoreReadingsThanStoredHideTheStoredOnes"
      )),
    Rule(
      "No withdrawal that a store writes is larger than a record may be.",
      (
        "LogbookStoreTests/WithdrawnReadingsTests",
        "irregularReadingsTakeFewBytesInRecordsOfLimitedSize"
      ),
      ("LogbookStoreTests/WithdrawnReadingsTests", "changesOfRecordsNeverCreateATooLargeRecord")),
    Rule(
      "No comparison with a server revives what is withdrawn.",
      ("SyncTests/WithdrawalTests", "verifyNeverRestoresWithdrawnItems"),
      ("SyncTests/WithdrawalTests", "verifyFetchesAWithdrawalBeforeItsReadings")),
    Rule(
      "No round trip through an export revives what is withdrawn.",
      ("ProgramRemoteTests/UndoCommandTests", "exportAndImportRestoreNoHiddenReadings"),
      ("ProgramRemoteTests/WithdrawnTests", "aWithdrawalHidesTheReadingInAnotherStore")),
    Rule(
      "A site shows nothing that is hidden, and no store takes that for a deletion.",
      ("SyncTests/WithdrawalTests", "withdrawnItemsAreRemovedFromASiteAndRestoredOnIt"),
      ("SyncTests/SiteRemovalTests", "aHiddenRecordIsClearedAndDeletedOnTheSiteAndRestoredWithIt"),
      ("SyncTests/SiteRemovalTests", "aRecordHiddenBeforeItIsSentIsNeverSent"),
      ("SyncTests/SiteRemovalTests", "aKilledUploadIsCompletedByTheNextOne")),
  ]

  private static let nesting = [
    Rule(
      "No store nests entries in a circle, or deeper than one level, in whatever order the pieces come.",
      ("SyncTests/SettlementTests", "entriesThatWouldContainEachOtherAreAConflict"),
      ("SyncTests/SettlementTests", "aMoveDeeperThanTheCommandLinePermitsIsAConflict"),
      ("SyncTests/CircleTests", "aThirdNodeThatSeesACircleFirstHasAConflict"),
      ("SyncTests/CircleTests", "tooDeepNestingIsAConflictForTheFirstNodeThatSeesIt"),
      ("SyncTests/CircleTests", "noOrderOfPiecesNestsRecordsAndDecisionsEndAllConflicts")),
    Rule(
      "A conflict about a place alone ends when the place is free, and never over an edit.",
      ("SyncTests/CircleTests", "aDecisionOfAnotherNodeEndsTheConflictOfTheThird"),
      ("SyncTests/CircleTests", "aMoveWithOnlyATemporaryCircleIsNotAConflict"),
      ("SyncTests/CircleTests", "aLaterValidStateEndsTheConflict")),
    Rule(
      "Of two opposite settlements of one conflict the second is a conflict again.",
      ("SyncTests/SettlementTests", "oppositeResolutionsAreAnotherConflict"),
      ("SyncTests/SettlementTests", "equalResolutionsAgree")),
    Rule(
      "An import that brought nothing is not undone, and a change that no withdrawal can hold is named and stays.",
      ("LogbookStoreTests/UndoTests", "anImportWithoutItemsIsNotUndone"),
      ("LogbookStoreTests/UndoTests", "aTooLargeChangeIsReportedAndKept")),
    Rule(
      "A left out zone is no other option of the same input.",
      ("LogbookStoreTests/UndoTests", "theSameFileWithoutItsZoneStaysWithdrawn"),
      ("LogbookStoreTests/UndoTests", "theSameFileWithAnotherZoneShowsTheReadingsAgain")),
    Rule(
      "What is kept of withdrawals never outlives what it was read from.",
      ("LogbookStoreTests/WithdrawalCacheTests", "withdrawalsByOthersBetweenBatchesApplyToTheNext"),
      ("LogbookStoreTests/WithdrawalCacheTests", "withdrawalsOfARolledBackTransactionAreForgotten")),
  ]

  private static let limits = [
    Rule(
      "No remote keeps an upload running without progress.",
      ("SyncTests/EndlessRemoteTests", "aPageWithTheCursorOfItsRequestViolatesTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "circularCursorsViolateTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "endlessEmptyPagesWithNewCursorsViolateTheProtocol"),
      ("SyncTests/EndlessRemoteTests", "oneRunFetchesABoundedNumberOfPages"),
      ("SyncTests/EndlessRemoteTests", "rangesOfOneByteAreNotRequestedForTheWholeContent")),
    Rule(
      "An amount that nobody can mean is counted and not taken, from whichever remote it comes.",
      ("LogbookTests/PullGateTests", "implausibleAmountsAreCountedAndTheRestIsTaken"),
      ("LogbookTests/PullGateTests", "anAmountInTheStoreIsAccepted"),
      ("NightscoutTests/InsulinKindTests", "anImplausibleEditOfAnotherProgramIsRejected")),
    Rule(
      "One record that no remote takes holds up no other, and is refused wherever it would enter.",
      ("SyncTests/UnsendableRecordTests", "allOtherRecordsAreSent"),
      ("LogbookTests/RecordLimitsTests", "contentAboveALimitIsFoundFromAnySource"),
      ("LogbookTests/RecordLimitsTests", "contentAtTheLimitsIsARecord")),
    Rule(
      "No client keeps others out, by silence, by work, by bodies or by answers that it does not take.",
      (
        "LogbookServerTests/ConnectionTableTests",
        "oneAddressIsLimitedToItsShareEvenIfAllItsConnectionsAreBusy"
      ),
      ("LogbookServerTests/ConnectionTableTests", "anAddressAtItsLimitNeverClosesConnectionsOfOthers"),
      ("LogbookServerTests/LoadTests", "oneAddressWithManyBusyConnectionsLeavesRoomForOthers"),
      ("LogbookServerTests/LoadTests", "slowBodiesDoNotBlockOtherLogbooks"),
      ("LogbookServerTests/LoadTests", "unreadAnswersAreLimitedForEachLogin")),
    Rule(
      "A logbook takes no more than its quota, and keeps what it has.",
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreReadingsThanItsQuota"),
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreRecordsThanItsQuota"),
      ("LogbookServerTests/LoadTests", "aLogbookAcceptsNoMoreNodesThanItsQuota")),
    Rule(
      "A comparison reads each side once, in bounded memory.",
      ("ServerStoreTests/ReadingBucketsTests", "knownReadingsAreNotReadAgain"),
      ("ServerStoreTests/ReadingBucketsTests", "alternatingComparisonsKeepTheirBuckets"),
      ("ServerStoreTests/ReadingBucketsTests", "theBucketsOfComparisonsAreBounded"),
      ("SyncTests/VerifyTests", "portionsFindTheSameDifferencesAsOneComparison"),
      (
        "LogbookStoreTests/ComparisonTests",
        "knownBucketsGiveTheSameReadingsEvenAfterTheStoreChanged"
      )),
  ]

  private static let files = [
    Rule(
      "No SQLite program changes or removes what a store or a server has accepted.",
      ("LogbookStoreTests/ForeignProgramTests", "aProtectedRowIsNeitherDeletedNorReplaced"),
      ("LogbookStoreTests/ForeignProgramTests", "theIdentityOfAProtectedRowNeverChanges"),
      ("ServerStoreTests/ForeignProgramOnServerTests", "aPermanentRowIsNeitherDeletedNorReplaced"),
      ("ServerStoreTests/ForeignProgramOnServerTests", "theIdentityOfAPermanentRowNeverChanges"),
      ("ServerStoreTests/ForeignProgramOnServerTests", "aReadingIsNeverReplacedEvenAfterALargeUpload")),
    Rule(
      "A damaged file of one logbook stops no other, and its damage is never read as data.",
      ("ProgramRemoteTests/DamagedServerFileTests", "aDamagedFileOfOneLogbookDoesNotAffectOthers"),
      ("ServerStoreTests/DamagedFileTests", "anInvalidNumberIsNeverReadAsZero"),
      ("ServerStoreTests/DamagedFileTests", "anImpossiblyLargeNumberIsDamage")),
  ]

  @Test func eachRuleHasItsTests() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    var texts: [String: String] = [:]
    for (file, name) in Self.rules.flatMap(\.tests) {
      let text = try texts[file] ?? String(contentsOf: folder.appending(path: file), encoding: .utf8)
      texts[file] = text
      let declaration = try Regex("@Test[^}]*?func \(name)\\(")
      #expect(text.firstMatch(of: declaration) != nil, "\(file): \(name)")
    }
  }
}
