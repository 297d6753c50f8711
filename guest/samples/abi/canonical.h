/**
 * What every component in C needs of the canonical ABI, by hand: how strings, lists and results lie in memory, and
 * the allocator that the host calls. wit-bindgen would generate it; this is all of it that the samples use.
 * https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md
 *
 * 1. Values of up to 16 core values come as parameters, else as one pointer to memory that the guest then owns.
 * 2. A result of one core value is returned; any other is returned as a pointer to it, which stays valid until
 *    `cabi_post_NAME` was called.
 * 3. What the host hands in as strings and lists lies in memory from `cabi_realloc`, and is the guest's to free.
 */
#ifndef CANONICAL_H
#define CANONICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

/** `string`: bytes in UTF-8, without an end. A `list<u8>` lies in the same way. */
typedef struct {
  char *data;
  size_t length;
} text_t;

/** `result<string, string>`. */
typedef struct {
  uint8_t is_err;
  text_t text;
} text_result_t;

_Static_assert(offsetof(text_result_t, text) == 4, "a payload is aligned as its type");

/** A copy on the heap: whoever gets it frees it. */
static inline text_t text_copy(const char *data, size_t length) {
  text_t copy = {malloc(length + 1), length};
  if (copy.data == NULL) __builtin_trap();
  memcpy(copy.data, data, length);
  return copy;
}

static inline text_t text_of(const char *literal) { return text_copy(literal, strlen(literal)); }

static inline bool text_equals(text_t text, const char *literal) {
  return text.length == strlen(literal) && memcmp(text.data, literal, text.length) == 0;
}

#endif
