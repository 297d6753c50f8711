/**
 * The world `tool` in C. While the host is asked, a line of work is in progress in locals, on the stack and on the
 * heap: whoever stops a guest there and goes on elsewhere must bring all three.
 */
#include "../abi/canonical.h"

IMPORT("$root", "host-call")
extern void host_call(const char *name, size_t name_length, const char *arguments, size_t arguments_length,
                      text_result_t *result);

static struct {
  uint32_t calls, bytes;
} totals_result;

static text_result_t run_result;

static size_t line_length(const char *text, size_t length) {
  size_t end = 0;
  while (end < length && text[end] != '\n') end++;
  return end;
}

/** Appends to a text on the heap. */
static void append(text_t *text, const char *data, size_t length) {
  text->data = realloc(text->data, text->length + length + 1);
  if (text->data == NULL) __builtin_trap();
  memcpy(text->data + text->length, data, length);
  text->length += length;
}

/** Asks for one line, and appends the answer. @return whether it was granted; if not, `answers` is the refusal */
static bool ask(const char *line, size_t length, text_t *answers) {
  text_t arguments = {NULL, 0};
  append(&arguments, "{\"line\":\"", 9);
  append(&arguments, line, length);
  append(&arguments, "\"}", 2);
  text_result_t answer;
  host_call("echo", 4, arguments.data, arguments.length, &answer);
  free(arguments.data);
  if (answer.is_err) {
    free(answers->data);
    *answers = answer.text;
    return false;
  }
  append(answers, answer.text.data, answer.text.length);
  if (answer.text.length > 0) free(answer.text.data);
  return true;
}

EXPORT("run")
text_result_t *run(char *input, size_t length) {
  text_t answers = {NULL, 0};
  bool granted = true;
  for (size_t at = 0; at <= length && granted;) {
    size_t end = line_length(input + at, length - at);
    if (at > 0) append(&answers, "\n", 1);
    granted = ask(input + at, end, &answers);
    at += end + 1;
  }
  if (length > 0) free(input);
  run_result = (text_result_t){!granted, answers};
  if (granted) {
    totals_result.calls++;
    totals_result.bytes += answers.length;
  }
  return &run_result;
}

EXPORT("cabi_post_run")
void free_run(text_result_t *result) {
  if (result->text.length > 0) free(result->text.data);
}

EXPORT("totals") void *totals(void) { return &totals_result; }
