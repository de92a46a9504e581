// SPDX-License-Identifier: Apache-2.0

/// Functions for scripts of bash that run the built program as a server, in the folder of a `Program`.
package enum ServerScript {
  /// `serve` starts a server in the background and sets `server` and `url`. `stop` and `crash` end it, and
  /// `again` starts it on the same port. `token` makes a token.
  package static let prelude = """
    set -u
    listen=127.0.0.1:0
    serve() {
      : >out
      glucoport serve --data served --listen $listen "$@" >out 2>>log & server=$!
      for _ in $(seq 1200); do grep -qs listening out && break; kill -0 $server 2>/dev/null || break; sleep 0.05; done
      url=$(sed 's/listening on //' out)
    }
    again() {
      listen=${url#http://}
      for _ in $(seq 10); do serve "$@"; grep -qs listening out && break; done
    }
    stop() { kill -TERM $server; wait $server; echo "ended with $?"; }
    crash() { kill -KILL $server; wait $server 2>/dev/null; }
    # A server, or a program that begins, may hold the file for a moment.
    sqlite3() { command sqlite3 -cmd '.timeout 20000' "$@"; }
    token() { glucoport serve token add "$1" --role "$2" --logbook "${3:-anna}" --data served; }

    """

  /// The prelude with certificates. `certify NAME OPTIONS…` makes a self-signed certificate, and `sign NAME
  /// OPTIONS…` one signed by the authority `ca`, each with its key. `start` starts a server with TLS.
  /// `set_remote URL OPTIONS…` and `probe` connect to it and report the exit status.
  package static let certified =
    prelude + #"""
      certify() {
        openssl req -x509 -newkey rsa:2048 -nodes -keyout $1.key -out $1.pem -days 2 -subj /CN=$1 "${@:2}" 2>/dev/null
        chmod 600 $1.key
      }
      sign() {
        openssl req -newkey rsa:2048 -nodes -keyout $1.key -out request.pem -subj /CN=$1 2>/dev/null; chmod 600 $1.key
        openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out $1.pem "${@:2}" 2>/dev/null
      }
      start() {
        certify cert -addext subjectAltName=DNS:sync.invalid,IP:127.0.0.1
        (umask 077; token me write >mine); serve --tls-cert cert.pem --tls-key cert.key "$@"
      }
      set_remote() { glucoport remote set "$@" --token-file mine --ca-file cert.pem >/dev/null; echo $?; }
      probe() { glucoport remote test >shown; echo $?; }

      """#

  /// The prelude with clients, each with a separate store. `connect NAME [ROLE] [LOGBOOK]` makes a client's
  /// token and sets its remote. `of NAME COMMAND…` runs the program on the client's store. `upload NAME …`
  /// uploads and reports the exit status. `digest NAME` reports the content of an export.
  package static let clients =
    prelude + """
      of() { local name=$1; shift; GLUCOPORT_STORE=$name.db glucoport "$@"; }
      login() { rm -f "$1.token"; (umask 077; token "$1-$RANDOM" "${2:-write}" "${3:-anna}" >"$1.token"); }
      connect() { login "$@"; of "$1" remote set "$url" --token-file "$1.token" >/dev/null; }
      upload() { local name=$1; shift; of "$name" upload "$@" 2>>errors; echo "$name $?"; }
      digest() { of "$1" export --format ndjson >"$1.ndjson" && sort "$1.ndjson" | sha256sum || echo "$1 cannot export"; }
      row() { printf 'time,glucose (mg/dL)\\n2026-03-01T%s:00,%s\\n' "$2" "$3" | of "$1" import - --quiet; }
      pending() { of "$1" upload --dry-run; }
      same() { local one other; one=$(digest "$1"); other=$(digest "$2"); [ "$one" = "$other" ] && echo same || echo different; }
      requests() { curl -sS "$url/metrics" | grep '^glucoport_requests_total' | grep -v metrics | awk '{ n += $2 } END { print n + 0 }'; }

      """
}
