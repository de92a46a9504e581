// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests files that no output of the built program replaces or extends, even with `--force`.
@Suite(.timeLimit(.minutes(10)))
struct OutputFileTests {
  private func expectRefused(
    _ program: Program, _ arguments: String..., file: String, _ words: String
  ) async throws {
    let before = FileManager.default.contents(atPath: program.path(file))
    let outcome = try await program.shell((["glucoport"] + arguments + [file]).joined(separator: " "))
    #expect(
      outcome.status == 64 && outcome.errors.contains("\(file): this is \(words); choose another file"),
      "\(file): \(outcome)")
    #expect(FileManager.default.contents(atPath: program.path(file)) == before, "\(file)")
  }

  @Test func aReportNeverReplacesADatabase() async throws {
    let program = try await ReadingRows.sticks()
    let made = try await program.shell(
      """
      ln -s data/glucoport/logbook.db link; ln data/glucoport/logbook.db hard; cp data/glucoport/logbook.db copy.html
      sqlite3 other.db 'CREATE TABLE t (a)'; cp other.db other.pdf
      """)
    #expect(made.status == 0, "\(made)")
    let store = "data/glucoport/logbook.db"
    for file in [store, "other.db"] {
      let before = FileManager.default.contents(atPath: program.path(file))
      let outcome = try await program.run("report", "--force", "-o", file)
      #expect(
        outcome.status == 64 && outcome.errors.contains("'\(file)' is not the name of a report"), "\(outcome)"
      )
      #expect(FileManager.default.contents(atPath: program.path(file)) == before, "\(file)")
    }
    for file in ["link", "hard"] {
      try await expectRefused(program, "report", "--force", "-o", file: file, "the store")
    }
    for file in ["other.pdf", "copy.html"] {
      try await expectRefused(program, "report", "--force", "-o", file: file, "an SQLite database")
    }
    for (database, suffix) in [
      (store, "-wal"), (store, "-shm"), (store, "-upload"), ("other.db", "-wal"), ("other.db", "-journal"),
    ] {
      try await expectRefused(
        program, "report", "--force", "-o", file: database + suffix,
        "a file that belongs to the database \(database)")
    }
    #expect(try await program.run("status").output.contains("\n2 readings, "))
    // A file that is not a database is replaced on request.
    try program.write("SQLite format 3", to: "old.html")
    let page = try await program.run("report", "--force", "-o", program.path("old.html"), "--quiet")
    #expect(page.status == 0 && page.errors == "", "\(page)")
  }

  /// Rows that are appended to the write-ahead log of an open database would damage it.
  @Test func anOutputLinkToAFileOfTheStoreIsRefused() async throws {
    let program = try await ReadingRows.sticks()
    try program.write("time,glucose (mmol/L)\n2026-05-06 10:00,x\n", to: "bad.csv")
    let outcome = try await program.shell(
      """
      store=data/glucoport/logbook.db
      mkfifo lines; sqlite3 $store <lines >/dev/null & exec 3>lines
      echo 'SELECT count(*) FROM reading;' >&3
      until [ -e $store-wal ]; do :; done
      ln -s $store-wal soft; ln $store-wal hard
      for link in soft hard; do glucoport import bad.csv --rejects-append --rejects $link; echo $?; done
      glucoport report --force -o hard; echo $?
      exec 3>&-; wait
      """)
    #expect(outcome.output == "64\n64\n64\n", "\(outcome)")
    for link in ["soft", "hard"] {
      #expect(
        outcome.errors.contains("\(link): this is a file that belongs to the store; choose"), "\(outcome)")
    }
  }

  @Test func withForceAReportReplacesOnlyARegularFile() async throws {
    let program = try await ReadingRows.sticks()
    let outcome = try await program.shell(
      """
      mkfifo pipe; mkdir folder; ln -s /dev/null null; echo old >page; ln -s page link
      for file in pipe folder null; do glucoport report --force -o $file 2>>errors; echo $?; done
      [ -p pipe ] && [ -d folder ] && [ -c null ] && echo whole
      glucoport report --force --quiet -o link; echo $?; [ -L link ] && head -c 9 page
      """)
    #expect(outcome.output == "73\n73\n73\nwhole\n0\n<!doctype", "\(outcome)")
    let errors = String(
      decoding: FileManager.default.contents(atPath: program.path("errors")) ?? .init(), as: UTF8.self)
    #expect(errors.contains("null: not a regular file; choose another file"), "\(errors)")
  }

  @Test func nothingIsWrittenIntoTheDataFolderOfAServer() async throws {
    let program = try await ReadingRows.sticks()
    try program.write("time,glucose (mmol/L)\n2026-05-06 10:00,x\n", to: "bad.csv")
    let made = try await program.shell(
      """
      mkdir -p sd/logbooks sd/more other/logbooks; sqlite3 sd/server.db 'CREATE TABLE t (a)'; touch sd/lock other/lock
      ln -s sd/lock link; ln -s sd/logbooks folder
      """)
    #expect(made.status == 0, "\(made)")
    let place = "a place in the data folder of a server"
    for file in [
      "sd/lock", "sd/moved-to-database", "link", "sd/x.html", "sd/logbooks/x.html", "folder/x.html",
    ] {
      try await expectRefused(program, "report", "--force", "-o", file: file, place)
    }
    for command in [["backup"], ["import", "bad.csv", "--rejects"]] {
      let outcome = try await program.run(arguments: command + [program.path("sd/logbooks/copy.db")])
      #expect(
        outcome.status == 64 && outcome.errors.contains("copy.db: this is \(place); choose"), "\(outcome)")
    }
    let backup = try await program.run("backup", program.path("sd"))
    #expect(backup.status == 64 && backup.errors.contains("Z.db: this is \(place); choose"), "\(backup)")
    #expect(
      try await program.shell("ls sd sd/logbooks").output
        == "sd:\nlock\nlogbooks\nmore\nserver.db\n\nsd/logbooks:\n")
    for file in ["other/lock", "other/logbooks/x.html", "sd/more/x.html"] {
      let page = try await program.run("report", "--force", "--quiet", "-o", program.path(file))
      #expect(page.status == 0, "\(page)")
    }
  }

  /// A token is shown once. A token that could not be printed is useless, and would keep its name.
  @Test func aServerTokenThatCannotBePrintedIsNotAdded() async throws {
    let outcome = try await Program().shell(
      """
      serve() { glucoport serve token "$@" --data sd; }
      serve add anna --role write --logbook anna >/dev/full; echo $?; serve list
      serve add anna --role write --logbook anna >token; echo $?
      serve rotate anna >/dev/full; echo $?; serve list | cut -c1-11
      """)
    #expect(outcome.output == "74\n0\n74\nanna  write\n", "\(outcome)")
    #expect(outcome.errors.contains("No space left on device; no token was added"), "\(outcome)")
    #expect(
      outcome.errors.contains("the token was replaced, and nothing shows the other one again"), "\(outcome)")
  }

  @Test func anOutputNeverReplacesTheTokenFileOfTheRemote() async throws {
    let program = try await ReadingRows.sticks()
    let token = try program.write("secret\n", to: "token")
    try StoreFile(program.store).execute(
      """
      INSERT INTO remote (id, node, run, run_id, kind, url, token_file, logbook, logbook_name)
      VALUES (1, 'n', 1, 'r', 'glucoport', 'https://sync.example.org', '\(token)', 'l', 'l')
      """)
    try await expectRefused(program, "report", "--force", "-o", file: "token", "the token of the remote")
    try program.write("time,glucose (mmol/L)\n", to: "empty.csv")
    try await expectRefused(
      program, "import", "empty.csv", "--rejects-append", "--rejects", file: "token",
      "the token of the remote")
  }

  @Test func rejectedRowsAreNeverWrittenIntoAnInputOrADatabase() async throws {
    let program = try Program()
    let bad = "time,glucose (mmol/L)\n2026-05-06 10:00,5.5\n2026-05-06 10:05,x\n"
    let made = try await program.shell(
      "mkdir folder; sqlite3 other.db 'CREATE TABLE t (a)'; printf '\(bad)' >a.csv; cp a.csv folder/b.csv")
    #expect(made.status == 0, "\(made)")
    let append = ["--rejects-append", "--rejects"]
    for (input, file) in [("a.csv", "a.csv"), ("folder", "folder/b.csv"), ("- <a.csv", "a.csv")] {
      let before = FileManager.default.contents(atPath: program.path(file))
      let outcome = try await program.shell(
        "glucoport import \(append.joined(separator: " ")) \(file) \(input)")
      #expect(
        outcome.status == 64 && outcome.errors.contains("\(file): this is an input of this command; choose"),
        "\(input): \(outcome)")
      #expect(FileManager.default.contents(atPath: program.path(file)) == before)
    }
    try await expectRefused(
      program, "import", "a.csv", "--rejects-append", "--rejects", file: "other.db", "an SQLite database")
    #expect(!FileManager.default.fileExists(atPath: program.store))
    let recorded = try await program.shell("glucoport meter record other.db-wal")
    #expect(recorded.status == 64 && recorded.errors.contains("belongs to the database other.db"))
  }
}
