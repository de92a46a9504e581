// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Subprocess
import TestProgram
import Testing

/// Tests `glucoport backup` and `glucoport restore`.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BackupTests {
  private func program(rows: Int = 300) async throws -> Program {
    let program = try Program()
    let outcome = try await program.run("import", "-", "--quiet", input: GeneratedExport.csv(rows: rows))
    #expect(outcome.status == 0, "\(outcome.errors)")
    return program
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func backUp(_ program: Program, _ name: String) async throws -> String {
    let outcome = try await program.run("backup", program.path(name), "--quiet")
    #expect(outcome.status == 0 && outcome.output + outcome.errors == "", "\(outcome.errors)")
    return program.path(name)
  }

  /// The number of readings in a store, after a complete check of the store.
  private func readings(_ program: Program, _ store: String) async throws -> Int {
    let doctor = try await program.run("doctor", "--deep", "--store", store, "--json")
    let found = try doctor.objects().first { $0["check"] as? String == "store" }
    // A finding with the state `note` reports an import that was running.
    #expect(["ok", "note"].contains(found?["state"] as? String), "\(doctor.output)")
    let status = try await program.run("status", "--store", store, "--json").objects()
    return try #require(status.first?["readings"] as? Int)
  }

  @Test func aBackupIsCompleteAndPrivateAndHasEqualBytesForEqualContent() async throws {
    let program = try await program()
    let outcome = try await program.run("backup", program.path("a.db"), "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let object = try #require(try outcome.objects().first)
    let first = try bytes(program.path("a.db"))
    #expect(object["size"] as? Int == first.count && object["readings"] as? Int == 300)
    let sum = try await program.shell("sha256sum a.db")
    #expect(object["sha256"] as? String == sum.output.split(separator: " ").first.map(String.init))
    #expect(try mode(program.path("a.db")) == 0o600)
    #expect(try await readings(program, program.path("a.db")) == 300)
    #expect(try await bytes(backUp(program, "b.db")) == first)
    // Other content produces another file. But the order of additions does not change the file, and neither
    // does reading the store.
    _ = try await program.run("add", "45g", "--quiet")
    #expect(try await bytes(backUp(program, "c.db")) != first)
    let again = try await program.shell(
      "for f in a.db b.db; do glucoport doctor --store \"$PWD/$f\" >/dev/null; done; cmp a.db b.db")
    #expect(again.status == 0)
    #expect(try names(program.folder.path).filter { $0.contains(".part") || $0.contains("-journal") } == [])
  }

  @Test func aBackupToStandardOutputHasTheBytesOfTheBackupFile() async throws {
    let program = try await program()
    _ = try await backUp(program, "a.db")
    let stream = try await program.shell("glucoport backup - >out.db && cmp a.db out.db")
    #expect(stream.status == 0, "\(stream.errors)")
    #expect(
      stream.errors.contains("standard output: ") && stream.errors.contains("  sha256 "), "\(stream.errors)")
    let left = try await program.shell(
      "glucoport backup - | head -c 10 >/dev/null; ls glucoport.* 2>/dev/null")
    #expect(left.output == "", "\(left.output)")
  }

  @Test func aBackupNeverOverwritesAFileOrStore() async throws {
    let program = try await program()
    let existing = try program.write("text", to: "file.txt")
    let other = try await backUp(program, "other.db")
    symlink(program.store, program.path("link.db"))
    for (target, status) in [
      (existing, 73), (program.store, 64), (other, 64), (program.path("link.db"), 64),
      (program.store + "-wal", 64), (program.store + "-backups", 64), (program.path("none/x.db"), 73),
    ] {
      let outcome = try await program.run("backup", target)
      #expect(outcome.status == status, "\(target): \(outcome.errors)")
    }
    #expect(try bytes(existing) == Data("text".utf8))
    #expect(try await program.run("backup", existing, "--keep", "1").status == 64)
    #expect(try await program.run("backup", "-", "--json").status == 64)
    #expect(
      try await program.run("backup", program.path("x.db"), "--store", program.path("y.db")).status == 66)
  }

  @Test func aBackupThatCannotBeCreatedIsNamedAsThePersonTypedIt() async throws {
    let outcome = try await program().shell("glucoport backup none/x.db")
    #expect(outcome.status == 73 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors == "glucoport: none/x.db: cannot be created: No such file or directory\n", "\(outcome)")
  }

  @Test func aBackupIntoAMissingFolderNamesTheCommandThatCreatesIt() async throws {
    let outcome = try await program().shell(
      """
      glucoport backup 'my backups' --keep 2
      mkdir -p 'my backups' && glucoport backup 'my backups' --keep 2 --quiet && ls 'my backups' | grep -c '^logbook-'
      """)
    let sentence = "my backups: not a folder, which --keep needs; make it first: mkdir -p 'my backups'"
    #expect(outcome.errors == "glucoport: \(sentence)\n" && outcome.output == "1\n", "\(outcome)")
  }

  /// Only backups in the notes of the store are removed: other files in the folder can have similar names.
  @Test func theKeepOptionRemovesOnlyOldBackupsOfTheFolder() async throws {
    let program = try await program()
    let folder = program.path("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let others = ["logbook-2020-01-01T000000Z.db", "logbook-2099-01-01T000000Z.db", "logbook-notes.txt"]
    for name in others { try program.write("x", to: "folder/" + name) }
    var made: [String] = []
    for number in 1...4 {
      _ = try await program.run("add", "\(number)g", "--quiet")
      let outcome = try await program.run("backup", folder, "--keep", "2", "--json")
      #expect(outcome.status == 0, "\(outcome.errors)")
      let object = try #require(try outcome.objects().first)
      let name = try #require((object["file"] as? String)?.split(separator: "/").last.map(String.init))
      #expect(name.wholeMatch(of: /logbook-\d{4}-\d\d-\d\dT\d{6}Z(-\d+)?\.db/) != nil, "\(name)")
      made.append(name)
      let removed = made.count > 2 ? [folder + "/" + made[made.count - 3]] : []
      #expect(object["removed"] as? [String] == removed)
      #expect(try names(folder) == (others + made.suffix(2)).sorted())
    }
    // Another store of the same name is backed up into the same folder.
    _ = try await program.shell("mkdir other; glucoport add 5g --quiet --store \"$PWD/other/logbook.db\"")
    let other = try await program.run(
      "backup", folder, "--keep", "1", "--store", program.path("other/logbook.db"))
    #expect(other.status == 0, "\(other.errors)")
    #expect(try Set(names(folder)).isSuperset(of: others + made.suffix(2)))
    #expect(try await program.run("backup", folder, "--keep", "501").status == 64)
  }

  @Test func backupsDuringAnImportAreConsistent() async throws {
    let program = try await program(rows: 10)
    let export = try program.write(GeneratedExport.csv(rows: 110_000), to: "all.csv")
    async let importing = program.run("import", export, "--quiet")
    var seen: [Int] = []
    for number in 0..<6 {
      seen.append(try await readings(program, try await backUp(program, "\(number).db")))
    }
    #expect(try await importing.status == 0)
    #expect(seen == seen.sorted() && seen.allSatisfy { $0 >= 10 })
    #expect(try await readings(program, try await backUp(program, "last.db")) == 110_000)
  }

  @Test func aKilledBackupLeavesNoFileOrACompleteFile() async throws {
    let program = try await program(rows: 60_000)
    let seed: UInt64 = 20_261_126
    var random = SeededGenerator(seed: seed)
    let whole = try await program.run("backup", program.path("whole.db"), "--quiet")
    for round in 0..<12 {
      let target = program.path("killed-\(round).db")
      let delay = Double.random(in: 0...whole.seconds * 1.2, using: &random)
      _ = try await program.run("backup", target) { process in
        try await Task.sleep(for: .seconds(delay))
        // The process may have ended already, so an error is ignored.
        try? process.send(signal: .kill)
      }
      if FileManager.default.fileExists(atPath: target) {
        #expect(try bytes(target) == bytes(program.path("whole.db")), "seed \(seed), round \(round)")
      } else {
        // The next run reuses the file that the killed run left.
        #expect(try await bytes(backUp(program, "killed-\(round).db")) == bytes(program.path("whole.db")))
        #expect(!FileManager.default.fileExists(atPath: target + ".glucoport.part"))
      }
    }
  }

  // MARK: Restore

  @Test func aBackupCanBeRestoredOnANewComputer() async throws {
    let (program, other) = (try await program(), try Program())
    let backup = try await backUp(program, "a.db")
    let outcome = try await other.run("restore", backup)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("300 readings"), "\(outcome.output)")
    #expect(try await readings(other, other.store) == 300)
    #expect(try mode(other.store) == 0o600)
    #expect(try await other.run("add", "45g", "--quiet").status == 0)
  }

  @Test func restoreKeepsThePreviousStoreNextToTheRestoredOne() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    for line in ["45g", "30g", "6.1mmol"] { _ = try await program.run("add", line, "--quiet") }
    let asked = try await program.run("restore", backup)
    #expect(asked.status == 64 && asked.errors.contains("add --yes"), "\(asked.errors)")
    let outcome = try await program.run("restore", backup, "--yes")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("3 readings and records of the present store are not in the backup"))
    #expect(try await readings(program, program.store) == 300)
    #expect(try await readings(program, program.store + ".before-restore") == 301)
    #expect(try mode(program.store + ".before-restore") == 0o600)
    // The same command again changes nothing, and keeps the earlier store.
    let again = try await program.run("restore", backup, "--yes")
    #expect(again.status == 0 && again.output.hasPrefix("unchanged: "), "\(again.output)\(again.errors)")
    #expect(try await readings(program, program.store + ".before-restore") == 301)
    let back = try await program.run("restore", program.store + ".before-restore", "--yes", "--quiet")
    #expect(back.status == 0, "\(back.errors)")
    #expect(try await readings(program, program.store) == 301)
  }

  @Test func aRestoredStoreHasTheBytesOfTheBackup() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    let first = try await program.run("restore", backup, "--store", program.path("new/logbook.db"), "--quiet")
    #expect(first.status == 0, "\(first.errors)")
    let other = try await program.run(
      "backup", program.path("b.db"), "--store", program.path("new/logbook.db"), "--quiet")
    #expect(other.status == 0, "\(other.errors)")
    #expect(try bytes(program.path("b.db")) == bytes(backup))
    // A repeated restore does not overwrite the store that the first restore kept.
    _ = try await program.run("add", "6.1mmol", "--quiet")
    for _ in 0..<2 {
      let outcome = try await program.run("restore", backup, "--yes", "--quiet")
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    #expect(try await readings(program, program.store + ".before-restore") == 301)
  }

  @Test func aBackupThatWasChangedIsRestoredWithAWarning() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    #expect(try await program.run("add", "45g", "--quiet", "--store", backup).status == 0)
    let changed = try await program.run("restore", backup, "--yes", "--quiet")
    #expect(changed.status == 0 && changed.errors.contains("this file was changed"), "\(changed.errors)")
  }

  /// If the write-ahead log of the lost store stayed, SQLite would apply it to the restored file.
  @Test func restoreIgnoresTheWriteAheadLogOfALostStore() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    let log = try program.write("the last trace", to: "lost.db-wal")
    for arguments in [
      ["backup", program.path("lost.db")], ["restore", backup, "--store", program.path("lost.db")],
    ] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 73 && outcome.errors.contains("lost.db-wal"), "\(outcome.errors)")
    }
    #expect(try bytes(log) == Data("the last trace".utf8))
    #expect(!FileManager.default.fileExists(atPath: program.path("lost.db")))
  }

  @Test func restoreFromABackupNamedLikeItsOwnWorkFileKeepsTheBackup() async throws {
    let program = try await program()
    let backup = try await bytes(backUp(program, "a.db"))
    for suffix in [".part", ".restoring", ".restoring.part", ".before-restore.part"] {
      let file = try program.write(Array(backup), to: "x.db" + suffix)
      let outcome = try await program.run("restore", file, "--store", program.path("x.db"), "--yes")
      #expect(outcome.status == 64 && outcome.errors.contains("rename"), "\(outcome.errors)")
      #expect(try bytes(file) == backup)
    }
  }

  /// No check of a single file shows an altered value, since the pages of SQLite have no checksums.
  @Test func doctorComparedWithABackupShowsAValueThatTheDiskAltered() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    let doctor = ["doctor", "--deep"]
    let sound = try await program.run(arguments: doctor + ["--against", backup])
    #expect(sound.output.contains("readings and records are the same in the copy"), "\(sound.output)")
    let damage = try await program.shell(
      """
      rule=$(sqlite3 data/glucoport/logbook.db "SELECT sql FROM sqlite_schema WHERE name = 'reading_is_immutable'")
      sqlite3 data/glucoport/logbook.db "DROP TRIGGER reading_is_immutable;
        UPDATE reading SET marks = 1 WHERE position = (SELECT min(position) FROM reading); $rule"
      """)
    #expect(damage.status == 0, "\(damage.errors)")
    let alone = try await program.run(arguments: doctor)
    #expect(alone.status != 74 && alone.output.contains("without damage"), "\(alone.output)")
    let altered = try await program.run(arguments: doctor + ["--against", backup])
    #expect(
      altered.status == 74
        && altered.output.contains("the store and the copy differ: missing in the store 0, different 1"))
  }

  @Test func restoreFromAFileThatIsNotABackupChangesNothing() async throws {
    let program = try await program()
    let before = try await bytes(backUp(program, "a.db"))
    let damaged = try program.write(
      before.prefix(40_000) + [UInt8](repeating: 7, count: 9000), to: "damaged.db")
    let newer = try await program.shell("cp a.db newer.db && sqlite3 newer.db 'PRAGMA user_version = 99'")
    #expect(newer.status == 0, "\(newer.errors)")
    for (file, status) in [
      (damaged, 74), (program.path("newer.db"), 78), (try program.write("text", to: "text.db"), 65),
      (try program.write("", to: "empty.db"), 65), (program.path("none.db"), 66), (program.store, 64),
    ] {
      let outcome = try await program.run("restore", file, "--yes")
      #expect(outcome.status == status, "\(file): \(outcome.status) \(outcome.errors)")
    }
    #expect(try await bytes(backUp(program, "b.db")) == before)
    #expect(!FileManager.default.fileExists(atPath: program.store + ".before-restore"))
  }

  @Test func aRestoreDoesNotWaitForAnUpload() async throws {
    let program = try await program()
    let backup = try await backUp(program, "a.db")
    _ = try await program.run("add", "45g", "--quiet")
    let lock = open(program.store + "-upload", O_CREAT | O_RDWR, 0o600)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(try await program.run("restore", backup, "--yes").status == 75)
    #expect(!FileManager.default.fileExists(atPath: program.store + ".before-restore"))
  }

  @Test func aKilledRestoreLeavesTheOldOrTheNewStore() async throws {
    let program = try await program(rows: 20_000)
    let backup = try await backUp(program, "a.db")
    let export = try program.write(GeneratedExport.csv(rows: 25_000), to: "more.csv")
    #expect(try await program.run("import", export, "--quiet").status == 0)
    let newest = try await backUp(program, "b.db")
    let seed: UInt64 = 20_261_127
    var random = SeededGenerator(seed: seed)
    let whole = try await program.run("restore", backup, "--yes", "--quiet")
    #expect(whole.status == 0, "\(whole.errors)")
    var counts: [Int] = []
    for round in 0..<12 {
      let (target, count) = round % 2 == 0 ? (newest, 25_000) : (backup, 20_000)
      let delay = Double.random(in: 0...whole.seconds * 1.2, using: &random)
      _ = try await program.run("restore", target, "--yes", "--quiet") { process in
        try await Task.sleep(for: .seconds(delay))
        try? process.send(signal: .kill)
      }
      let found = try await readings(program, program.store)
      #expect([20_000, 25_000].contains(found), "seed \(seed), round \(round)")
      counts.append(found)
      #expect(try await program.run("restore", target, "--yes", "--quiet").status == 0)
      #expect(try await readings(program, program.store) == count, "seed \(seed), round \(round)")
    }
    #expect(Set(counts).count == 2)
  }

  /// A write during the replacement waits for the end of the replacement. So each write is in the kept copy
  /// or in the restored store.
  @Test func changesMadeDuringARestoreAreInTheKeptPreviousStore() async throws {
    let program = try await program(rows: 40_000)
    _ = try await backUp(program, "a.db")
    let outcome = try await program.shell(
      """
      touch ok; store=data/glucoport/logbook.db
      meals() { glucoport list --kind food --format ndjson --store $1 | grep -c guid; }
      (until [ -e done ]; do glucoport add 45g --quiet 2>>refused && echo >>ok; done) & adding=$!
      until [ -s ok ]; do sleep 0.05; done
      glucoport restore a.db --yes --quiet; echo "status $?"
      until [ "$(meals $store)" -gt 0 ]; do sleep 0.05; done
      touch done; wait $adding
      echo $(($(meals $store) + $(meals $store.before-restore))) $(wc -l <ok)
      """)
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 2 && lines[0] == "status 0", "\(outcome.output)\(outcome.errors)")
    let counts = lines[1].split(separator: " ")
    #expect(counts[0] == counts[1], "\(outcome.output)")
  }

  @Test func aRefusedBackupAddsNoSettingsToTheExistingOne() async throws {
    let program = try await program()
    #expect(try await program.run("backup", program.path("a.db")).status == 0)
    let again = try await program.run("backup", program.path("a.db"), "--with-settings")
    #expect(again.status == 64, "\(again.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.path("a.db.settings.json")))
  }

  @Test func restoreListsSettingsOfTheBackupThatTheComputerLacks() async throws {
    let (program, other) = (try await program(), try Program())
    try FileManager.default.createDirectory(atPath: program.path("in"), withIntermediateDirectories: true)
    let added = try await program.run(
      "person", "add", "anna", "--store", program.store, "--folder", program.path("in"), "--quiet")
    #expect(added.status == 0, "\(added.errors)")
    _ = try await program.run("person", "assign", "7654321", "anna", "--quiet")
    try program.write(
      #"{"meters":[{"address":"D4:3E:00:12:34:56","name":"Meter","serial":"","read_at":0}]}"#,
      to: "data/glucoport/bluetooth.json")
    let made = try await program.run("backup", program.path("a.db"), "--with-settings")
    #expect(
      made.status == 0 && made.output.contains("  settings \(program.path("a.db.settings.json"))"),
      "\(made.errors)")
    #expect(try mode(program.path("a.db.settings.json")) == 0o600)
    let restored = try await other.run("restore", program.path("a.db"))
    #expect(
      restored.output.contains("needed: the person: glucoport person add anna --store "), "\(restored.output)"
    )
    #expect(
      restored.output.contains("needed: the meter: glucoport person assign 7654321 anna"),
      "\(restored.output)")
    #expect(
      restored.output.contains("needed: the Bluetooth meter D4:3E:00:12:34:56 Meter: glucoport meter pair"),
      "\(restored.output)")
    // On the computer of the backup, no setting is missing.
    _ = try await program.run("add", "45g", "--quiet")
    let here = try await program.run("restore", program.path("a.db"), "--yes")
    #expect(here.status == 0 && !here.output.contains("needed"), "\(here.output)\(here.errors)")
    try program.write("{", to: "a.db.settings.json")
    _ = try await program.run("add", "45g", "--quiet")
    #expect(try await program.run("restore", program.path("a.db"), "--yes").status == 65)
    #expect(try await program.run("backup", "-", "--with-settings").status == 64)
  }
}
