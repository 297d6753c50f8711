/* Runs the SQL of standard input: `sqlite [-readonly] FILE`. Each row is printed as a JSON array in a line of its own. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_text(const unsigned char *text, int length) {
  putchar('"');
  for (int i = 0; i < length; i += 1) {
    unsigned char c = text[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c < 0x20) printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}

static void print_value(sqlite3_stmt *statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL: printf("null"); return;
    case SQLITE_INTEGER: printf("%lld", (long long)sqlite3_column_int64(statement, at)); return;
    case SQLITE_FLOAT: printf("%.17g", sqlite3_column_double(statement, at)); return;
    default: print_text(sqlite3_column_text(statement, at), sqlite3_column_bytes(statement, at));
  }
}

static char *read_all(FILE *file) {
  size_t length = 0, room = 4096;
  char *text = malloc(room);
  while (text != NULL) {
    size_t got = fread(text + length, 1, room - length - 1, file);
    if (got == 0) break;
    length += got;
    if (length + 1 == room) text = realloc(text, room *= 2);
  }
  if (text != NULL) text[length] = 0;
  return text;
}

static int fail(sqlite3 *database, const char *what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  return 1;
}

int main(int argc, char **argv) {
  sqlite3 *database = NULL;
  int is_read_only = argc > 2 && strcmp(argv[1], "-readonly") == 0;
  const char *path = argc > 1 ? argv[argc - 1] : ":memory:";
  /* SQLite for WASI locks a database by a directory beside it, which cannot be made where nothing may be written. */
  int flags = is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path, &database, flags, is_read_only ? "unix-none" : NULL) != SQLITE_OK)
    return fail(database, path);
  char *sql = read_all(stdin);
  if (sql == NULL) return fail(database, "no memory");
  for (const char *rest = sql; *rest != 0;) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, rest, -1, &statement, &rest) != SQLITE_OK) return fail(database, "SQL");
    if (statement == NULL) continue;
    int state;
    while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
      putchar('[');
      for (int i = 0; i < sqlite3_column_count(statement); i += 1) {
        if (i > 0) putchar(',');
        print_value(statement, i);
      }
      printf("]\n");
    }
    if (sqlite3_finalize(statement) != SQLITE_OK) return fail(database, "SQL");
  }
  free(sql);
  return sqlite3_close(database) == SQLITE_OK ? 0 : fail(database, path);
}
