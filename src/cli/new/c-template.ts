/** A new component in C: the canonical ABI of one function by hand, no generator of bindings. */
import { type ComponentTemplate, wrapText } from './component-template.ts'

export const C_TEMPLATE: ComponentTemplate = {
  language: 'C',
  packages: { '@bytecodealliance/jco-transpile': '0.15.0' },
  system: 'apt-get install clang lld wasi-libc libclang-rt-dev-wasm32',
  source: 'component.c',
  sourceText: `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))

/** \`result<string, string>\`, as it lies in memory. */
typedef struct {
  uint8_t is_err;
  char *text;
  size_t length;
} result_t;

static result_t result;

/** The host allocates with this what it hands in. */
EXPORT("cabi_realloc")
void *cabi_realloc(void *old, size_t old_size, size_t align, size_t new_size) {
  (void)old_size;
  if (new_size == 0) return (void *)align;
  void *memory = realloc(old, new_size);
  if (memory == NULL) __builtin_trap();
  return memory;
}

/** \`input\` is ours to free; the answer is freed when the host has read it. */
EXPORT("run")
result_t *run(char *input, size_t length) {
  static const char greeting[] = "Hello, ";
  const size_t prefix = sizeof greeting - 1;
  result = (result_t){0, malloc(prefix + length), prefix + length};
  if (result.text == NULL) __builtin_trap();
  memcpy(result.text, greeting, prefix);
  memcpy(result.text + prefix, input, length);
  if (length > 0) free(input);
  return &result;
}

EXPORT("cabi_post_run") void after_run(result_t *read) { free(read->text); }
`,
  buildText: `import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { tellErrors } from './build-errors.mjs'

const flags = '--target=wasm32-wasi -std=gnu11 -Oz -Wall -Wextra -nostartfiles -Wl,--no-entry,--strip-all,--stack-first'

await tellErrors(async () => {
  execFileSync('clang', [...flags.split(' '), 'component.c', '-o', 'core.wasm'], { stdio: 'inherit' })
  const core = readFileSync('core.wasm')

${wrapText('')}})
`,
}
