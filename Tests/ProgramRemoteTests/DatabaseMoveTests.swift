// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestPostgres
import TestProgram
import Testing

/// Tests the built program as a server with several database clusters. The commands are those of the examples
/// in glucoport-postgresql(7).
@Suite(.timeLimit(.minutes(10))) struct DatabaseMoveTests {
  private static let page = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "man/glucoport-postgresql.7").path

  /// `block SECTION COUNT` runs the commands in a section of the page. It replaces the names of the
  /// databases, and checks the number of commands.
  private static let block = """
    block() {
      sed -n "/^.Ss $1\\$/,/^.Ss/p" '\(page)' | sed -n 's/^\\$ //p' | sed "
        s|postgresql://glucoport_owner@db/glucoport|$owner|
        s|postgresql://glucoport_owner@db4/glucoport|$south_owner|
        s|postgresql://db4/glucoport|$south|" >commands
      [ "$(wc -l <commands)" = "$2" ] || echo "the section $1 has other commands"
      . ./commands
    }

    """

  /// A shell script that prepares two databases, starts a server and defines functions for a client.
  static func prelude(_ server: PostgresServer) throws -> String {
    for name in ["home", "south"] {
      try server.run("CREATE DATABASE \(name) OWNER \(PostgresServer.owner)")
    }
    let folder = server.folder.replacing("/", with: "%2F")
    return block + """
      owner=postgresql://\(PostgresServer.owner)@\(folder)/home
      south_owner=postgresql://\(PostgresServer.owner)@\(folder)/south
      south=postgresql://\(folder)/south
      as_server=postgresql://\(PostgresServer.role)@\(folder)/home
      glucoport serve database prepare --database "$owner" --grant-to \(PostgresServer.role) >/dev/null
      (umask 077; glucoport serve token add anna --role write --logbook anna --database "$as_server" >token)
      glucoport serve --quiet --database "$as_server" --listen 127.0.0.1:0 >listening 2>log & pid=$!
      until grep -qs listening listening; do kill -0 $pid || exit 1; sleep 0.05; done
      url=$(sed 's/listening on //' listening)
      export GLUCOPORT_STORE=a.db GLUCOPORT_TIMEZONE=UTC
      rows() {
        awk -v first=$1 -v count=$2 'BEGIN {
          print "time,glucose (mg/dL)"
          for (row = first; row < first + count; row++) print 1700000000 + row * 300 "," 60 + row % 200
        }' >rows.csv
        glucoport import rows.csv --quiet
      }
      connect() { glucoport remote set "$url" --token-file token >/dev/null; }

      """
  }

  @Test func theCommandsInTheManualMoveALogbookToAnotherDatabase() async throws {
    let server = try PostgresServer()
    let program = try Program()
    let outcome = try await program.shell(
      try Self.prelude(server) + """
        connect; rows 0 300; glucoport upload --quiet; echo "upload: $?"
        block 'Several clusters' 2 >/dev/null; echo "clusters: $?"
        block 'Moving a logbook' 3 | sed 's/for [0-9]* ms/for some ms/'
        rows 300 10; glucoport upload --quiet; echo "upload: $?"
        glucoport serve logbook list --database "$as_server" --json
        glucoport verify >/dev/null; echo "verify: $?"
        glucoport serve logbook move anna south --database "$owner"
        glucoport serve logbook clean anna --database "$owner"
        block 'Clusters from backups' 1
        glucoport serve logbook move missing south --database "$owner" 2>/dev/null; echo "no logbook: $?"
        glucoport serve logbook move anna north --database "$owner" 2>/dev/null; echo "no cluster: $?"
        glucoport serve logbook move anna default --database "$as_server" 2>/dev/null; echo "no right: $?"
        glucoport serve logbook list 2>/dev/null; echo "no database: $?"
        glucoport serve database add-cluster east service=none --database "$owner" 2>/dev/null; echo "away: $?"
        glucoport serve token revoke anna --database "$as_server"
        glucoport upload --now --quiet 2>/dev/null; echo "revoked: $?"
        kill -TERM $pid; wait $pid; echo "stopped: $?"
        """)
    #expect(
      outcome.output == """
        upload: 0
        clusters: 0
        anna  default  300 readings, 1 record, 0 bytes of attachments
        300 readings, 1 record, 0 bytes of attachments; changes were refused for some ms
        'default' keeps its copy until 'glucoport serve logbook clean anna'
        removed the copy in 'default'
        upload: 0
        {"logbook":"anna","cluster":"south","readings":310,"records":1,"attachment_bytes":0}
        verify: 0
        the logbook is in 'south'
        no other database has a copy
        every logbook is where the directory states it
        no logbook: 66
        no cluster: 66
        no right: 77
        no database: 64
        away: 69
        revoked: 77
        stopped: 0

        """, "\(outcome)")
    withExtendedLifetime(server) {}
  }

  /// A client uploads readings. Meanwhile, commands move its logbook to the other cluster and back, and are
  /// killed.
  @Test func movesOfALogbookKilledAtAnyMomentLoseNothing() async throws {
    let server = try PostgresServer()
    let program = try Program()
    let outcome = try await program.shell(
      try Self.prelude(server) + """
        block 'Several clusters' 2 >/dev/null
        connect
        client() {
          for part in $(seq 0 11); do
            rows $((part * 500)) 500
            until glucoport upload --now --quiet 2>>uploads; do [ $? = 75 ] || { echo "upload: $?"; return 1; }; done
          done
        }
        client & client=$!; RANDOM=7; killed=0; ended=0; most=300
        while kill -0 $client 2>/dev/null || [ $((killed + ended)) -lt 12 ]; do
          for cluster in south default; do
            glucoport serve logbook move anna $cluster --database "$owner" >>moves 2>&1 & move=$!
            sleep 0.$(printf %03d $((RANDOM % most)))
            kill -KILL $move 2>/dev/null; wait $move 2>/dev/null
            # A fast machine ends a move sooner, so that the next one is killed sooner.
            if [ $? = 137 ]; then killed=$((killed + 1)) most=$((most < 250 ? most + 50 : 300))
            else ended=$((ended + 1)) most=$((most * 3 / 4 + 10)); fi
          done
        done
        wait $client; echo "client: $?"
        # The lock of the last command ends with its connection.
        until glucoport serve logbook move anna south --database "$owner" >/dev/null 2>>moves; do [ $? = 75 ] || break; done
        glucoport serve logbook clean anna --database "$owner" >/dev/null; echo "cleaned: $?"
        until glucoport upload --now --quiet 2>>uploads; do [ $? = 75 ] || break; done
        glucoport verify >/dev/null; echo "verify: $?"
        GLUCOPORT_STORE=b.db; connect; glucoport upload --quiet; glucoport list --limit 9000 | wc -l
        glucoport serve logbook list --database "$owner"
        [ $killed -gt 3 ] || echo "only $killed of $((killed + ended)) were killed"
        kill -TERM $pid; wait $pid; echo "stopped: $?"
        """, within: .seconds(200))
    #expect(
      outcome.output == """
        client: 0
        cleaned: 0
        verify: 0
        6000
        anna  south  6,000 readings, 1 record, 0 bytes of attachments
        stopped: 0

        """, "\(outcome)")
    for database in ["home", "south"] {
      let count = try server.number("SELECT count(*) FROM glucoport.reading", in: database)
      #expect(count == (database == "home" ? 0 : 6000))
    }
  }
}
