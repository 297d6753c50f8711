/**
 * A WASI preview-1 reactor: `_initialize` once, then any of its exports as often as one likes. Texts go in and out
 * through memory that the caller asks for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))

static char greeting[32];
static uint32_t count;

/** Runs within `_initialize`, and reads the environment. */
__attribute__((constructor)) static void prepare(void) {
  const char *given = getenv("GREETING");
  snprintf(greeting, sizeof greeting, "%s", given == NULL ? "hello" : given);
}

EXPORT("allocate") void *allocate(size_t length) { return malloc(length); }
EXPORT("release") void release(void *memory) { free(memory); }
EXPORT("calls") uint32_t calls(void) { return count; }

/** Words of a text between blanks, tabs and newlines. */
EXPORT("count_words")
uint32_t count_words(const char *text, size_t length) {
  uint32_t words = 0;
  int inside = 0;
  for (size_t i = 0; i < length; i++) {
    int blank = strchr(" \t\n", text[i]) != NULL && text[i] != '\0';
    if (!blank && !inside) words++;
    inside = !blank;
  }
  count++;
  return words;
}

/** Prints to standard output. */
EXPORT("greet")
void greet(const char *name, size_t length) {
  printf("%s, %.*s\n", greeting, (int)length, name);
  fflush(stdout);
  count++;
}
