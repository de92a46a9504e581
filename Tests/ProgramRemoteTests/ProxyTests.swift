// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests the built program with HTTP and SOCKS proxies.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  /// `proxy http|socks PORT` starts a proxy that forwards all connections to PORT. It writes the requested
  /// addresses to the file `asked` and sets the variable `proxy` to its own address.
  private static let prelude =
    ServerScript.certified + #"""
      relay='
        use strict; use Socket;
        my ($kind, $target) = @ARGV;
        socket(my $l, PF_INET, SOCK_STREAM, 0) or die; bind($l, sockaddr_in(0, INADDR_LOOPBACK)) or die; listen($l, 16) or die;
        open(my $f, ">", "port.part"); print $f +(sockaddr_in(getsockname($l)))[0]; close $f; rename "port.part", "port";
        $| = 1; $SIG{CHLD} = "IGNORE";
        sub get { my ($s, $n) = @_; my $b = ""; while (length $b < $n) { sysread($s, $b, $n - length $b, length $b) or exit } $b }
        sub copy { my ($s, $t) = @_; my $b; while (sysread($s, $b, 65536)) { syswrite($t, $b) or last } shutdown($t, 1) }
        while (accept(my $c, $l)) {
          next if fork();
          if ($kind eq "http") {
            my $head = ""; $head .= get($c, 1) until $head =~ /\r\n\r\n$/;
            my ($name) = $head =~ /^CONNECT (\S+)/; my ($login) = $head =~ /^proxy-authorization: (.*?)\r/mi;
            $login ||= "nobody"; print "$name $login\n";
            if ($ENV{NEEDED} && $login ne $ENV{NEEDED}) {
              syswrite($c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"); exit;
            }
            syswrite($c, "HTTP/1.1 200 OK\r\n\r\n");
          } else {
            my (undef, $n) = unpack("CC", get($c, 2)); get($c, $n); syswrite($c, "\5\0"); get($c, 4);
            my $name = get($c, unpack("C", get($c, 1))); print "$name:", unpack("n", get($c, 2)), "\n";
            syswrite($c, "\5\0\0\1\0\0\0\0\0\0");
          }
          socket(my $t, PF_INET, SOCK_STREAM, 0); connect($t, sockaddr_in($target, INADDR_LOOPBACK)) or exit;
          if (fork()) { copy($c, $t) } else { copy($t, $c) } exit;
        }'
      proxies=
      proxy() {
        rm -f port; perl -e "$relay" $1 $2 >asked & proxies="$proxies $!"
        for _ in $(seq 1200); do [ -e port ] && break; sleep 0.05; done
        proxy=127.0.0.1:$(cat port)
      }
      end() { kill $proxies; stop; }

      """#

  @Test func aProxyFromTheEnvironmentIsUsedAndItsLoginIsNeverShown() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        start; proxy http ${url##*:}
        export https_proxy=http://anna:SECRETWORD@$proxy
        set_remote https://sync.invalid:8443
        glucoport record add note x --quiet; glucoport upload --quiet; echo $?
        probe; grep -c "^  through the proxy http://$proxy$" shown
        [ "$(sort -u asked)" = "sync.invalid:8443 Basic $(printf anna:SECRETWORD | base64)" ] && echo asked
        sqlite3 data/glucoport/logbook.db .dump | grep -c SECRETWORD
        unset https_proxy; probe; HTTPS_PROXY=$proxy probe; https_proxy=$proxy HTTPS_PROXY=http://127.0.0.1:1 probe
        export HTTPS_PROXY=http://anna:SECRETWORD@127.0.0.1:1; probe
        HTTPS_PROXY=https://anna:SECRETWORD@$proxy probe; HTTPS_PROXY=http://anna:SECRETWORD@ probe
        end
        """)
    #expect(
      outcome.output == "0\n0\n0\n1\nasked\n0\n69\n0\n0\n69\n78\n78\nended with 0\n", "\(outcome)")
    #expect(outcome.errors.contains("cannot connect to the proxy http://127.0.0.1:1: Connection refused"))
    #expect(outcome.errors.contains("the variable HTTPS_PROXY names a proxy of a type"))
    #expect(!outcome.errors.contains("SECRETWORD"), "\(outcome.errors)")
  }

  @Test func aProxyThatRequiresALoginIsReported() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        start; export NEEDED="Basic $(printf anna:right | base64)"; proxy http ${url##*:}
        export HTTPS_PROXY=http://anna:right@$proxy; set_remote https://sync.invalid
        HTTPS_PROXY=http://anna:wrong@$proxy probe; HTTPS_PROXY=http://$proxy probe; probe
        end
        """)
    #expect(outcome.output == "0\n69\n69\n0\nended with 0\n", "\(outcome)")
    let errors = outcome.errors.split(separator: "\n").map { line in
      ["rejected the user and the password", "needs a user and a password"].firstIndex { line.contains($0) }
    }
    #expect(errors == [0, 1] && !outcome.errors.contains("wrong"), "\(outcome.errors)")
  }

  @Test func aSOCKSProxyResolvesTheNameOfTheServer() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        start; proxy socks ${url##*:}
        export ALL_PROXY=socks5h://$proxy; set_remote https://sync.invalid:8443; sort -u asked; : >asked
        glucoport record add note x --quiet; glucoport upload --quiet; echo $?
        all_proxy=socks5://$proxy probe; ALL_PROXY=socks5://anna:SECRETWORD@$proxy probe
        end
        """)
    #expect(outcome.output == "0\nsync.invalid:8443\n0\n0\n78\nended with 0\n", "\(outcome)")
    #expect(!outcome.errors.contains("SECRETWORD"), "\(outcome.errors)")
  }

  @Test func thisComputerAndProxyExceptionsAreReachedWithoutAProxy() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        start; proxy http ${url##*:}
        HTTPS_PROXY=http://127.0.0.1:1 ALL_PROXY=socks5://127.0.0.1:1 set_remote $url
        GLUCOPORT_STORE=other.db HTTPS_PROXY=$proxy set_remote https://sync.invalid
        : >asked; export GLUCOPORT_STORE=other.db HTTPS_PROXY=$proxy
        for hosts in sync.invalid .invalid 'a.example, invalid' '*' sync.invalid:443; do NO_PROXY=$hosts probe; done 2>/dev/null
        wc -c <asked
        for hosts in nc.invalid sync.invalid:80 127.0.0.0/8 valid; do no_proxy=$hosts probe; done
        end
        """)
    #expect(
      outcome.output == "0\n0\n69\n69\n69\n69\n69\n0\n0\n0\n0\n0\nended with 0\n", "\(outcome)")
  }

  @Test func aClientCertificateIsSentToTheServerThroughTheProxy() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.prelude + """
        certify ca; sign me -days 2; start --client-ca ca.pem; proxy http ${url##*:}; export HTTPS_PROXY=$proxy
        set_remote https://sync.invalid; set_remote https://sync.invalid --client-cert me.pem --client-key me.key
        sort -u asked
        end
        """)
    #expect(outcome.output == "69\n0\nsync.invalid:443 nobody\nended with 0\n", "\(outcome)")
  }
}
