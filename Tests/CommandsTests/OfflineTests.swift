// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import CommandParts

/// Tests that commands which need no server open no socket. The program strace records their system calls.
@Suite(.timeLimit(.minutes(10))) struct OfflineTests {
  /// Calls of each `deferrable` or `local` command: the words of the command, and the rest of the command
  /// line. Earlier calls make the data for later ones.
  private static let scripts: [(words: String, rest: String)] = [
    ("import", "rows.csv --quiet"), ("import", "--transcript session --dry-run"),
    ("add", "6.1mmol 45g --quiet"), ("record add", "note x --quiet"),
    ("record edit", "$guid --note y --quiet"), ("record show", "$guid"),
    ("record attach", "$guid rows.csv --quiet"), ("record attachments", "$guid"), ("record list", ""),
    ("show", "$guid"), ("show", "$file --save saved"), ("list", ""), ("latest", ""), ("list", "--days"),
    ("export", ""),
    ("status", ""), ("status", "--watch"), ("status", "--check"), ("log", ""), ("formats", ""),
    ("formats", "clarity"),
    ("config", ""), ("config", "pull-interval 6h"),
    ("conflict list", ""), ("conflict show", "$clash"), ("conflict resolve", "$clash --keep mine --quiet"),
    ("queue add", "changes"), ("queue add", "readings --since 2026-05-01"), ("queue add", "record $guid"),
    ("queue add", "attachment $absent"), ("queue list", ""), ("queue list", "--refused"),
    ("queue retry", ""), ("queue cancel", "1"),
    ("stats", "--last 14d"), ("day", "2026-05-06"), ("report", "-o report.html"),
    ("reading hide", "--device unknown --since 2026-05-01 --quiet"),
    ("reading restore", "--device unknown --since 2026-05-01 --quiet"), ("record hide", "$guid --quiet"),
    ("record restore", "$guid --quiet"), ("undo", "1 --dry-run"),
    ("redo", "1 --dry-run"), ("count both", "generic glucoport --quiet"),
    ("count once", "generic glucoport --quiet"), ("count only", "glucoport --kind food --quiet"),
    ("count list", ""), ("count remove", "1 --quiet"),
    ("backup", "copy.db --quiet"), ("restore", "copy.db --yes --quiet"), ("person add", "anna --quiet"),
    ("person list", ""), ("person rename", "anna ben --quiet"),
    ("person assign", "700001 ben --quiet"), ("person remove", "ben"),
    ("remote show", ""), ("source show", ""), ("source remove", "printed"),
    ("record delete", "$guid --quiet"),
    ("remote remove", ""),
    ("meter drivers", ""), ("meter udev-rules", ""), ("setup", "--dry-run"), ("setup user", ""),
    ("setup system", "--prefix $PWD/usr"), ("setup remove", "user"),
    ("serve token add", "new --role read --data served"), ("serve token list", "--data served"),
    ("serve token rotate", "new --data served"), ("serve token revoke", "new --data served"),
    ("serve backup", "$PWD --data served"),
  ]

  private static let session = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples/meters/contour-constructed.transcript")

  /// Commands that are not tested, since they open a socket, each with the reason.
  private static let exceptions = [
    "serve": "it listens", "serve database prepare": "it uses a database",
    "serve database check": "it uses a database", "serve import": "it uses a database",
    "serve export": "it uses a database", "serve database add-cluster": "it uses a database",
    "serve logbook list": "it uses a database", "serve logbook move": "it uses a database",
    "serve logbook clean": "it uses a database", "serve logbook recover": "it uses a database",
    "meter list": "libusb hears of plugged meters by a socket of the kernel",
    "doctor": "it lists meters as 'meter list' does",
    "meter info": "it exchanges bytes with a meter, found as by 'meter list'",
    "meter set-clock": "it exchanges bytes with a meter, found as by 'meter list'",
    "meter record": "it exchanges bytes with a meter, found as by 'meter list'",
    "meter pair": "it asks bluetoothd by the system bus",
    "meter forget": "it asks bluetoothd by the system bus",
    "meter wait": "it asks bluetoothd by the system bus",
  ]

  @Test func everyCommandThatNeedsNoServerIsCheckedForSocketsOrIsAnException() {
    let commands = ClassifiedCommands.all.filter { $0.type.actionClass != .immediate }.map(\.words)
    let watched = Set(Self.scripts.map(\.words))
    #expect(watched.isDisjoint(with: Self.exceptions.keys))
    #expect(Set(commands) == watched.union(Self.exceptions.keys))
  }

  /// Makes a store with a reading, an entry, two attachments and a conflict. The content of one attachment is
  /// only on another computer. Then runs a command that uses a server, to prove that strace detects sockets.
  private static let setting = """
    serve; connect a; row a 07:10 123; export GLUCOPORT_STORE=a.db
    printf 'time,glucose (mg/dL)\\n2026-05-06T07:10:00,100\\n' >rows.csv
    printf other >other
    add() { glucoport record add "$@" --json | sed 's/.*"guid":"//; s/".*//'; }
    attached() { glucoport record attachments $1 --json | sed 's/.*"guid":"//; s/".*//'; }
    glucoport source set printed --type command --yes --format generic -- /bin/echo '[]' >/dev/null
    guid=$(add food 30 g); clash=$(add note clash); far=$(add note far)
    glucoport record attach $guid other --quiet; file=$(attached $guid)
    (
      export GLUCOPORT_STORE=b.db; of a export --format ndjson | glucoport import - --quiet
      echo elsewhere >far; glucoport record attach $far far --quiet; glucoport export --format ndjson
    ) | glucoport import - --quiet
    absent=$(attached $far)
    sqlite3 a.db "UPDATE record SET version_synced = 1, revision = 'r1',
        base = json_object('kind', 'note', 'entry_guid', NULL, 'device_time', '2026-05-06T18:30:00', 'utc_offset', '+02:00',
          'offset_source', 'stated', 'fields', json('{\\"text\\":\\"clash\\"}'), 'deleted', json('false'), 'edited_at', NULL)
        WHERE guid = '$clash';"
    glucoport record edit $clash --note mine --quiet
    sqlite3 a.db "UPDATE record SET conflict = json_set(base, '$.fields.text', 'theirs'), conflict_revision = 'r2'
        WHERE guid = '$clash'"
    strace -f -o calls -e trace=socket,connect glucoport remote test >/dev/null
    grep -c 'socket(AF_INET' calls >/dev/null && echo seen

    """

  /// The C library connects to the name service daemon `nscd` to look up a user. This is not a network
  /// access, so it is permitted.
  @Test func commandsThatNeedNoServerDoNotOpenASocket() async throws {
    let program = try Program()
    try program.write(Data(contentsOf: Self.session), to: "session")
    let outcome = try await program.shell(
      ServerScript.clients + Self.setting + """
        while read -r line; do
          eval "strace -f -o calls -e trace=socket,connect glucoport $line" >/dev/null 2>told </dev/null; status=$?
          case "$status $line" in 0\\ *|[347]*'status --check') ;; *) echo "$line ends with $status"; cat told ;; esac
          grep -E '(socket|connect)\\(' calls | grep -qvE 'socket\\(AF_UNIX|/nscd/socket' && echo "$line opens a socket"
        done <<END
        \(Self.scripts.map { "\($0.words) \($0.rest)" }.joined(separator: "\n"))
        upload --dry-run
        END
        stop >/dev/null
        """)
    #expect(outcome.output == "seen\n", "\(outcome)")
  }
}
