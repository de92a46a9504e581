// SPDX-License-Identifier: Apache-2.0
// The C program with which import.sh compares glucoport's import. It reads the generic CSV of generate.py
// with its own parser, and does not check the input. Its table has the columns, keys, checks and page size of
// a store. Each statement inserts a hundred rows.
//   c-peer INPUT STORE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 100, PARAMETERS = 14, BATCH = 50000 };

static const char *const TABLES =
    "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096;"
    "CREATE TABLE reading (partition INTEGER NOT NULL, position INTEGER NOT NULL, series INTEGER NOT NULL,"
    " value_bucket INTEGER NOT NULL, occurrence INTEGER NOT NULL, device_time INTEGER NOT NULL,"
    " utc_offset INTEGER NOT NULL, offset_source INTEGER NOT NULL, value REAL, unit INTEGER NOT NULL,"
    " range_flag INTEGER NOT NULL, threshold REAL, marks INTEGER NOT NULL, ingest INTEGER NOT NULL,"
    " uploaded INTEGER NOT NULL DEFAULT 0,"
    " CHECK (occurrence >= 0 AND utc_offset > -86400 AND utc_offset < 86400 AND offset_source >= 0"
    " AND offset_source <= 4 AND unit >= 0 AND unit <= 1 AND range_flag >= 0 AND range_flag <= 2 AND uploaded >= 0"
    " AND uploaded <= 1 AND (value IS NULL) = (range_flag <> 0)),"
    " PRIMARY KEY (partition, position, series, value_bucket, occurrence)) STRICT, WITHOUT ROWID;";

static sqlite3 *store;
static char devices[16][32];
static int device_count;

static void fail(const char *what) {
  fprintf(stderr, "c-peer: %s: %s\n", what, store ? sqlite3_errmsg(store) : "");
  exit(1);
}

static void run(const char *sql) {
  if (sqlite3_exec(store, sql, 0, 0, 0) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt *prepare(int rows) {
  char *sql = malloc(100 + rows * (PARAMETERS * 3 + 3)), *end = sql;
  end += sprintf(end, "INSERT OR IGNORE INTO reading VALUES ");
  for (int row = 0; row < rows; row++) {
    end += sprintf(end, row ? ",(" : "(");
    for (int column = 0; column < PARAMETERS; column++) end += sprintf(end, "?,");
    end += sprintf(end, "0)");
  }
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(store, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, 0) != SQLITE_OK) fail("prepare");
  free(sql);
  return statement;
}

static int two(const char *text) { return (text[0] - '0') * 10 + text[1] - '0'; }

static long long days(int year, int month, int day) {
  year -= month <= 2;
  int era = year / 400, of_era = year - era * 400;
  int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097LL + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int series(const char *name, size_t length) {
  for (int i = 0; i < device_count; i++)
    if (!strncmp(devices[i], name, length) && !devices[i][length]) return i + 1;
  if (device_count == 16 || length > 31) fail("too many devices");
  memcpy(devices[device_count], name, length);
  return ++device_count;
}

/// Binds one line such as "2010-01-01T00:00:00+01:00,120,mg/dL,alpha,0". Returns the start of the next line.
static const char *bind_line(sqlite3_stmt *statement, int first, const char *p, const char *end) {
  long long time = days(two(p) * 100 + two(p + 2), two(p + 5), two(p + 8)) * 86400 + two(p + 11) * 3600 +
                   two(p + 14) * 60 + two(p + 17);
  int offset = (two(p + 20) * 60 + two(p + 23)) * (p[19] == '-' ? -60 : 60), value = 0;
  for (p += 26; *p != ','; p++) value = value * 10 + *p - '0';
  const char *unit = p + 1, *device = memchr(unit, ',', end - unit) + 1, *stop = memchr(device, ',', end - device);
  sqlite3_bind_int(statement, first, 1);
  sqlite3_bind_int64(statement, first + 1, time);
  sqlite3_bind_int(statement, first + 2, series(device, stop - device));
  sqlite3_bind_int(statement, first + 3, (int)(value / 1.801559 + 0.5));
  sqlite3_bind_int(statement, first + 4, 0);
  sqlite3_bind_int64(statement, first + 5, time);
  sqlite3_bind_int(statement, first + 6, offset);
  sqlite3_bind_int(statement, first + 7, 0);
  sqlite3_bind_double(statement, first + 8, value);
  sqlite3_bind_int(statement, first + 9, *unit == 'm' && unit[1] == 'm');
  sqlite3_bind_int(statement, first + 10, 0);
  sqlite3_bind_null(statement, first + 11);
  sqlite3_bind_int(statement, first + 12, 0);
  sqlite3_bind_int(statement, first + 13, 1);
  return (const char *)memchr(stop, '\n', end - stop) + 1;
}

static void step(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("insert");
  sqlite3_reset(statement);
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: c-peer INPUT STORE");
  int file = open(arguments[1], O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) fail(arguments[1]);
  const char *text = mmap(0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (text == MAP_FAILED) fail(arguments[1]);
  const char *end = text + status.st_size, *line = (const char *)memchr(text, '\n', status.st_size) + 1;
  if (sqlite3_open(arguments[2], &store) != SQLITE_OK) fail(arguments[2]);
  run(TABLES);
  sqlite3_stmt *many = prepare(ROWS), *one = prepare(1);
  while (line < end) {
    run("BEGIN IMMEDIATE");
    for (int row = 0; row < BATCH && line < end; row += ROWS) {
      const char *start = line;
      int bound = 0;
      for (; bound < ROWS && line < end; bound++) line = bind_line(many, 1 + bound * PARAMETERS, line, end);
      if (bound == ROWS) {
        step(many);
        continue;
      }
      for (line = start; line < end;) {
        line = bind_line(one, 1, line, end);
        step(one);
      }
    }
    run("COMMIT");
  }
  sqlite3_finalize(many);
  sqlite3_finalize(one);
  return sqlite3_close(store) == SQLITE_OK ? 0 : 1;
}
