// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests the built program with a server that accepts only clients with a certificate.
@Suite(.timeLimit(.minutes(10))) struct ClientCertificateTests {
  @Test func aServerAcceptsOnlyClientCertificatesOfItsAuthority() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.certified + """
        certify ca; certify other; sign me -days 2
        start --client-ca ca.pem
        ask() { curl -sS -o body -w '%{http_code}\\n' --cacert cert.pem "$@" $url/healthz 2>/dev/null; }
        ask; ask --cert me.pem --key me.key
        set_remote $url; set_remote $url --client-cert other.pem --client-key other.key
        set_remote $url --client-cert me.pem --client-key other.key
        set_remote $url --client-cert me.pem --client-key none.key
        set_remote $url --client-cert me.pem
        set_remote $url --client-cert me.pem --client-key me.key
        glucoport record add note x --quiet; glucoport upload --quiet; echo $?
        glucoport remote show | grep -c 'client certificate /.*/me.pem with the key /.*/me.key$'
        glucoport remote show --json | grep -c '"client_cert":"/[^"]*/me.pem","client_key":"/[^"]*/me.key"'
        chmod 640 me.key; probe
        chmod 600 me.key; set_remote $url --client-cert me.pem --client-key me.key
        glucoport remote remove >/dev/null; sqlite3 data/glucoport/logbook.db "SELECT count(*) FROM setting WHERE name LIKE 'remote-client%'"
        glucoport serve --data next --client-ca ca.pem 2>/dev/null; echo $?
        glucoport serve --data next --listen 127.0.0.1:0 --tls-cert cert.pem --tls-key cert.key --client-ca mine; echo $?
        stop
        """)
    #expect(
      outcome.output == """
        000
        200
        69
        69
        78
        66
        64
        0
        0
        1
        1
        77
        0
        0
        64
        78
        ended with 0

        """, "\(outcome)")
    #expect(
      outcome.errors.contains("me.key: other users may read or write the key of the client certificate"))
  }

  /// Nothing listens on the port of the server. So a command whose certificate files are valid ends with
  /// status 69, unavailable.
  @Test func problemsWithClientCertificateFilesAreReportedWithoutAServer() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.certified + """
        certify ca; certify other; sign me -days 2; sign old -days -1; echo word >mine; chmod 600 mine
        openssl ecparam -name prime256v1 -genkey -noout -out ec.key; chmod 600 ec.key
        openssl req -x509 -new -key ec.key -out ec.pem -days 2 -subj /CN=ec 2>/dev/null
        cat me.pem me.key >both; cat me.pem ca.pem >chain; cat ca.pem me.pem >turned
        openssl pkcs8 -topk8 -in me.key -passout pass:x -out locked 2>/dev/null
        openssl rsa -in me.key -aes128 -passout pass:x -traditional -out older 2>/dev/null
        openssl x509 -in me.pem -outform der -out binary; mkdir folder; mkfifo pipe; : >empty
        truncate -s 17k large; truncate -s 5M larger; chmod 600 both locked older pipe empty large
        with() { glucoport remote set https://127.0.0.1:1 --token-file mine --client-cert $1 --client-key $2; echo $?; }
        for pair in me.pem:me.key chain:me.key both:both ec.pem:ec.key; do with ${pair%:*} ${pair#*:} 2>/dev/null; done
        with me.key me.pem
        with me.pem other.key; with turned me.key
        with me.pem locked; with me.pem older
        with me.pem none; with none me.key
        with folder me.key; with pipe me.key; with me.pem pipe
        with me.pem large; with larger me.key
        chmod 644 ca.pem; with me.pem empty; with me.pem ca.pem; chmod 600 ca.pem; with me.pem ca.pem
        with empty me.key; with binary me.key
        with old.pem old.key
        glucoport remote set https://127.0.0.1:1 --token-file mine --ca-file pipe; echo $?
        glucoport remote set http://127.0.0.1:1 --token-file mine --client-cert me.pem --client-key me.key; echo $?
        ls data 2>/dev/null
        """)
    let faults = [
      (78, "exchange --client-cert and --client-key"),
      (78, "must be that of the first certificate"), (78, "must be that of the first certificate"),
      (78, "locked: the key of the client certificate has a passphrase"), (78, "older: the key"),
      (66, "the key of the client certificate cannot be read: No such file"),
      (66, "the client certificate cannot be read: No such file"),
      (78, "the client certificate must be a regular file"), (78, "the client certificate must be a regular"),
      (78, "the key of the client certificate must be a regular file"),
      (78, "the key of the client certificate has more than 16384 bytes"),
      (78, "the client certificate has more than 4194304 bytes"),
      (78, "no usable PEM private key"), (77, "ca.pem: other users may read"),
      (78, "no usable PEM private key"),
      (78, "empty: no PEM certificate"), (78, "binary: no PEM certificate"),
      (78, "old.pem: the client certificate expired "), (78, "the CA file must be a regular file"),
      (64, "needs an address that begins with https"),
    ]
    #expect(
      outcome.output == (Array(repeating: 69, count: 4) + faults.map(\.0)).map { "\($0)\n" }.joined(),
      "\(outcome)")
    let errors = outcome.errors.split(separator: "\n").filter {
      $0.contains("glucoport: ") || $0.hasPrefix("Error")
    }
    try #require(errors.count == faults.count, "\(outcome.errors)")
    for (error, fault) in zip(errors, faults) { #expect(error.contains(fault.1)) }
  }

  @Test func clientCertificateFilesAreFoundFromEveryFolderAndCheckedByDoctor() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.certified + """
        certify ca; sign me -days 60; sign soon -days 3; sign old -days -1; start --client-ca ca.pem; mkdir sub
        doctor() { glucoport doctor >found; grep -c 'me.pem: the client certificate' found; }
        (cd sub; glucoport remote set $url --token-file ../mine --ca-file ../cert.pem --client-cert ../me.pem \
          --client-key ../me.key >/dev/null; echo $?)
        here=$PWD; cd /; glucoport remote test >/dev/null; echo $?; cd "$here"; doctor
        cp soon.pem me.pem; cp soon.key me.key; probe; doctor; grep -c '^warn .*me.pem: the client certificate expires 2' found
        cp old.pem me.pem; cp old.key me.key; probe; doctor; grep -c '^fail .*me.pem: the client certificate expired 2' found
        cp soon.pem me.pem; doctor; grep -c '^fail .*the key must be that of the first certificate$' found
        glucoport record add note x --quiet; glucoport upload --quiet; echo $?
        rm me.pem; doctor; grep -c '^fail .*me.pem: the client certificate cannot be read: No such file' found
        stop
        """)
    #expect(
      outcome.output == "0\n0\n0\n0\n1\n1\n78\n1\n1\n0\n1\n78\n1\n1\nended with 0\n", "\(outcome)")
    #expect(outcome.errors.contains("me.pem: the client certificate expired 2"), "\(outcome.errors)")
  }
}
