// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the addresses on which the built program listens, and how it notifies a service manager.
@Suite(.timeLimit(.minutes(10))) struct ServeListenTests {
  /// `status URL …` prints the HTTP status of an answer. `until_ COMMAND…` waits until a command succeeds.
  private static let prelude =
    ServerScript.prelude + """
      status() { curl -sS -o body -w '%{http_code}\\n' -H "Authorization: Bearer ${token:-}" "$@"; }
      until_() { for _ in $(seq 1200); do "$@" && return; sleep 0.05; done; echo "timed out: $*"; }

      """

  /// A Perl script that acts as a service manager. It opens a socket and starts the program with this socket.
  /// Each time the program ends, the script starts it again.
  private static let manager = """
    manager='
      use Socket; use POSIX ();
      $^F = 20;
      socket(my $s, PF_INET, SOCK_STREAM, 0) or die; bind($s, sockaddr_in(0, INADDR_LOOPBACK)) or die; listen($s, 64) or die;
      sub note { my ($name, $text) = @_; open(my $f, ">", "$name.part"); print $f $text; close $f; rename "$name.part", $name; }
      note("port", (sockaddr_in(getsockname($s)))[0]);
      until (-e "enough") {
        my $pid = fork();
        if (!$pid) {
          POSIX::dup2(fileno($s), 3) if fileno($s) != 3;
          $ENV{LISTEN_FDS} = 1; $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDNAMES} = $ENV{SOCKET_NAME} || "";
          open(STDOUT, ">", "out"); exec @ARGV;
        }
        note("pid", $pid); waitpid($pid, 0); print $? & 127 ? "killed\\n" : "ended with " . ($? >> 8) . "\\n";
      }'

    """

  @Test(arguments: ["--listen", "--metrics-listen"])
  func aListeningAddressInUseIsReportedWithItsOption(_ option: String) async throws {
    let outcome = try await Program().shell(
      Self.prelude + """
        serve; address=${url#http://}
        free=$([ \(option) = --listen ] || echo --listen 127.0.0.1:0)
        glucoport serve --data other $free \(option) $address >/dev/null 2>errors; echo $?
        sed "s/$address/ADDRESS/" errors; stop
        """)
    let told =
      "glucoport: cannot listen on ADDRESS: Address already in use; choose another port with \(option)"
    #expect(outcome.output == "69\n\(told)\nended with 0\n", "\(outcome)")
  }

  @Test func aServerListensOnEveryGivenAddress() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        serve --listen unix:one.sock --listen 127.0.0.1:0 --listen unix:two.sock
        sed 's/127.0.0.1:[0-9]*/ADDRESS/' out; stat -c '%a %F' one.sock
        for url in $(sed -n 's/listening on \\(http.*\\)/\\1/p' out); do status $url/healthz; done
        for name in one two; do status --unix-socket $name.sock http://localhost/healthz; done
        status --unix-socket one.sock http://localhost/metrics
        stop; ls *.sock 2>/dev/null | wc -l
        """)
    #expect(
      outcome.output == """
        listening on http://ADDRESS
        listening on unix:one.sock
        listening on http://ADDRESS
        listening on unix:two.sock
        660 socket
        200
        200
        200
        200
        404
        ended with 0
        0

        """, "\(outcome)")
  }

  @Test func theUnixSocketOfAServerHasTheGivenMode() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        for mode in 600 0666; do listen=unix:a.sock; serve --socket-mode $mode; stat -c %a a.sock; stop; done
        for mode in 999 66 1777 rw +66; do glucoport serve --data served --socket-mode $mode 2>/dev/null; echo $?; done
        """)
    #expect(
      outcome.output == "600\nended with 0\n666\nended with 0\n64\n64\n64\n64\n64\n", "\(outcome)")
  }

  @Test func anExistingUnixSocketIsReplacedOnlyIfNoProcessListens() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        listen=unix:a.sock; serve; crash; ls a.sock
        serve; status --unix-socket a.sock http://localhost/healthz
        glucoport serve --data other --listen unix:a.sock; echo $?
        status --unix-socket a.sock http://localhost/healthz
        echo text >file; glucoport serve --data other --listen unix:file; echo $?; cat file
        glucoport serve --data other --listen unix:none/a.sock; echo $?
        stop
        """)
    #expect(
      outcome.output == "a.sock\n200\n69\n200\n69\ntext\n69\nended with 0\n", "\(outcome)")
    let errors = outcome.errors.split(separator: "\n")
    #expect(errors.count == 3 && errors.allSatisfy { $0.hasPrefix("glucoport: cannot listen on unix:") })
  }

  @Test func ifOneListeningAddressFailsAllAreClosed() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        serve; taken=${url#http://}
        glucoport serve --data other --listen unix:a.sock --listen $taken 2>/dev/null; echo $?; ls *.sock 2>/dev/null | wc -l
        glucoport serve --data other --listen unix:a.sock --listen 0.0.0.0:0 2>/dev/null; echo $?
        stop
        """)
    #expect(outcome.output == "69\n0\n64\nended with 0\n", "\(outcome)")
  }

  @Test func metricsWithASeparateAddressAreServedOnlyAtThatAddress() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        serve --metrics-listen 127.0.0.1:0
        url=$(sed -n '1s/listening on //p' out); metrics=$(sed -n '2s/listening on //p' out); echo "${metrics##*/}"
        status "$url/metrics"; status "$url/healthz"
        status "$metrics"; grep -c '^glucoport_requests_total{route="metrics",status="404"} 1' body
        status -H 'X-Forwarded-For: 192.0.2.1' "$metrics"; status "${metrics%metrics}healthz"
        status "${metrics%metrics}v1/logbook"
        stop
        """)
    #expect(
      outcome.output == "metrics\n404\n200\n200\n1\n200\n200\n404\nended with 0\n", "\(outcome)")
  }

  @Test func aSocketPassedBySystemdReplacesTheDefaultAddress() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + Self.manager + """
        run() { rm -f port enough; perl -e "$manager" "$@" >ends 2>>log & manager_id=$!; until_ test -e port; until_ test -e pid; }
        end() { touch enough; kill -TERM $(cat pid); wait $manager_id; cat ends; rm -f pid; }
        run glucoport serve --data served; status http://127.0.0.1:$(cat port)/metrics; end
        export SOCKET_NAME=metrics
        run glucoport serve --data served --listen unix:a.sock; until_ test -e a.sock
        status http://127.0.0.1:$(cat port)/metrics; status http://127.0.0.1:$(cat port)/v1/logbook
        status --unix-socket a.sock http://localhost/v1/logbook; end
        """)
    #expect(
      outcome.output == "200\nended with 0\n200\n404\n401\nended with 0\n", "\(outcome)")
  }

  @Test func invalidSocketsPassedBySystemdAreRefused() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        perl -e '$ENV{LISTEN_PID} = $$; exec @ARGV' env LISTEN_FDS=1 glucoport serve --data served 3</dev/null; echo $?
        export LISTEN_PID=1 LISTEN_FDS=1; serve 3</dev/null; status $url/healthz; stop
        """)
    #expect(outcome.output == "78\n200\nended with 0\n", "\(outcome)")
    #expect(outcome.errors.contains("ListenStream="), "\(outcome.errors)")
  }

  @Test func aSocketThatSystemdPassesTwiceIsRefused() async throws {
    let outcome = try await Program().shell(
      """
      perl -MPOSIX -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); bind($s, sockaddr_in(0, INADDR_LOOPBACK));
        listen($s, 5); POSIX::dup2(fileno($s), 10); POSIX::dup2(10, $_) for 3, 4;
        $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 2; exec @ARGV' glucoport serve --data served; echo $?
      """)
    #expect(
      outcome.output == "78\n" && outcome.errors.contains("one socket twice, as descriptors 3 and 4"),
      "\(outcome)")
  }

  /// The client gets an answer to every request while the server is replaced three times.
  @Test func aServerRestartWithASystemdSocketRefusesNoRequest() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + Self.manager + """
        token=$(token me write)
        perl -e "$manager" glucoport serve --data served --quiet >ends 2>>log & manager_id=$!
        until_ test -e port; until_ test -e pid; url=http://127.0.0.1:$(cat port)
        ( for _ in $(seq 200); do status "$url/v1/logbook" 2>&1; done ) >statuses & client=$!
        answered() { [ "$(wc -l <statuses)" -ge $1 ]; }
        for count in 40 80 120; do until_ answered $count; kill -TERM $(cat pid); done
        wait $client; touch enough; kill -TERM $(cat pid); wait $manager_id
        sort statuses | uniq -c; sort ends | uniq -c
        """, within: .seconds(240))
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words == "200 200 4 ended with 0", "\(outcome)")
  }

  /// When the server stops, three connections are open. The first connection sends its request only at that
  /// moment, the second has had an answer, and the third stays silent.
  @Test func aNewConnectionGetsAnAnswerWhileTheServerStops() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        serve; port=${url##*:}
        ask() { printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'; }
        exec 5<>/dev/tcp/127.0.0.1/$port 6<>/dev/tcp/127.0.0.1/$port 7<>/dev/tcp/127.0.0.1/$port
        # Its answer shows that the others were accepted.
        ask >&6; read -r line <&6; echo "$line"; status $url/healthz
        kill -TERM $server
        refused() { ! (exec 8<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; }
        until_ refused
        ask >&5; read -r line <&5; echo "$line"
        wait $server; echo "ended with $?"
        (ask >&6) 2>/dev/null; tail -n +2 <&6 | grep -c 'HTTP/1.1'; wc -c <&7
        """)
    #expect(
      outcome.output.replacing("\r\n", with: "\n")
        == "HTTP/1.1 200 OK\n200\nHTTP/1.1 200 OK\nended with 0\n0\n0\n", "\(outcome)")
  }

  @Test func systemdIsNotifiedOfEachServerState() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        perl -e 'use Socket; socket(my $s, PF_UNIX, SOCK_DGRAM, 0) or die; bind($s, sockaddr_un("states.sock")) or die; $| = 1;
          while (defined recv($s, my $text, 4096, 0)) { print "$text\\n" }' >states & listener=$!
        until_ test -S states.sock
        NOTIFY_SOCKET=$PWD/states.sock WATCHDOG_USEC=100000 serve
        until_ grep -q WATCHDOG=1 states
        kill -HUP $server
        ready() { [ "$(grep -c '^READY=1' states)" = 2 ]; }
        until_ ready; status $url/healthz
        stop; until_ grep -q STOPPING states; kill $listener
        grep -v WATCHDOG states | sed 's/USEC=[0-9][0-9]*/USEC=N/'
        NOTIFY_SOCKET=$PWD/gone.sock serve; status $url/healthz; stop; grep -c 'cannot be informed' log
        """)
    #expect(
      outcome.output == """
        200
        ended with 0
        READY=1
        RELOADING=1
        MONOTONIC_USEC=N
        READY=1
        STOPPING=1
        200
        ended with 0
        2

        """, "\(outcome)")
  }

  @Test func aHangupSignalReloadsTheServerCertificateAndKeepsConnections() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        make() {
          openssl req -x509 -newkey rsa:2048 -nodes -keyout new.key -out new.pem -days 2 -subj /CN=localhost -set_serial $1 \
            -addext subjectAltName=IP:127.0.0.1 2>/dev/null
          chmod 600 new.key; mv new.key key.pem; mv new.pem cert.pem
        }
        make 1; serve --tls-cert cert.pem --tls-key key.pem
        serial() { openssl s_client -connect ${url#https://} </dev/null 2>/dev/null | openssl x509 -noout -serial; }
        is() { [ "$(serial)" = "serial=$1" ]; }
        serial
        mkfifo requests; openssl s_client -quiet -connect ${url#https://} <requests >answers 2>/dev/null & client=$!
        exec 7>requests
        answered() { [ "$(grep -o 'HTTP/1.1 200' answers | wc -l)" = $1 ]; }
        ask() { printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n' >&7; until_ answered $1; }
        ask 1
        make 2; is 01 && echo 'not by itself'; kill -HUP $server; until_ is 02
        ask 2; echo 'the connection lives'
        echo nonsense >cert.pem; kill -HUP $server; until_ grep -q 'certificate in use stays' log; serial
        make 3; chmod 644 key.pem; kill -HUP $server
        twice() { [ "$(grep -c 'certificate in use stays' log)" = 2 ]; }
        until_ twice; serial
        exec 7>&-; stop; wait $client
        """)
    #expect(
      outcome.output == """
        serial=01
        not by itself
        the connection lives
        serial=02
        serial=02
        ended with 0

        """, "\(outcome)")
  }
}
