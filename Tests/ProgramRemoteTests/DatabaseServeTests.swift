// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestPostgres
import TestProgram
import Testing

/// Tests the built program as a server that stores its data in PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct DatabaseServeTests {
  /// `started NAME` starts a server on the database. The file NAME gets its output, and the file NAME.url
  /// gets its URL. `prepared` prepares the database and adds a login, whose token it prints.
  private static let prelude = """
    started() {
      : >"$1"  # Before the server, which makes it only when it starts.
      glucoport serve --pages --database "$as_server" --listen 127.0.0.1:0 >"$1" 2>"$1.log" & eval "$1=$!"
      until grep -qs listening "$1"; do kill -0 "$!" || return 1; sleep 0.05; done
      sed 's/listening on //' "$1" >"$1.url"
    }
    ask() {
      curl -sS -o body -w '%{http_code}' -H "Authorization: Bearer $token" "$@"
    }
    prepared() {
      glucoport serve database prepare --database "$owner" --grant-to \(PostgresServer.role) >/dev/null || return
      (umask 077; glucoport serve token add anna --role write --logbook anna --database "$as_server" >token)
      cat token
    }
    rows() {
      printf 'time,glucose (mg/dL)\\n2026-05-06T07:10:00,100\\n2026-05-06T07:20:00,123\\n'
    }
    upload() {  # URL
      glucoport remote set "$1" --token-file token >/dev/null && glucoport upload --quiet
    }
    export GLUCOPORT_STORE=a.db GLUCOPORT_TIMEZONE=UTC

    """

  /// Runs a script with the addresses of two new databases. `$owner` is the first one, for the owner of its
  /// schema, and `$as_server` is the same one for a server. `$empty` is the second one, for its owner.
  ///
  /// - Parameter expected: the output of the script without the end of its last line. Errors are not allowed.
  private static func expect(_ expected: String, of script: String) async throws {
    let server = try PostgresServer()
    for name in ["logbooks", "empty"] {
      try server.run("CREATE DATABASE \(name) OWNER \(PostgresServer.owner)")
    }
    let outcome = try await Program().shell(
      """
      owner='\(server.address("logbooks", as: PostgresServer.owner))'
      empty='\(server.address("empty", as: PostgresServer.owner))'
      as_server='\(server.address("logbooks"))'
      postmaster='\(server.folder)/data/postmaster.pid'

      """ + prelude + script)
    #expect(outcome.errors == "")
    #expect(outcome.output == expected + "\n", "\(outcome)")
    withExtendedLifetime(server) {}
  }

  @Test func aServerRunsOnAPreparedDatabaseAndOnlyWithARoleThatIsNotItsOwner() async throws {
    try await Self.expect(
      """
      before: 78
      1
      prepared: 0
      the tables have version 4, and the role can serve them
      owner: 77
      two places: 64
      password: 64
      0
      """,
      of: """
        glucoport serve database check --database "$as_server" 2>/dev/null; echo "before: $?"
        glucoport serve database prepare --database "$owner" --grant-to \(PostgresServer.role) --dry-run | grep -c 'CREATE SCHEMA'
        glucoport serve database prepare --database "$owner" --grant-to \(PostgresServer.role) >/dev/null; echo "prepared: $?"
        glucoport serve database check --database "$as_server"
        glucoport serve --database "$owner" --listen 127.0.0.1:0 2>/dev/null; echo "owner: $?"
        glucoport serve --database "$as_server" --data x 2>/dev/null; echo "two places: $?"
        glucoport serve --database "$as_server password=secret" 2>message; echo "password: $?"; grep -c secret message
        """)
  }

  @Test func twoServersShareADatabaseItsLoginsAndItsPages() async throws {
    try await Self.expect(
      """
      upload a: 0
      upload b: 0
      2
      9
      1
      glucoport_database_standbys{cluster="default"} 0
      ready: 200
      page of the other server: 200
      anna  write  anna  2
      revoked: 401 401
      stopped: 0
      backup: 64
      """,
      of: """
        token=$(prepared); started first; started second
        rows >rows.csv; glucoport import rows.csv --quiet
        upload "$(cat first.url)"; echo "upload a: $?"
        export GLUCOPORT_STORE=b.db
        upload "$(cat second.url)"; echo "upload b: $?"
        glucoport list | wc -l
        curl -sS "$(cat first.url)/metrics" >metrics
        grep '^glucoport_database_' metrics | grep -vc '_seconds_[a-z]*{'
        grep -c '^glucoport_database_statement_seconds_count{cluster="default",statement="insert reading"} 1$' metrics
        grep '^glucoport_database_standbys' metrics
        curl -sS -o body -w 'ready: %{http_code}\\n' "$(cat first.url)/ready"
        path=$(curl -sS -X POST -H "Authorization: Bearer $token" "$(cat first.url)/v1/pages" | grep -o '/pages/[^"]*')
        echo "page of the other server: $(curl -sS -o body -w '%{http_code}' "$(cat second.url)$path")"
        glucoport serve token list --database "$as_server" | cut -c1-20
        glucoport serve token revoke anna --database "$as_server"
        echo "revoked: $(ask "$(cat first.url)/v1/logbook") $(ask "$(cat second.url)/v1/logbook")"
        kill -TERM $first; wait $first; echo "stopped: $?"
        glucoport serve backup missing --database "$as_server" 2>/dev/null; echo "backup: $?"
        kill -TERM $second; wait $second
        """)
  }

  @Test func aServerThatLacksARightInItsDatabaseAsksClientsToWait() async throws {
    try await Self.expect(
      """
      without a right: 75
      without a right: 75
      lacks a right in its database
      1
      check: 77
      no INSERT on reading
      with it: 0
      """,
      of: """
        token=$(prepared); started first
        upload "$(cat first.url)"
        psql -qX "$owner" -c 'REVOKE INSERT ON glucoport.reading FROM \(PostgresServer.role)'
        rows >rows.csv; glucoport import rows.csv --quiet
        for attempt in 1 2; do glucoport upload --now --quiet 2>message; echo "without a right: $?"; done
        grep -o 'lacks a right in its database' message; grep -c 'SQLSTATE 42501' first.log
        glucoport serve database check --database "$as_server" 2>message; echo "check: $?"; grep -o 'no INSERT on reading' message
        psql -qX "$owner" -c 'GRANT INSERT ON glucoport.reading TO \(PostgresServer.role)'
        glucoport upload --now --quiet; echo "with it: $?"
        kill -TERM $first; wait $first
        """)
  }

  @Test func theDataOfAFolderAndADatabaseAreMovedOnce() async throws {
    try await Self.expect(
      """
      another anna: 73
      other
      1 logbook, 2 readings, 1 record, 0 bytes of attachments
      import back: 73
      1 logbook, 2 readings, 1 record, 0 bytes of attachments
      import: 0
      1 logbook (1 moved already), 0 readings, 0 records, 0 bytes of attachments
      import: 0
      moved: 78
      elsewhere: 73
      2 data were moved to the database 'empty'
      """,
      of: """
        token=$(prepared); started first
        rows >rows.csv; glucoport import rows.csv --quiet; upload "$(cat first.url)"
        kill -TERM $first; wait $first
        glucoport serve token add other --role write --logbook anna --data other >/dev/null
        glucoport serve import --from other --database "$owner" 2>/dev/null; echo "another anna: $?"
        glucoport serve token list --data other | cut -c1-5
        glucoport serve export --to folder --database "$owner"
        glucoport serve import --from folder --database "$owner" 2>/dev/null; echo "import back: $?"
        glucoport serve database prepare --database "$empty" >/dev/null
        for attempt in 1 2; do glucoport serve import --from folder --database "$empty"; echo "import: $?"; done
        glucoport serve --data folder 2>message; echo "moved: $?"
        glucoport serve import --from folder --database "$owner" 2>>message; echo "elsewhere: $?"
        grep -o "data were moved to the database '[^']*'" message | uniq -c | cut -c 7-
        """)
  }

  @Test func aServerWithoutItsDatabaseIsNeitherHealthyNorReady() async throws {
    try await Self.expect(
      """
      away: 503
      away: 503
      stopped: 0
      """,
      of: """
        token=$(prepared); started first
        kill -QUIT "$(head -1 "$postmaster")"
        while curl -sS "$(cat first.url)/healthz" | grep -q ok; do sleep 0.05; done
        for path in healthz ready; do
          echo "away: $(curl -sS -o body -w '%{http_code}' "$(cat first.url)/$path")"
        done
        kill -TERM $first; wait $first; echo "stopped: $?"
        """)
  }
}
