/**
 * A WASI preview-1 command. The first argument says what it does:
 *
 *     args                      the arguments, one a line
 *     env                       the environment, one a line, in the order given
 *     upper                     standard input in capitals
 *     copy FROM TO              a file
 *     list PATH                 the names in a directory, one a line
 *     remove PATH               a file
 *     sleep MS                  waits, and says for how many milliseconds
 *     time                      the seconds of the wall clock
 *     random                    eight random bytes in hexadecimal
 *     exit CODE                 says so, and ends with the code
 *     abort                     a trap
 *     close-twice               closes standard output, closes it again, and says on standard error what came of it
 *     loop | recurse | flood    never ends | has no stack left | takes memory until there is none
 *
 * Exit codes: 0, 1 where something was refused (the reason is on standard error), 2 where it is not told what to do.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int refused(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

static int tell_lines(char **lines) {
  for (; *lines != NULL; lines++) puts(*lines);
  return 0;
}

static int upper(void) {
  for (int character; (character = getchar()) != EOF;) putchar(toupper(character));
  return ferror(stdin) ? refused("stdin") : 0;
}

static int copy(const char *from, const char *to) {
  char buffer[1024];
  FILE *source = fopen(from, "r");
  if (source == NULL) return refused(from);
  FILE *target = fopen(to, "w");
  if (target == NULL) return refused(to);
  for (size_t length; (length = fread(buffer, 1, sizeof buffer, source)) > 0;)
    if (fwrite(buffer, 1, length, target) != length) return refused(to);
  if (ferror(source)) return refused(from);
  return fclose(target) == 0 ? 0 : refused(to);
}

static int list(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return refused(path);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) puts(entry->d_name);
  return closedir(directory) == 0 ? 0 : refused(path);
}

static int wait_for(long milliseconds) {
  struct timespec wanted = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (nanosleep(&wanted, NULL) != 0) return refused("sleep");
  clock_gettime(CLOCK_MONOTONIC, &after);
  printf("%lld\n", (after.tv_sec - before.tv_sec) * 1000LL + (after.tv_nsec - before.tv_nsec) / 1000000);
  return 0;
}

static int draw(void) {
  unsigned char bytes[8];
  if (getentropy(bytes, sizeof bytes) != 0) return refused("random");
  for (size_t i = 0; i < sizeof bytes; i++) printf("%02x", bytes[i]);
  putchar('\n');
  return 0;
}

static int close_twice(void) {
  puts("before");
  fflush(stdout);
  int first = close(STDOUT_FILENO);
  int second = close(STDOUT_FILENO);
  fprintf(stderr, "first %d, second %d: %s\n", first, second, second == 0 ? "no error" : strerror(errno));
  return 0;
}

static volatile unsigned sink;

/** Not a tail call: what the inner call left is used after it. */
static int recurse(int depth) {
  volatile char frame[64];
  frame[0] = (char)depth;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

static int flood(void) {
  unsigned count = 0;
  for (char *memory; (memory = malloc(1 << 20)) != NULL; count++)
    for (size_t at = 0; at < 1 << 20; at += 4096) ((volatile char *)memory)[at] = 1;
  printf("%u MiB\n", count);
  return 0;
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "args") == 0) return tell_lines(arguments);
  if (strcmp(what, "env") == 0) return tell_lines(environ);
  if (strcmp(what, "upper") == 0) return upper();
  if (strcmp(what, "copy") == 0 && count == 4) return copy(arguments[2], arguments[3]);
  if (strcmp(what, "list") == 0 && count == 3) return list(arguments[2]);
  if (strcmp(what, "remove") == 0 && count == 3) return unlink(arguments[2]) == 0 ? 0 : refused(arguments[2]);
  if (strcmp(what, "sleep") == 0 && count == 3) return wait_for(strtol(arguments[2], NULL, 10));
  if (strcmp(what, "time") == 0) return printf("%lld\n", (long long)time(NULL)) < 0;
  if (strcmp(what, "random") == 0) return draw();
  if (strcmp(what, "exit") == 0 && count == 3) {
    printf("exiting with %s\n", arguments[2]);
    exit((int)strtol(arguments[2], NULL, 10));
  }
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "close-twice") == 0) return close_twice();
  if (strcmp(what, "loop") == 0)
    for (;;) sink++;
  if (strcmp(what, "recurse") == 0) return recurse(1 << 30);
  if (strcmp(what, "flood") == 0) return flood();
  fprintf(stderr, "no such action: %s\n", what);
  return 2;
}
