#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches from sources on real servers and through real proxies: nginx with TLS, logins, client certificates,
# entity tags, compression, redirections and limits; squid and tinyproxy. Then simulates two weeks of a job
# with a faked clock (Tests/two-weeks.py). Needs root if packages are missing.
#   Tests/sources.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
Tests/install-packages.sh nginx squid tinyproxy faketime openssl
work=$(mktemp -d "${TMPDIR:-/tmp}/glucoport-sources.XXXXXX")
chmod 755 "$work"
servers=()
finish() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "sources: $*" >&2; tail -n 3 "$work"/*.log >&2 || true; exit 1; }
ok() { echo "ok: $*"; }
export HOME=$work/home TZ=UTC LC_ALL=C.UTF-8
mkdir -p "$HOME" "$work/www"

# run STATUS ARGUMENT...: runs the program. The program must end with this status. Its output is in $said.
run() {
  local status=0
  said=$("$program" "${@:2}" 2>&1) || status=$?
  [ "$status" = "$1" ] || fail "glucoport ${*:2} ended with $status and not $1: $said"
}
has() { [[ $said == *"$1"* ]] || fail "'$1' is expected: $said"; }

# entries COUNT: prints sensor values of the last minutes.
now=$(($(date +%s) / 60 * 60))
entries() {
  local index separator='['
  for ((index = $1; index > 0; index--)); do
    printf '%s{"type":"sgv","date":%d000,"sgv":%d,"device":"xDrip-DexcomG6"}' $separator $((now - index * 300)) $((100 + index % 50))
    separator=,
  done
  echo ']'
}
entries 3 >"$work/www/sgv.json"

# Certificates: an authority, the server, and the client.
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=Trial -days 2 2>/dev/null
certify() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$1.pem" \
    -extfile <(echo "subjectAltName=DNS:localhost,DNS:logbook.invalid,IP:127.0.0.1") 2>/dev/null
}
certify server
certify client
echo "anna:$(openssl passwd -apr1 right)" >users
echo right >password
echo wrong >wrong
chmod 600 password wrong client.key
chmod 644 users

cat >nginx.conf <<NGINX
daemon off;
user root;
pid $work/nginx.pid;
error_log $work/nginx.log warn;
events {}
http {
  access_log $work/access.log;
  client_body_temp_path $work/body; proxy_temp_path $work/proxied; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
  default_type application/json;
  gzip on; gzip_min_length 1; gzip_types application/json;
  limit_req_zone \$binary_remote_addr zone=one:1m rate=1r/m;
  server {
    listen 127.0.0.1:18443 ssl; server_name localhost;
    ssl_certificate $work/server.pem; ssl_certificate_key $work/server.key;
    ssl_client_certificate $work/ca.pem; ssl_verify_client optional;
    root $work/www;
    location /open/ { alias $work/www/; }
    location /login/ { alias $work/www/; auth_basic readings; auth_basic_user_file $work/users; }
    location /client/ { if (\$ssl_client_verify != SUCCESS) { return 403; } alias $work/www/; }
    location /busy/ { limit_req zone=one; limit_req_status 429; alias $work/www/; }
    location /moved { return 301 /open/sgv.json; }
    location /away { return 302 http://127.0.0.1:18480/open/sgv.json; }
    location /page { default_type text/html; return 200 "<!DOCTYPE html><html><title>Sign in</title></html>"; }
    location /slow/ { limit_rate 1; alias $work/www/; }
    location /down { proxy_pass http://127.0.0.1:1/; }
  }
  server { listen 127.0.0.1:18480; root $work/www; location /open/ { alias $work/www/; } }
}
NGINX
nginx -c "$work/nginx.conf" >>nginx.log 2>&1 & servers+=($!)
answers() { timeout 1 bash -c "</dev/tcp/127.0.0.1/$1" 2>/dev/null; }
await() { for _ in $(seq 200); do if answers "$1"; then return; fi; sleep 0.05; done; fail "nothing answers at the port $1"; }
await 18443

site=https://localhost:18443
set_source() { run "$1" source set "$2" "$site/$3" --type http --yes --ca-file ca.pem "${@:4}"; }

set_source 0 open open/sgv.json
run 0 fetch open && has 'open: new 3 · known 0'
run 0 fetch open && has 'open: nothing new'
[ "$(grep -c '" 304 ' access.log)" = 1 ] || fail "nginx did not answer with 304: $(cat access.log)"
entries 4 >www/sgv.json
run 0 fetch open && has 'open: new 1 · known 3'
run 69 source set plain "$site/open/sgv.json" --type http --yes
has certificate
ok "TLS by an own authority, an entity tag, and a file that grows"

set_source 0 login login/sgv.json --user anna --token-file password
run 0 fetch login && has 'login: new 0 · known 4'
set_source 77 rejected login/sgv.json --user anna --token-file wrong
! grep -rqE 'right|wrong' "$HOME"/.local/share/glucoport/logbook.db || fail "a password is in the store"
set_source 76 anonymous client/sgv.json
set_source 0 client client/sgv.json --client-cert client.pem --client-key client.key
ok "a login by password, and one by a client certificate"

set_source 0 moved moved
set_source 76 away away && has 'redirects are not followed'
set_source 76 page page && has 'a web page instead of data'
set_source 76 gone nothing && has 'there is nothing at this address'
set_source 69 down down
set_source 0 busy busy/sgv.json
run 75 fetch busy && has 'status 429'
run 75 fetch busy && has 'the next attempt is due'
SECONDS=0
set_source 69 slow slow/sgv.json --max-time 2s
[ "$SECONDS" -lt 20 ] || fail "a slow answer took $SECONDS s"
ok "redirections, a page, nothing, a gateway without a server, a limit of requests, a slow answer"

# Only squid knows the name of the server. tinyproxy requires a login and passes requests to squid.
cat >tinyproxy.conf <<TINY
Port 18481
Listen 127.0.0.1
Timeout 60
LogFile "$work/tinyproxy.log"
Allow 127.0.0.1
BasicAuth anna right
ConnectPort 18443
Upstream http 127.0.0.1:18482
TINY
tinyproxy -d -c tinyproxy.conf >>tinyproxy.log 2>&1 & servers+=($!)
mkdir -m 777 squid
cat >squid.conf <<SQUID
http_port 127.0.0.1:18482
acl all_ports port 1-65535
http_access allow localhost
http_access deny all
pid_filename $work/squid/pid
cache_log $work/squid/squid.log
access_log stdio:$work/squid/access.log
coredump_dir $work/squid
cache deny all
hosts_file $work/hosts
SQUID
echo '127.0.0.1 logbook.invalid' >hosts
squid -N -n "glucoport$$" -f squid.conf >>squid.log 2>&1 & servers+=($!)
await 18481
await 18482
site=https://logbook.invalid:18443
set_source 69 proxied open/sgv.json
export HTTPS_PROXY=http://127.0.0.1:18482
set_source 0 proxied open/sgv.json
run 0 fetch proxied && has 'proxied: new 0 · known 4'
grep -q 'CONNECT logbook.invalid:18443' squid/access.log || fail "squid was not asked: $(cat squid/access.log)"
export HTTPS_PROXY=http://anna:right@127.0.0.1:18481
run 0 fetch proxied --now && has 'proxied: '
grep -q 'CONNECT logbook.invalid:18443' tinyproxy.log || fail "tinyproxy was not asked: $(cat tinyproxy.log)"
export HTTPS_PROXY=http://127.0.0.1:18481
run 69 fetch proxied --now && has proxy
unset HTTPS_PROXY
run 69 fetch proxied --now
ok "through squid, which alone knows the name, and through tinyproxy with a login"

cd - >/dev/null
python3 Tests/two-weeks.py "$program"
