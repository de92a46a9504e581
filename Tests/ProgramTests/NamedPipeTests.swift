// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests named pipes as inputs of the built program, and as certificates and keys.
@Suite(.timeLimit(.minutes(10)))
struct NamedPipeTests {
  private static let rows = "time,glucose (mmol/L)\\n2026-05-06 10:00,5.5\\n2026-05-06 10:05,5.6\\n"

  /// Runs a script with the function `begin`. It starts an import and waits until the import has opened the
  /// pipe.
  private func run(_ script: String) async throws -> Program.Outcome {
    try await Program().shell(
      """
      mkfifo pipe; export GLUCOPORT_TIMEZONE=UTC
      begin() {
        glucoport import "$@" pipe & import=$!
        until ls -l /proc/$import/fd 2>/dev/null | grep -q '/pipe$'; do :; done
      }
      \(script)
      """)
  }

  @Test(arguments: [("TERM", Int32(143)), ("INT", 130)])
  func aSignalEndsTheWaitForAWriterOfANamedPipe(_ signal: String, _ status: Int32) async throws {
    let outcome = try await run("set -m; begin; kill -\(signal) $import; wait $import")
    #expect(outcome.status == status && outcome.errors.contains("pipe: interrupted; nothing was stored"))
  }

  @Test func theInputOfALaterWriterOfANamedPipeIsReadCompletely() async throws {
    let outcome = try await run(
      """
      begin --quiet; printf '\(Self.rows)' >pipe; wait $import; echo $?
      begin; { printf '\(Self.rows)'; printf '2026-05-06 10:10,5.7\\n'; } >pipe; wait $import; echo $?
      """)
    #expect(outcome.output.hasPrefix("0\n") && outcome.output.contains("new 1 · known 2"), "\(outcome)")
  }

  @Test func aNamedPipeToWhichNothingIsWrittenIsAnEmptyInput() async throws {
    let outcome = try await run("begin --quiet; : >pipe; wait $import; echo $?")
    #expect(outcome.output == "65\n", "\(outcome)")
  }

  /// Without a reader, rows in a pipe are lost when it is closed, and opening it for writing waits forever.
  @Test func rejectedRowsAreWrittenToANamedPipeOnlyIfAProgramReadsIt() async throws {
    let outcome = try await Program().shell(
      """
      mkfifo pipe; export GLUCOPORT_TIMEZONE=UTC; printf '\(Self.rows)2026-05-06 10:10,x\n' >rows.csv
      for append in '' --rejects-append; do
        timeout 20 glucoport import --quiet rows.csv --rejects pipe $append; echo $?
      done
      cat pipe >read &
      until glucoport import --quiet rows.csv --rejects pipe; [ $? -ne 73 ]; do :; done; wait; cat read
      glucoport import --quiet --again rows.csv --rejects >(cat >other); echo $?
      """)
    #expect(
      outcome.output == "73\n73\ntime,glucose (mmol/L)\n2026-05-06 10:10,x\n3\n", "\(outcome)")
    #expect(
      outcome.errors.contains("pipe: cannot create the file for rejected rows: no program reads this pipe"))
  }

  @Test func anImportReadsFromProcessSubstitutionOfTheShell() async throws {
    let outcome = try await run(
      """
      glucoport import --json <(printf '\(Self.rows)') | grep -o '"new":[0-9]*' | head -1
      glucoport import --quiet <(true); echo $?
      """)
    #expect(outcome.output == "\"new\":2\n65\n", "\(outcome)")
  }

  @Test func aKeyOrCertificateMustBeARegularFile() async throws {
    let outcome = try await run(
      """
      chmod 600 pipe; (umask 077; : >file)
      glucoport serve --data served --listen '[::1]:0' --tls-cert pipe --tls-key file; echo $?
      openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost 2>/dev/null
      glucoport serve --data served --listen '[::1]:0' --tls-cert cert --tls-key pipe; echo $?
      """)
    #expect(outcome.output == "78\n78\n", "\(outcome)")
    #expect(
      outcome.errors.split(separator: "\n").count {
        $0.contains("pipe: a certificate or key must be a regular file")
      } == 2, "\(outcome)")
  }
}
