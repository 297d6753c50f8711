/** The world `hostile` in C. */
#include "../abi/canonical.h"

IMPORT("$root", "host-call")
extern void host_call(const char *name, size_t name_length, const char *arguments, size_t arguments_length,
                      text_result_t *result);

/** As in guest/wit/hostile.wit. */
enum attack {
  NONE,
  LOOP,
  RECURSION,
  FLOOD,
  TRAP,
  POINTER,
  LENGTH,
  WRAP,
  ENCODING,
  DISCRIMINANT,
  UNALIGNED,
  EDGE,
  LARGE,
  REALLOC_TRAP,
  REALLOC_BEYOND,
  REALLOC_LOOP,
  HOST_REALLOC_TRAP,
  HOST_POINTER,
  HOST_LOOP,
  POST_LOOP,
};

#define PAGE 65536
#define MEBIBYTE (1 << 20)

static volatile uint32_t sink;
static enum attack realloc_attack = NONE;
static bool post_loop = false;

static void loop(void) {
  for (;;) sink++;
}

static void *end_of_memory(void) { return (void *)(__builtin_wasm_memory_size(0) * PAGE); }

EXPORT("cabi_realloc")
void *cabi_realloc(void *old, size_t old_size, size_t align, size_t new_size) {
  (void)old_size;
  if (realloc_attack == REALLOC_TRAP) __builtin_trap();
  if (realloc_attack == REALLOC_BEYOND) return (char *)end_of_memory() + PAGE;
  if (realloc_attack == REALLOC_LOOP) loop();
  if (new_size == 0) return (void *)align;
  void *memory = realloc(old, new_size);
  if (memory == NULL) __builtin_trap();
  return memory;
}

/** Not a tail call: what the inner call left is used after it. */
static int recurse(int depth) {
  volatile char frame[64];
  frame[0] = (char)depth;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

/** @return how many MiB there were */
static uint32_t flood(void) {
  uint32_t count = 0;
  for (;; count++) {
    size_t old = __builtin_wasm_memory_grow(0, MEBIBYTE / PAGE);
    if (old == (size_t)-1) return count;
    for (size_t at = 0; at < MEBIBYTE; at += 4096) ((volatile char *)(old * PAGE))[at] = 1;
  }
}

static text_t number_text(uint32_t number) {
  char digits[11];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  return text_copy(digits + at, sizeof digits - at);
}

static text_t large_text(void) {
  text_t text = {malloc(MEBIBYTE), MEBIBYTE};
  if (text.data == NULL) __builtin_trap();
  memset(text.data, 'x', text.length);
  return text;
}

static text_t edge_text(void) {
  char *end = (char *)(__builtin_wasm_memory_grow(0, 1) * PAGE) + PAGE;
  memcpy(end - 4, "edge", 4);
  return (text_t){end - 4, 4};
}

static text_result_t results[2];

EXPORT("run")
text_result_t *run(uint32_t which, char *text, size_t length) {
  text_result_t *result = &results[0];
  *result = (text_result_t){0, {text, length}};
  switch ((enum attack)which) {
    case NONE: break;
    case LOOP: loop(); break;
    case RECURSION: result->text = number_text((uint32_t)recurse(1 << 30)); break;
    case FLOOD: result->text = number_text(flood()); break;
    case TRAP: __builtin_trap();
    case POINTER: result->text = (text_t){(char *)end_of_memory() + PAGE, 4}; break;
    case LENGTH: result->text = (text_t){(char *)end_of_memory() - 4, 5}; break;
    case WRAP: result->text = (text_t){(char *)16, (size_t)-8}; break;
    case ENCODING: result->text = text_copy("ok \xC3\x28 \xF0\x9F", 8); break;
    case DISCRIMINANT: result->is_err = 2; break;
    case UNALIGNED: result = (text_result_t *)((char *)result + 1); break;
    case EDGE: result->text = edge_text(); break;
    case LARGE: result->text = large_text(); break;
    case REALLOC_TRAP:
    case REALLOC_BEYOND:
    case REALLOC_LOOP: realloc_attack = (enum attack)which; break;
    case HOST_REALLOC_TRAP:
      realloc_attack = REALLOC_TRAP;
      host_call("echo", 4, text, length, result);
      break;
    case HOST_POINTER: host_call((char *)end_of_memory() + PAGE, 4, text, length, result); break;
    case HOST_LOOP:
      for (;;) {
        host_call("echo", 4, text, length, result);
        if (result->text.length > 0) free(result->text.data);
      }
    case POST_LOOP: post_loop = true; break;
  }
  return result;
}

/** Frees nothing: some of what was returned came from no allocator. */
EXPORT("cabi_post_run")
void after_run(text_result_t *result) {
  (void)result;
  if (post_loop) loop();
}
