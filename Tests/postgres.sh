#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the blocks of commands and files in glucoport-postgresql(7) as they are printed, in the order in which
# an administrator needs them. They are about TLS, roles, pgbouncer, a dump, and a backup with pgbackrest that
# is restored to an earlier moment. Further blocks promote a standby that lags, upgrade a database, and run
# Patroni with two databases whose primary is killed. After each block, a client continues, and `verify`
# compares all of its data. Needs root and Debian 12, whose packages it installs. Everything runs in separate
# namespaces, whose mounts and processes end with the script.
#   Tests/postgres.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?usage: Tests/postgres.sh PROGRAM}")
page=$PWD/man/glucoport-postgresql.7
if [ -z "${GLUCOPORT_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] || { echo "postgres: run this as root" >&2; exit 69; }
  Tests/install-packages.sh postgresql-15 libpq5 pgbouncer pgbackrest patroni etcd-server python3-etcd openssl curl iproute2
  exec env GLUCOPORT_INSIDE=1 unshare --mount --net --pid --fork --mount-proc --uts "$0" "$program"
fi

work=$(mktemp -d /var/tmp/gp-page-XXXXXX)
chmod 755 "$work"
mkdir "$work/bin"
cp "$program" "$work/bin/glucoport"
log=$work/log
fail() { echo "postgres: $*" >&2; tail -15 "$log" >&2; exit 1; }
# All started processes end with the first process of this namespace, so only the folder must be removed.
trap 'cd /; rm -rf "$work" 2>/dev/null || true' EXIT

# Empty folders are mounted over those of the machine, which are not changed.
mount --make-rprivate /
mount -t tmpfs -o mode=1777 tmpfs /tmp
for folder in /etc/postgresql /etc/patroni /etc/pgbouncer /etc/glucoport /var/lib/postgresql /var/lib/pgbackrest \
  /var/log/postgresql /var/log/pgbackrest /var/spool/pgbackrest /run/postgresql; do
  mkdir -p "$folder" 2>/dev/null || true
  mount -t tmpfs -o mode=755 tmpfs "$folder"
  chown postgres:postgres "$folder"
done
# A copy of pgbackrest.conf is mounted over the original, so the original must exist. Commands then write
# only to the copy.
[ -e /etc/pgbackrest.conf ] || touch /etc/pgbackrest.conf
cp -p /etc/pgbackrest.conf "$work/pgbackrest.conf"
mount --bind "$work/pgbackrest.conf" /etc/pgbackrest.conf
printf '127.0.0.1 localhost\n127.0.0.1 db\n127.0.0.2 db1\n127.0.0.3 db2\n127.0.0.4 etcd1\n127.0.0.5 etcd2\n127.0.0.6 etcd3\n' >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
ip link set lo up
export LC_ALL=C.UTF-8 GLUCOPORT_TIMEZONE=UTC HOME=$work
export PATH=$work/bin:/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin
password=secret-of-this-test
# The empty /tmp may hide the caller's folder for temporary files, so TMPDIR is unset, too.
unset PGHOST PGUSER PGDATABASE PGPORT TMPDIR

# Replacements for commands that do not work in a namespace: sudo, and systemctl.
cat >"$work/bin/sudo" <<'SUDO'
#!/bin/sh
user=root
[ "$1" != -u ] || { user=$2; shift 2; cd /; }
exec setpriv --reuid="$user" --regid="$user" --init-groups \
  env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME=/var/lib/postgresql "$@"
SUDO
cat >"$work/bin/systemctl" <<SYSTEMCTL
#!/bin/bash
case "\$*" in
"stop glucoport-server.service" | "start glucoport-server.service")
  touch "$work/\$1"
  for attempt in \$(seq 600); do [ -e "$work/\$1" ] || exit 0; sleep 0.05; done
  exit 1 ;;
"restart pgbouncer.service")
  setpriv --reuid=postgres --regid=postgres --init-groups pgbouncer -d /etc/pgbouncer/pgbouncer.ini ;;
*) echo "no service for: \$*" >&2; exit 1 ;;
esac
SYSTEMCTL
chmod 755 "$work"/bin/*

# wait_for TEXT COMMAND…: waits until the command prints this text.
wait_for() {
  local text=$1 attempt
  shift
  for ((attempt = SECONDS + 90; SECONDS < attempt; )); do
    [ "$("$@" 2>/dev/null)" != "$text" ] || return 0
    sleep 0.2
  done
  fail "'$text' does not come from: $*"
}
sql() { sudo -u postgres psql -XAt -d "${2:-postgres}" -c "$1"; }
onstandby() { sudo -u postgres psql -XAt -h /run/postgresql/standby -c "$1"; }

# db_is ADDRESS: makes the name db lead to this address, as a balancer does.
db_is() { sed "s/^.* db\$/$1 db/" "$work/hosts" >"$work/changed" && cat "$work/changed" >"$work/hosts"; }

# Writes the blocks of the page to files with the names SECTION.NUMBER.
mkdir "$work/blocks"
awk -v folder="$work/blocks" '
  /^\.Ss / { section = substr($0, 5); gsub(/[ ,]/, "-", section); number = 0 }
  /^\.Ed/ { inside = 0 }
  inside { gsub(/\\e/, "\\"); print > file }
  /^\.Bd -literal/ { number++; inside = 1; file = folder "/" section "." number }' "$page"
# block NAME: prints the path of a block, and marks the block as used.
block() {
  [ -f "$work/blocks/$1" ] || fail "the page has no block $1"
  touch "$work/blocks/$1.used"
  echo "$work/blocks/$1"
}
# run NAME [INPUT]: runs the commands of a block, one after the other.
run() {
  local line
  echo "-- $1"
  while IFS= read -r line; do
    case $line in
    '$ export '*) eval "${line#'$ '}" ;;
    '$ '*)
      printf '+ %s\n' "${line#'$ '}" >>"$log"
      printf '%s' "${2:-}" | (cd "$work" && moment=${moment:-} bash -euo pipefail -c "${line#'$ '}") >>"$log" 2>&1 ||
        fail "failed: $line" ;;
    *) fail "$1 has a line that is no command: $line" ;;
    esac
  done <"$(block "$1")"
}
# install_file NAME: writes the file of a block to the path in its first line, with the password of this test.
install_file() {
  local file path
  file=$(block "$1")
  path=$(sed -n '1s/^# //p' "$file")
  [ -n "$path" ] || fail "$1 names no path"
  mkdir -p "$(dirname "$path")"
  sed "s/PASSWORD/$password/" "$file" >"$path"
  echo "-- $1: $path"
}

# Starts the server as the systemd drop-in of the page states.
server=''
start_server() {
  local drop=/etc/systemd/system/glucoport-server.service.d/database.conf command
  command=$(sed -n 's#^ExecStart=/usr/bin/glucoport ##p' "$(block A-systemd-unit.1)")
  grep -q "^# $drop" "$(block A-systemd-unit.1)" || fail "the drop-in has another path"
  # shellcheck disable=SC2046 # words of the unit
  (export $(sed -n 's/^Environment=//p' "$(block A-systemd-unit.1)")
    SERVE_OPTIONS=
    exec glucoport ${command//'$SERVE_OPTIONS'/}) >"$work/server.out" 2>>"$work/server.log" & server=$!
  until grep -q listening "$work/server.out"; do kill -0 "$server" || fail "no server: $(cat "$work/server.log")"; sleep 0.05; done
}
stop_server() { [ -z "$server" ] || { kill -TERM "$server"; wait "$server" || fail "the server ended with $?"; server=''; }; }
# manage: acts as the service manager. It starts and stops the server when the replaced systemctl requests
# it. One process does both, since only the parent of the server can wait for its end.
manage() {
  local request
  while sleep 0.05; do
    for request in stop start; do
      if [ -e "$work/$request" ]; then "${request}_server"; rm "$work/$request"; fi
    done
    [ ! -e "$work/end" ] || { stop_server; return; }
  done
}
manage & manager=$!

# client NAME NUMBER: adds this number of rows to a store and sends them. The server must answer within a
# minute.
rows=0
client() {
  local attempt
  for attempt in $(seq "$2"); do
    rows=$((rows + 1))
    printf '%s,%s\n' "$(date -u -d "2026-01-01 $((rows * 5)) minutes" +%FT%T)" $((80 + rows % 100)) >>"$work/rows"
  done
  (echo 'time,glucose (mg/dL)'; cat "$work/rows") >"$work/rows.csv"
  glucoport import "$work/rows.csv" --store "$work/$1.db" --quiet
  for attempt in $(seq 120); do
    if glucoport upload --now --quiet --store "$work/$1.db" 2>>"$log"; then return; fi
    sleep 0.5
  done
  fail "the client cannot send"
}
# compare WHAT: fails unless both stores have the same data as the server.
compare() {
  local store
  client anna 3
  for store in anna other; do
    glucoport upload --now --quiet --store "$work/$store.db" || fail "$1: upload of $store"
    glucoport verify --store "$work/$store.db" >"$work/verified" 2>&1 || fail "$1: $store differs: $(cat "$work/verified")"
    [ "$(glucoport list --limit 100000 --store "$work/$store.db" | wc -l)" -eq "$rows" ] || fail "$1: $store lacks readings"
  done
  echo "ok: $1 ($rows readings)"
}

echo "== a database with TLS, roles and tables"
pg_createcluster 15 main >>"$log"
run TLS-to-the-database.1
install_file TLS-to-the-database.2
# By the page, these lines precede those in the file. Here they replace the file.
install_file TLS-to-the-database.3
chown postgres /etc/postgresql/15/main/pg_hba.conf
pg_ctlcluster 15 main start
export PGPASSFILE=$work/pgpass
printf '*:*:*:*:%s\n' "$password" >"$PGPASSFILE"
chmod 600 "$PGPASSFILE"
export PGSSLMODE=verify-full PGSSLROOTCERT=/etc/glucoport/ca.pem
run Roles.1 "$password
$password
"
install_file Addresses-and-passwords.1
chmod 600 /etc/glucoport/pgpass
run TLS-to-the-database.4
systemctl start glucoport-server.service || fail "no server: $(cat "$work/server.log")"
(umask 077; glucoport serve token add other --role write --logbook anna --database postgresql://glucoport_server@db/glucoport >"$work/token")
run Addresses-and-passwords.2
for store in anna other; do
  glucoport remote set http://127.0.0.1:8077 --token-file "$work/token" --store "$work/$store.db" >>"$log"
done
client anna 300
compare "a server with TLS to its database"
if PGSSLMODE=disable psql -XAtc 'SELECT 1' 'postgresql://glucoport_server@db/glucoport' >/dev/null 2>&1; then
  fail "the database accepts connections without TLS"
fi
if PGSSLROOTCERT=/etc/ssl/certs/ca-certificates.crt glucoport serve database check \
  --database postgresql://glucoport_server@db/glucoport 2>/dev/null; then fail "an unknown authority is accepted"; fi

echo "== monitoring"
run Monitoring.1
run Monitoring.2
curl -sS http://127.0.0.1:8077/metrics >"$work/metrics"
grep -q '^glucoport_database_standbys{cluster="default"} 0$' "$work/metrics" || fail "no standbys in the metrics"
# The page must describe exactly the metrics of the server, except for the replication lag, which needs a
# standby.
sed -n 's/^glucoport_database_\([a-z_]*\).*/\1/p' "$work/metrics" | sed 's/_\(sum\|count\)$//' | sort -u >"$work/found"
sed -n 's/^\.It Va glucoport_database_//p' "$page" | tr -d ',' | sed 's/ Va glucoport_database_/\n/' | grep -v '^replication_lag' |
  sort -u >"$work/described"
diff "$work/described" "$work/found" || fail "the page describes other figures"

echo "== pgbouncer in the mode of transactions"
install_file Several-servers.1
run Several-servers.2
pooled='postgresql://glucoport_server@db:6432/glucoport'
glucoport serve --database "$pooled" --listen 127.0.0.1:8078 >"$work/pooled.out" 2>"$work/pooled.log" & pooling=$!
until grep -q listening "$work/pooled.out"; do kill -0 "$pooling" || fail "$(cat "$work/pooled.log")"; sleep 0.05; done
glucoport remote set http://127.0.0.1:8078 --token-file "$work/token" --store "$work/anna.db" >>"$log"
for attempt in $(seq 5); do client anna 20; done
compare "one client through pgbouncer, one without"
glucoport remote set http://127.0.0.1:8077 --token-file "$work/token" --store "$work/anna.db" >>"$log"
kill -TERM "$pooling"; wait "$pooling" || fail "the server with a pooler ended with $?"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'glucoport_server'" >>"$log"
kill -TERM "$(cat /run/postgresql/pgbouncer.pid)"

echo "== a dump"
install -d -m 755 -o postgres "$work/backup"
sed -i "s#/backup/#$work/backup/#" "$work"/blocks/Backups.*
run Backups.1
client anna 10
run Backups.2
compare "a dump that is older than the client"

echo "== pgbackrest"
install_file Backups-with-pgbackrest.1
install_file Backups-with-pgbackrest.2
run Backups-with-pgbackrest.3
run Backups-with-pgbackrest.4
client anna 10
run Backups-with-pgbackrest.5
compare "the latest state from pgbackrest"
run Backups-with-pgbackrest.4
client anna 10
sleep 1
moment=$(date -u '+%F %T.%6N+00')
sleep 1
client anna 10
systemctl stop glucoport-server.service
pg_ctlcluster 15 main stop
run Backups-with-pgbackrest.6
pg_ctlcluster 15 main start
wait_for f sql 'SELECT pg_is_in_recovery()'
lost=$((rows - $(sql 'SELECT count(*) FROM glucoport.reading' glucoport)))
[ "$lost" -eq 10 ] || fail "$lost readings are missing at that moment instead of 10"
systemctl start glucoport-server.service
compare "an earlier moment from pgbackrest, without 10 readings of the client"

echo "== a copied data folder, which keeps the timeline"
systemctl stop glucoport-server.service
pg_ctlcluster 15 main stop
cp -a /var/lib/postgresql/15/main /var/lib/postgresql/15/copy
pg_ctlcluster 15 main start
systemctl start glucoport-server.service
client anna 10
systemctl stop glucoport-server.service
pg_ctlcluster 15 main stop
rm -r /var/lib/postgresql/15/main
mv /var/lib/postgresql/15/copy /var/lib/postgresql/15/main
pg_ctlcluster 15 main start
systemctl start glucoport-server.service
compare "a copied data folder, without 10 readings of the client"

echo "== a standby that lags and is promoted"
standby=/var/lib/postgresql/15/standby
sudo -u postgres mkdir -p /run/postgresql/standby
echo 'local replication postgres peer' | cat - /etc/postgresql/15/main/pg_hba.conf >"$work/hba"
cat "$work/hba" >/etc/postgresql/15/main/pg_hba.conf
pg_ctlcluster 15 main reload
sudo -u postgres pg_basebackup -d 'host=/run/postgresql application_name=db2' -D "$standby" -R -X stream >>"$log" 2>&1
for file in pg_hba.conf pg_ident.conf; do sudo -u postgres cp "/etc/postgresql/15/main/$file" "$standby/"; done
(cat /etc/postgresql/15/main/conf.d/glucoport.conf; echo "listen_addresses = 'db2'"
  echo "unix_socket_directories = '/run/postgresql/standby'") >"$standby/postgresql.conf"
chown postgres "$standby/postgresql.conf"
# These settings of pgbackrest would end the recovery of the standby at the earlier moment.
sed -i '/^recovery_target/d; /^restore_command/d' "$standby/postgresql.auto.conf"
# The primary must not listen on the address of the standby.
sed -i "s/^listen_addresses.*/listen_addresses = '127.0.0.1'/" /etc/postgresql/15/main/conf.d/glucoport.conf
pg_ctlcluster 15 main restart
metric() { curl -sS http://127.0.0.1:8077/metrics | sed -n "s/^glucoport_database_$1{cluster=\"default\"} //p"; }
sudo -u postgres pg_ctl -D "$standby" -l /var/log/postgresql/standby.log -w start >>"$log"
wait_for streaming onstandby 'SELECT status FROM pg_stat_wal_receiver'
install_file Failover-and-restored-databases.1
pg_ctlcluster 15 main reload
wait_for quorum sql 'SELECT sync_state FROM pg_stat_replication'
client anna 5
[ "$(metric standbys)" = 1 ] || fail "the standby is not counted"
rm /etc/postgresql/15/main/conf.d/synchronous.conf
pg_ctlcluster 15 main reload
onstandby 'SELECT pg_wal_replay_pause()' >>"$log"
wait_for paused onstandby 'SELECT pg_get_wal_replay_pause_state()'
client anna 5
[ "$(metric replication_lag_bytes)" -gt 0 ] || fail "no lag is reported"
echo "the lag of the paused standby: $(metric replication_lag_bytes) bytes"
# From here on, acknowledged data does not reach the standby.
onstandby "ALTER SYSTEM SET primary_conninfo = ''" >>"$log"
onstandby 'SELECT pg_reload_conf()' >>"$log"
sql 'SELECT pg_terminate_backend(pid) FROM pg_stat_replication' >>"$log"
wait_for 0 sql 'SELECT count(*) FROM pg_stat_replication'
client anna 10
kill -QUIT "$(head -1 /var/lib/postgresql/15/main/postmaster.pid)"
onstandby 'SELECT pg_promote(true, 60)' >>"$log"
held=$(sudo -u postgres psql -XAtd glucoport -h /run/postgresql/standby -c 'SELECT count(*) FROM glucoport.reading')
[ "$held" -eq $((rows - 10)) ] || fail "the promoted standby has $held of $rows readings instead of 10 fewer"
db_is 127.0.0.3
compare "a promoted standby that lagged"
sudo -u postgres pg_ctl -D "$standby" -m fast stop >>"$log"
db_is 127.0.0.1
pg_ctlcluster 15 main start
compare "the former primary, which is behind its clients"

echo "== an upgrade"
run Upgrades.1
compare "an upgrade"

echo "== moving to a folder and to Patroni"
systemctl stop glucoport-server.service
sed -i "s#/var/lib/glucoport-new#$work/folder#; s#/var/lib/glucoport#$work/folder#" "$work"/blocks/Moving-*
run Moving-a-folder-to-a-database--and-back.2
pg_ctlcluster 15 main stop
etcd --name etcd1 --data-dir "$work/etcd" --listen-client-urls http://127.0.0.4:2379 --advertise-client-urls http://etcd1:2379 \
  --listen-peer-urls http://127.0.0.4:2380 --initial-advertise-peer-urls http://etcd1:2380 \
  --initial-cluster etcd1=http://etcd1:2380 >"$work/etcd.log" 2>&1 &
for node in db1 db2; do
  install -d -m 700 -o postgres "/etc/patroni/$node"
  install -m 644 "$work/db.pem" /etc/patroni/server.pem
  install -m 600 -o postgres "$work/db.key" /etc/patroni/server.key
done
install_file Failover-with-Patroni.1
# The second database on the same machine needs other folders. Only one of the three etcd servers runs.
sed -i 's/hosts: etcd1.*/hosts: etcd1:2379/' /etc/patroni/glucoport.yml
sed "s/db1/db2/; s#15/glucoport#15/second#; s#directories: /run/postgresql#&/second#; s#patroni.pgpass#second.pgpass#" \
  /etc/patroni/glucoport.yml >/etc/patroni/second.yml
chown postgres /etc/patroni/*.yml
sudo -u postgres mkdir -p /run/postgresql/second
start_patroni() { sudo -u postgres patroni "/etc/patroni/$1.yml" >>"$log" 2>&1 & eval "patroni_$1=$!"; }
running() { timeout 10 patronictl -c /etc/patroni/glucoport.yml list -f json 2>/dev/null | tr -d '\n' | grep -oE '\{[^}]*\}' | grep -cE "$1" || true; }
start_patroni glucoport
wait_for 1 running '"Role": "Leader".*"State": "running"'
db_is 127.0.0.2
run Roles.1 "$password
$password
"
sed -i 's#@db/#@db1,db2/#' "$work"/blocks/A-systemd-unit.1
run Moving-a-folder-to-a-database--and-back.1
start_patroni second
wait_for 1 running 'Sync Standby'
run Failover-with-Patroni.2
systemctl start glucoport-server.service
compare "a database of Patroni with a synchronous standby"
client anna 20
echo "killing the primary"
began=$SECONDS
kill -KILL "$patroni_glucoport" "$(head -1 /var/lib/postgresql/15/glucoport/postmaster.pid)"
client anna 1
echo "the client could send again after $((SECONDS - began)) s"
held=$(sudo -u postgres psql -XAtd glucoport -h /run/postgresql/second -c 'SELECT count(*) FROM glucoport.reading')
[ "$held" -eq "$rows" ] || fail "of $rows acknowledged readings, $held are left"
compare "a primary of Patroni that was killed"
start_patroni glucoport
wait_for 1 running 'Sync Standby'
run Failover-with-Patroni.3
compare "a switchover back"

touch "$work/end"
wait "$manager"
# Tests/ProgramRemoteTests/DatabaseMoveTests.swift runs the following blocks with two databases in each check.
block Several-clusters.1 >/dev/null
block Moving-a-logbook.1 >/dev/null
block Clusters-from-backups.1 >/dev/null
for file in "$work"/blocks/*; do
  case $file in *.used) ;; *) [ -e "$file.used" ] || fail "not run: $(basename "$file")" ;; esac
done
echo "passed"
