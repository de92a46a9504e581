// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Doctor

/// Tests `doctor` with one fault at a time, on a computer without other faults.
@Suite struct CheckupTests {
  @Test func onAComputerWithoutFaultsDoctorReportsNoProblems() {
    let findings = Checkup(HealthyComputer.facts).findings
    #expect(findings.allSatisfy { $0.state == .ok && $0.fix == nil && $0.category == nil }, "\(findings)")
    #expect(findings.map(\.area) == Finding.Area.allCases)
  }

  @Test func aPairedBluetoothMeterWithoutItsPairingOrBluetoothdIsReported() {
    func found(_ meters: Result<[BluetoothFacts.Meter], Failure>) -> [Finding] {
      BluetoothFacts(meters).findings
    }
    let meter = BluetoothFacts.Meter(name: "Meter (AA)", isPaired: true, readAt: 1_800_000_000)
    #expect(
      found(.success([meter])).map(\.detail) == ["Meter (AA): paired, last imported 2027-01-15T08:00:00Z"])
    var other = meter
    (other.isPaired, other.readAt) = (false, nil)
    let lost = found(.success([meter, other]))
    #expect(lost.map(\.state) == [.ok, .fail] && lost[1].fix == "glucoport meter pair")
    let without = found(.failure(Failure(.unavailable, "bluetoothd does not run")))
    #expect(without.map(\.category) == [.unavailable] && without[0].state == .fail)
  }

  @Test func theStatesOfFindingsAreOrderedFromGoodToBad() {
    #expect(Finding.State.ok < .note && Finding.State.note < .warn && Finding.State.warn < .fail)
    #expect(!(Finding.State.fail < .fail))
  }

  @Test func anOldSQLiteIsReported() {
    let found = HealthyComputer.wrong { $0.program.sqlite = SQLiteVersion(3_037_002) }
    #expect(found.map(\.area) == [.program] && found.first?.category == .configuration)
    #expect(found.first?.detail.contains("3.37.2") == true)
  }

  @Test func aSystemWithoutTimeZoneDataIsReported() {
    #expect(HealthyComputer.wrong { $0.program.hasZones = false }.first?.fix == "sudo apt install tzdata")
    #expect(HealthyComputer.wrong { $0.program.missingOptions = ["OMIT_JSON"] }.first?.state == .fail)
  }

  @Test(arguments: [
    (-86400 * 365, Finding.State.fail), (-86401, .fail), (-86399, .ok), (86400 * 365, .ok),
  ])
  func aSystemClockBeforeTheBuildDateOfTheProgramIsReported(_ lead: Int, _ state: Finding.State) {
    let found = HealthyComputer.wrong {
      $0.clock.now += Int64(lead)
      $0.clock.lastSuccess = nil
    }
    #expect(found.map(\.state) == (state == .ok ? [] : [state]))
    #expect(found.allSatisfy { $0.area == .clock && $0.fix == "sudo timedatectl set-ntp true" })
  }

  @Test(arguments: [(121, 1), (120, 0)]) func aSystemClockBeforeTheLastSuccessfulRunIsReported(
    _ lead: Int64, _ count: Int
  ) {
    #expect(HealthyComputer.wrong { $0.clock.lastSuccess = $0.clock.now + lead }.count == count)
  }

  @Test func aSystemClockThatDiffersFromTheServerIsReported() {
    #expect(
      HealthyComputer.wrong { $0.clock.serverLead = 121 }.first?.detail.contains("121 seconds behind") == true
    )
    #expect(HealthyComputer.wrong { $0.clock.serverLead = -121 }.first?.detail.contains("ahead of") == true)
    #expect(HealthyComputer.wrong { $0.clock.serverLead = 120 } == [])
    #expect(HealthyComputer.wrong { $0.clock.isKept = false }.map(\.state) == [.note])
    #expect(HealthyComputer.wrong { $0.clock.isKept = nil } == [])
  }

  @Test func aMeterThatTheUserMayNotOpenIsReported() {
    let found = HealthyComputer.wrong {
      $0.usb = MeterFacts(.success([HealthyComputer.meter(mayOpen: false)]))
    }
    #expect(found.map(\.category) == [.permission] && found.first?.fix == "permit")
  }

  @Test func aMeterInUseByAnotherProgramIsReported() {
    let found = HealthyComputer.wrong {
      $0.usb = MeterFacts(.success([HealthyComputer.meter(kernelDrivers: ["usbfs"])]))
    }
    #expect(found.map(\.state) == [.warn])
    #expect(found.first?.fix == "sudo fuser -v '/dev/bus/usb/001/002'")
  }

  @Test func aMeterWhoseDiskIsMountedIsReported() {
    var meter = HealthyComputer.meter()
    meter.obstruction = Failure(.unavailable, "its disk is mounted; run: umount /media/meter")
    let found = HealthyComputer.wrong { $0.usb = MeterFacts(.success([meter])) }
    #expect(found.map(\.category) == [.unavailable] && found.first?.detail.contains("umount") == true)
  }

  @Test func aMeterWithoutItsDeviceFileAndAnUnreadableMeterAreReported() {
    #expect(
      HealthyComputer.wrong { $0.usb = MeterFacts(.success([HealthyComputer.meter(hasNode: false)])) }.map(
        \.category) == [
          .unavailable
        ])
    #expect(
      HealthyComputer.wrong { $0.usb = MeterFacts(.success([HealthyComputer.meter(obstacle: "encrypted")])) }
        .map(\.state) == [
          .note
        ])
    #expect(
      HealthyComputer.wrong { $0.usb = MeterFacts(.failure(Failure(.unavailable, "no bus"))) }.map(\.state)
        == [.note])
    #expect(HealthyComputer.wrong { $0.usb = MeterFacts(.success([])) } == [])
  }

  @Test func conflictsRefusalsAndUnfinishedImportsAreReportedAsNotes() {
    let found = HealthyComputer.wrong { facts in
      var examination = StoreExamination()
      (examination.conflicts, examination.refused, examination.unfinishedImports) = (1, 2, 3)
      facts.store.content = .examined(examination)
    }
    #expect(found.map(\.state) == [.note, .note, .note])
    #expect(
      found.map(\.fix) == ["glucoport log", "glucoport conflict list", "glucoport upload --retry-refused"])
  }

  @Test func aDamagedStoreIsReportedWithTheCommandToRestoreIt() throws {
    let found = HealthyComputer.wrong { facts in
      var examination = StoreExamination()
      examination.damage = ["Tree 5 page 5: btreeInitPage() returns error code 11", "more"]
      facts.store.content = .examined(examination)
    }
    #expect(found.map(\.category) == [.inputOutput])
    let fix = try #require(found.first?.fix)
    #expect(
      fix.contains("mv '\(HealthyComputer.store)'*") && fix.hasSuffix("cp BACKUP '\(HealthyComputer.store)'"))
  }

  @Test func aForeignTriggerThatPreventsWritesIsReportedAsAFailure() {
    let found = HealthyComputer.wrong { facts in
      var examination = StoreExamination()
      examination.foreignSchema = ["trigger extra"]
      facts.store.content = .examined(examination)
    }
    #expect(found.map(\.state) == [.fail] && found.map(\.category) == [.configuration])
    #expect(found.first?.detail.contains("did not make the trigger extra, ") == true)
    #expect(found.first?.fix == "sqlite3 '\(HealthyComputer.store)' 'DROP TRIGGER \"extra\"'")
  }

  @Test func aChangedTriggerOfTheStoreOrADamagedAttachmentIsReportedAsAFailure() {
    for change in [
      { (found: inout StoreExamination) in found.changedSchema = ["trigger reading_stays"] },
      {
        $0.deep = .init(); $0.deep?.wrongContents = 1
      },
      {
        $0.deep = .init(); $0.deep?.brokenReferences = 1
      },
      {
        $0.deep = .init(); $0.deep?.unreachableReadings = 1
      },
      {
        $0.deep = .init(); $0.deep?.brokenRules = ["record (1)"]
      },
      {
        $0.deep = .init(); $0.deep?.misplacedSeries = 1
      },
      {
        $0.deep = .init(); $0.deep?.lostWithdrawals = 1
      },
    ] as [(inout StoreExamination) -> Void] {
      var examination = StoreExamination()
      change(&examination)
      #expect(HealthyComputer.wrong { $0.store.content = .examined(examination) }.map(\.state) == [.fail])
    }
  }

  @Test(arguments: [(Int64(67_108_864), 0), (67_108_865, 1)])
  func aWriteAheadLogAbove64MiBIsReported(_ bytes: Int64, _ count: Int) {
    #expect(HealthyComputer.wrong { $0.store.logBytes = bytes }.count == count)
  }

  @Test func aStoreThatCannotBeOpenedIsReportedWithTheCategoryOfTheError() {
    let found = HealthyComputer.wrong { $0.store.content = .refused(Failure(.configuration, "newer")) }
    #expect(found.map(\.category) == [.configuration] && found.first?.fix == nil)
    #expect(HealthyComputer.wrong { $0.store.content = .none }.map(\.state) == [.note])
  }

  @Test func aTokenFileThatOtherUsersCanReadIsReported() {
    let found = HealthyComputer.wrong { $0.remote?.tokenFile?.mode = 0o640 }
    #expect(found.map(\.category) == [.permission] && found.first?.fix == "chmod 600 '/home/anna/token'")
    #expect(HealthyComputer.wrong { $0.remote?.tokenFile = nil }.map(\.category) == [.missingInput])
    #expect(HealthyComputer.wrong { $0.remote?.tokenFile?.owner = 0 }.map(\.category) == [.permission])
  }

  @Test func aRemoteThatFailsIsReported() {
    let found = HealthyComputer.wrong {
      $0.remote?.remote.lastError = "connection refused"
      $0.remote?.remote.nextAttempt = HealthyComputer.now + 60
    }
    #expect(found.map(\.state) == [.warn] && found.first?.detail.contains("next attempt") == true)
    #expect(HealthyComputer.wrong { $0.remote?.remote.purgedAt = 1 }.map(\.state) == [.fail])
    #expect(HealthyComputer.wrong { $0.remote?.authorities = .success(()) } == [])
    #expect(HealthyComputer.wrong { $0.remote = nil } == [])
    #expect(HealthyComputer.wrong { $0.remote?.answer = .success("Anna") } == [])
    let failure = Failure(.unavailable, "no answer")
    #expect(HealthyComputer.wrong { $0.remote?.answer = .failure(failure) }.map(\.category) == [.unavailable])
  }

  @Test func theKeyOfAClientCertificateMustBePrivateLikeATokenFile() {
    func wrong(_ key: FileFact?) -> [Finding] {
      HealthyComputer.wrong {
        $0.remote?.remote.access.clientCertificate = ClientCertificate(
          certificateFile: "/home/anna/me.pem", keyFile: "/home/anna/me.key")
        $0.remote?.clientKeyFile = key
      }
    }
    let key = FileFact(path: "/home/anna/me.key", owner: HealthyComputer.user, mode: 0o600)
    #expect(wrong(key) == [])
    #expect(wrong(nil).map(\.category) == [.missingInput])
    var shared = key
    shared.mode = 0o640
    #expect(wrong(shared).map(\.fix) == ["chmod 600 '/home/anna/me.key'"])
    #expect(wrong(FileFact(path: key.path, owner: 0, mode: 0o600)).map(\.category) == [.permission])
  }

  @Test func aCAFileThatCannotBeReadIsReported() {
    let found = HealthyComputer.wrong {
      $0.remote?.remote.access.authorities = "/home/anna/ca.pem"
      $0.remote?.authorities = .failure(Failure(.missingInput, "/home/anna/ca.pem: no such file"))
    }
    #expect(found.map(\.category) == [.missingInput])
    #expect(found.first?.detail == "/home/anna/ca.pem: no such file")
  }

  @Test func aClientCertificateThatFailsOrExpiresSoonIsReportedOnce() {
    func wrong(_ result: Result<Int64, Failure>?, mode: UInt32 = 0o600) -> [Finding] {
      HealthyComputer.wrong {
        $0.remote?.remote.access.clientCertificate = ClientCertificate(
          certificateFile: "/home/anna/me.pem", keyFile: "/home/anna/me.key")
        $0.remote?.clientKeyFile = FileFact(
          path: "/home/anna/me.key", owner: HealthyComputer.user, mode: mode)
        $0.remote?.clientCertificate = result
      }
    }
    #expect(wrong(.success(HealthyComputer.now + 14 * 86400)) == [])
    let soon = wrong(.success(HealthyComputer.now + 14 * 86400 - 1))
    #expect(soon.map(\.state) == [.warn] && soon.first?.detail.hasPrefix("/home/anna/me.pem: ") == true)
    let failed = wrong(.failure(Failure(.configuration, "it expired")))
    #expect(failed.map(\.category) == [.configuration] && failed.first?.detail == "it expired")
    // The finding for the key has the command that repairs it, and is not repeated.
    let open = wrong(.failure(Failure(.permission, "others may read it")), mode: 0o640)
    #expect(open.map(\.fix) == ["chmod 600 '/home/anna/me.key'"])
  }

  @Test func jobsThatDoNotRunOrWhoseMailIsLostAreReported() {
    #expect(
      HealthyComputer.wrong { $0.jobs.units = [] }.first?.fix
        == "systemctl --user enable --now glucoport-upload.timer")
    #expect(
      HealthyComputer.wrong { $0.jobs.lingers = false }.first?.fix == "sudo loginctl enable-linger 'anna'")
    #expect(
      HealthyComputer.wrong { ($0.jobs.units, $0.jobs.seesCrontab) = ([], false) }.first?.fix == "crontab -l")
    #expect(
      HealthyComputer.wrong { ($0.jobs.crontabs, $0.jobs.hasMail) = (["/etc/cron.d/g"], false) }.count == 1)
    #expect(HealthyComputer.wrong { ($0.jobs.units, $0.jobs.hasRemote) = ([], false) } == [])
    #expect(HealthyComputer.wrong { ($0.jobs.units, $0.jobs.crontabs) = ([], ["/etc/cron.d/g"]) } == [])
    let fetch = "systemctl --user enable --now glucoport-fetch.timer"
    #expect(HealthyComputer.wrong { $0.jobs.hasSources = true }.map(\.fix) == [fetch])
    #expect(
      HealthyComputer.wrong { ($0.jobs.hasSources, $0.jobs.crontabs) = (true, ["/etc/cron.d/g"]) } == [])
    #expect(
      HealthyComputer.wrong {
        ($0.jobs.hasSources, $0.jobs.units) = (true, ["/etc/systemd/user/glucoport-fetch.timer"])
      }
        == [])
  }
}
