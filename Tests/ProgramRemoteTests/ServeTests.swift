// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the built program as a server. The client is curl.
@Suite(.timeLimit(.minutes(10))) struct ServeTests {
  /// Shell functions that send requests with curl to the server of `ServerScript`.
  private static let prelude =
    ServerScript.prelude + """
      node="Glucoport-Node: 5b0f3f0e-7c5a-4f5e-9a51-0d3c8f0b7a11"
      run="Glucoport-Run: 1 0c9f6a52-93f4-4b0e-8a39-5f7c1d2e3b44"
      ask() { curl -sS -H "Authorization: Bearer $token" -H "$node" -H "$run" -H "Content-Type: application/json" "$@"; echo; }
      status() { ask -o body -w '%{http_code}' "$@"; }
      reading() {
        at=$(date -u -d "@$1" +%Y-%m-%dT%H:%M:%S)
        printf '{"series":[{"device":{"vendor":"v","serial":"SECRETSERIAL"},"kind":"cbg","position_kind":"time",'
        printf '"readings":[[%d,0,0,"%s","Z","stated",123.5,"mg/dL"]]}]}' "$1" "$at"
      }

      """

  @Test func theExamplesInTheProtocolManualWork() async throws {
    let page = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "man/glucoport-protocol.7"), encoding: .utf8)
    let examples = try #require(
      page.components(separatedBy: ".Sh EXAMPLES\n").last?.components(separatedBy: ".Sh ").first)
    let blocks = examples.components(separatedBy: ".Bd -literal\n").dropFirst().compactMap {
      $0.components(separatedBy: ".Ed").first?.replacingOccurrences(of: "\\e", with: "\\")
    }
    #expect(blocks.count > 4)
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + "token=$(token curl write); serve\n" + blocks.joined(separator: "\n") + "\nstop")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 10, "\(outcome.output)")
    #expect(lines[0].contains("\"role\":\"write\"") && lines[1].contains("ok"))
    #expect(lines[2].hasPrefix("{\"stored\":3,\"known\":0,\"differing\":[],\"refused\":[]"))
    #expect(lines[3].hasPrefix("{\"stored\":0,\"known\":3,\"differing\":[],\"refused\":[]"))
    #expect(lines[4].hasPrefix("{\"records\":[{\"result\":\"accepted\""))
    #expect(
      lines[5].contains("after swimming") && lines[5].contains("1700000600")
        && lines[5].contains("\"more\":false"))
    #expect(lines[6].hasPrefix("{\"buckets\":{\"519\":[1,"))
    #expect(lines[7].contains("Libre 3") && lines[8].hasPrefix("{\"buckets\":{\"3a0\":[1,"))
    #expect(lines[9] == "ended with 0")
  }

  @Test func serverLogAndMetricsContainNoPersonalData() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        token=$(token 'Anna Secret' write annas-secret); serve
        ask -d "$(reading 1700000000)" "$url/v1/readings?note=SECRETNOTE"
        ask "$url/SECRETPATH"; ask -H "Authorization: Bearer SECRETTOKEN" "$url/v1/logbook" >body
        curl -sS "$url/metrics"; stop; cat log; glucoport serve token list --data served --json >list
        grep -c "login=$(sed 's/.*log_id":"//; s/".*//' list) .*route=/v1/readings status=200" log
        echo "$token" | cut -c 1-20 >shown; grep -c -F -f shown log
        """)
    let text = outcome.output
    #expect(text.contains("glucoport_readings_stored_total 1"), "\(text) \(outcome.errors)")
    #expect(text.contains("ended with 0"))
    for secret in ["SECRET", "Secret", "secret", "123.5", "1700000000"] {
      #expect(!text.contains(secret), "\(secret)")
    }
    #expect(text.hasSuffix("\n1\n0\n"), "the line of the request by the login's id, and no token")
  }

  @Test func theServerLogInJSONHasOneObjectPerLineAndNoPersonalData() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        token=$(token 'Anna Secret' write annas-secret); serve --log-format json
        ask -d "$(reading 1700000000)" "$url/v1/readings?note=SECRETNOTE" >body
        ask "$url/SECRETPATH" >body; ask -H "Authorization: Bearer SECRETTOKEN" "$url/v1/logbook" >body
        stop >/dev/null; cat log
        glucoport serve --log-format xml 2>/dev/null; printf '{"message":"%s"}\\n' $?
        """)
    let lines = try outcome.objects()
    try #require(lines.count == 4, "\(outcome)")
    #expect(lines.map { $0["status"] as? Int } == [200, 404, 401, nil])
    #expect(
      Set(lines[0].keys) == ["time", "level", "message", "method", "route", "status", "ms", "login"])
    #expect(lines[0]["level"] as? String == "info" && lines[0]["route"] as? String == "/v1/readings")
    #expect(lines[0]["ms"] is Int && (lines[0]["time"] as? String)?.hasSuffix("Z") == true)
    #expect(lines[3]["message"] as? String == "64")
    for secret in ["SECRET", "Secret", "secret", "123.5", "1700000000"] {
      #expect(!outcome.output.contains(secret), "\(secret)")
    }
  }

  @Test func acknowledgedReadingsAreStoredEvenAfterAKill() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        token=$(token me write)
        for round in 1 2 3; do
          serve
          ( for i in $(seq 1 100); do
              at=$((1700000000 + round * 100000 + i * 60))
              ask -d "$(reading $at)" "$url/v1/readings" | grep -q '"stored":1' || break
              echo $at >>acknowledged
            done ) 2>/dev/null & writer=$!
          for _ in $(seq 3000); do [ "$(wc -l <acknowledged 2>/dev/null || echo 0)" -ge $((round * 5)) ] && break; sleep 0.02; done
          kill -KILL $server; wait $server 2>/dev/null; wait $writer
        done
        serve
        while read -r at; do ask -d "$(reading $at)" "$url/v1/readings"; done <acknowledged | grep -c '"known":1'
        wc -l <acknowledged
        stop
        """, within: .seconds(240))
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 3, "\(outcome.output) \(outcome.errors)")
    #expect(lines[0] == lines[1] && (Int(lines[0]) ?? 0) >= 15, "\(outcome.output)")
    #expect(lines[2] == "ended with 0")
  }

  @Test func aServerTokenIsShownOnceListedAndRevoked() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        token=$(token one write); serve
        other=$(glucoport serve token add two --role read --data served)
        glucoport serve token list --data served | sed 's/20[0-9TZ:-]*/TIME/'
        status "$url/v1/logbook"; token=$other; status "$url/v1/logbook"; status -d '{}' "$url/v1/records"
        glucoport serve token revoke two --data served; status "$url/v1/logbook"
        glucoport serve token revoke two --data served; echo $?
        glucoport serve token add one --role read --data served; echo $?
        glucoport serve token add three --role owner --data served 2>/dev/null; echo $?
        kill -INT $server; wait $server; echo "ended with $?"
        """)
    #expect(
      outcome.output == """
        one  write  anna  TIME  7692c3ad
        two  read  anna  TIME  3fc4ccfe
        200
        200
        403
        401
        66
        64
        64
        ended with 0

        """, "\(outcome.errors)")
  }

  @Test func aReplacedServerTokenEndsAtOnceOrAfterAGracePeriod() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        first=$(token one write); serve
        rotate() { glucoport serve token rotate "$@" --data served; }
        second=$(rotate one)
        token=$first; status "$url/v1/logbook"; token=$second; status "$url/v1/logbook"
        third=$(rotate one --grace 1h)
        status "$url/v1/logbook"; token=$third; status "$url/v1/logbook"
        glucoport serve token list --data served | grep -c '^one  write  anna  '
        rotate two 2>/dev/null; echo $?; rotate one --grace soon 2>/dev/null; echo $?
        stat -c %a served/server.db; cat served/server.db* | grep -c -F -e "$first" -e "$second" -e "$third"
        stop
        """)
    #expect(outcome.output == "401\n200\n200\n200\n1\n66\n64\n600\n0\nended with 0\n", "\(outcome)")
  }

  @Test func aServerListensForOtherComputersOnlyWithTLSOrAnOption() async throws {
    let program = try Program()
    for address in [
      "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80", "127.0.0.1.example.com:0", "127.1.example:0",
      "127.0.0.256:0",
    ] {
      let outcome = try await program.run("serve", "--data", program.path("data"), "--listen", address)
      #expect(outcome.status == 64 && outcome.errors.contains("--insecure-http"), "\(outcome.errors)")
    }
    let half = try await program.run("serve", "--tls-cert", "cert.pem")
    #expect(half.status == 64)
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
    let outcome = try await program.shell(
      Self.prelude + """
        listen=0.0.0.0:0; serve --insecure-http; curl -sS "$url/healthz" -o body -w '%{http_code}\\n'; stop
        """)
    #expect(outcome.output == "200\nended with 0\n", "\(outcome.errors)")
  }

  @Test func aServerThatCannotStartReportsTheReason() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        serve
        glucoport serve --data served --listen 127.0.0.1:0; echo $?
        glucoport serve --data other --listen "${url#http://}"; echo $?
        (umask 077; echo nonsense >cert.pem); glucoport serve --data other --listen [::1]:0 --tls-cert cert.pem --tls-key cert.pem; echo $?
        stop
        """)
    #expect(outcome.output == "75\n69\n78\nended with 0\n", "\(outcome.errors)")
    let errors = outcome.errors.split(separator: "\n")
    #expect(errors.count == 3 && errors.allSatisfy { $0.hasPrefix("glucoport: ") }, "\(outcome.errors)")
  }

  @Test func aServerStartedWithACertificateUsesTLS() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
          -addext subjectAltName=IP:127.0.0.1 2>/dev/null
        token=$(token me write); serve --tls-cert cert.pem --tls-key key.pem; echo "${url%%:*}"
        status --cacert cert.pem "$url/v1/logbook"
        status --cacert cert.pem --tls-max 1.1 "$url/v1/logbook" 2>/dev/null
        status "http${url#https}/v1/logbook" 2>/dev/null
        stop
        """)
    #expect(outcome.output == "https\n200\n000\n000\nended with 0\n", "\(outcome.errors)")
  }

  @Test func aServerStartsOnlyWithAValidCertificateAndAPrivateKeyFile() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        make() {
          openssl req -x509 -newkey rsa:2048 -nodes -keyout $1.key -out $1.pem -days 2 -subj /CN=localhost "${@:2}" 2>/dev/null
          chmod 600 $1.key
        }
        make good -addext subjectAltName=IP:127.0.0.1; make other -addext subjectAltName=IP:127.0.0.1; make bare
        try() { glucoport serve --data served --listen 127.0.0.1:0 --tls-cert $1 --tls-key $2 2>said; echo $?; cat said >&2; }
        try good.pem other.key; try bare.pem bare.key; chmod 640 good.key; try good.pem good.key
        grep -c 'chmod 600' said
        """)
    #expect(outcome.output == "78\n78\n77\n1\n", "\(outcome)")
    #expect(outcome.errors.contains("the key that of the certificate"), "\(outcome.errors)")
    #expect(outcome.errors.contains("subjectAltName"), "\(outcome.errors)")
  }

  @Test func aServerUsesOnlyAuthenticatedCiphers() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
          -addext subjectAltName=IP:127.0.0.1 2>/dev/null
        token=$(token me write); serve --tls-cert cert.pem --tls-key key.pem
        for cipher in ECDHE-RSA-AES128-SHA ECDHE-RSA-AES256-SHA AES128-SHA AES128-GCM-SHA256 \
          ECDHE-RSA-AES128-GCM-SHA256 ECDHE-RSA-CHACHA20-POLY1305
        do status --cacert cert.pem --tls-max 1.2 --ciphers $cipher "$url/v1/logbook" 2>/dev/null; done
        stop
        """)
    #expect(outcome.output == "000\n000\n000\n000\n200\n200\nended with 0\n", "\(outcome)")
  }

  @Test func aListeningAddressThatCannotBeResolvedIsUnavailable() async throws {
    let program = try Program()
    let outcome = try await program.run(
      "serve", "--data", program.path("data"), "--listen", "no-such-host.invalid:0", "--insecure-http")
    #expect(outcome.status == 69, "\(outcome.errors)")
    #expect(outcome.errors.contains("unknown host name"), "\(outcome.errors)")
  }

  @Test func aPrivateCertificateAuthorityIsTrustedOnlyIfGiven() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ours 2>/dev/null
        openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=localhost 2>/dev/null
        echo subjectAltName=IP:127.0.0.1 >names
        openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names \
          -out cert.pem 2>/dev/null
        openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -days 2 -subj /CN=theirs 2>/dev/null
        (umask 077; token me write >mine); serve --tls-cert cert.pem --tls-key key.pem
        set_remote() { glucoport remote set "$url" --token-file mine "$@" >shown; echo $?; }
        set_remote; set_remote --ca-file other.pem; set_remote --ca-file mine; set_remote --ca-file ca.pem
        glucoport record add note x --quiet; glucoport upload --quiet; echo $?
        glucoport remote show | grep -c 'trusts only the CA file /.*/ca.pem'
        rm ca.pem; glucoport upload --quiet; echo $?
        stop
        """)
    #expect(outcome.output == "69\n69\n78\n0\n0\n1\n66\nended with 0\n", "\(outcome)")
    #expect(
      outcome.errors.contains("of this host that this system trusts, or --ca-file;"), "\(outcome.errors)")
    #expect(outcome.errors.contains("that the CA file of the remote trusts;"), "\(outcome.errors)")
  }
}
