/**
 * The world `http` in C: requests through `wasi:http`, which it waits for in `wasi:io/poll`. While it waits, the answers
 * so far are on the heap, and which line it is at is on the stack.
 */
#include "../abi/canonical.h"

#define TYPES "wasi:http/types@0.2.0"
#define STREAMS "wasi:io/streams@0.2.0"
#define POLL "wasi:io/poll@0.2.0"

/** `result<own<T>>`, and of `result<_, E>` as much as is looked at. */
typedef struct {
  uint8_t is_err;
  int32_t handle;
} handle_result_t;

/** `result<own<T>, error-code>`: a payload of 32 bytes, aligned as the `u64` in it. */
typedef struct {
  uint8_t is_err;
  union {
    int32_t handle;
    uint8_t error;
    uint64_t room[4];
  } payload;
} code_result_t;

_Static_assert(offsetof(code_result_t, payload) == 8 && sizeof(code_result_t) == 40, "as the type lies in memory");

/** `option<result<result<own<incoming-response>, error-code>>>` */
typedef struct {
  uint8_t is_some;
  struct {
    uint8_t is_err;
    code_result_t result;
  } once __attribute__((aligned(8)));
} answer_t;

_Static_assert(offsetof(answer_t, once.result) == 16, "as the type lies in memory");

/** `result<list<u8>, stream-error>` */
typedef struct {
  uint8_t is_err;
  text_t data;
} read_result_t;

typedef struct {
  text_t *items;
  size_t length;
} texts_t;

/** `result<_, stream-error>`, `result<_, header-error>` */
typedef struct {
  uint8_t is_err;
  uint32_t room[3];
} done_t;

IMPORT(TYPES, "[constructor]fields") extern int32_t new_fields(void);
IMPORT(TYPES, "[method]fields.append")
extern void append_field(int32_t fields, const char *name, size_t name_length, const char *value, size_t length,
                         done_t *result);
IMPORT(TYPES, "[method]fields.get")
extern void get_field(int32_t fields, const char *name, size_t length, texts_t *result);
IMPORT(TYPES, "[resource-drop]fields") extern void drop_fields(int32_t fields);
IMPORT(TYPES, "[constructor]outgoing-request") extern int32_t new_request(int32_t headers);
IMPORT(TYPES, "[method]outgoing-request.set-method")
extern int32_t set_method(int32_t request, int32_t method, const char *other, size_t length);
IMPORT(TYPES, "[method]outgoing-request.set-scheme")
extern int32_t set_scheme(int32_t request, int32_t is_some, int32_t scheme, const char *other, size_t length);
IMPORT(TYPES, "[method]outgoing-request.set-authority")
extern int32_t set_authority(int32_t request, int32_t is_some, const char *authority, size_t length);
IMPORT(TYPES, "[method]outgoing-request.set-path-with-query")
extern int32_t set_path(int32_t request, int32_t is_some, const char *path, size_t length);
IMPORT(TYPES, "[method]outgoing-request.body") extern void request_body(int32_t request, handle_result_t *result);
IMPORT(TYPES, "[method]outgoing-body.write") extern void write_body(int32_t body, handle_result_t *result);
IMPORT(TYPES, "[static]outgoing-body.finish")
extern void finish_body(int32_t body, int32_t is_some, int32_t trailers, code_result_t *result);
IMPORT(TYPES, "[method]future-incoming-response.subscribe") extern int32_t subscribe(int32_t future);
IMPORT(TYPES, "[method]future-incoming-response.get") extern void get_answer(int32_t future, answer_t *result);
IMPORT(TYPES, "[resource-drop]future-incoming-response") extern void drop_future(int32_t future);
IMPORT(TYPES, "[method]incoming-response.status") extern int32_t response_status(int32_t response);
IMPORT(TYPES, "[method]incoming-response.headers") extern int32_t response_headers(int32_t response);
IMPORT(TYPES, "[method]incoming-response.consume") extern void consume(int32_t response, handle_result_t *result);
IMPORT(TYPES, "[resource-drop]incoming-response") extern void drop_response(int32_t response);
IMPORT(TYPES, "[method]incoming-body.stream") extern void body_stream(int32_t body, handle_result_t *result);
IMPORT(TYPES, "[resource-drop]incoming-body") extern void drop_incoming_body(int32_t body);
IMPORT(STREAMS, "[method]input-stream.blocking-read")
extern void blocking_read(int32_t stream, uint64_t length, read_result_t *result);
IMPORT(STREAMS, "[resource-drop]input-stream") extern void drop_input(int32_t stream);
IMPORT(STREAMS, "[method]output-stream.blocking-write-and-flush")
extern void blocking_write(int32_t stream, const char *data, size_t length, done_t *result);
IMPORT(STREAMS, "[resource-drop]output-stream") extern void drop_output(int32_t stream);
IMPORT(POLL, "[method]pollable.block") extern void block(int32_t pollable);
IMPORT(POLL, "poll") extern void poll_all(const int32_t *pollables, size_t length, text_t *ready);
IMPORT(POLL, "[resource-drop]pollable") extern void drop_pollable(int32_t pollable);
IMPORT("wasi:http/outgoing-handler@0.2.0", "handle")
extern void handle(int32_t request, int32_t is_some, int32_t options, code_result_t *result);

static const char *const METHODS[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};

static text_result_t ask_result;

/** Appends to a text on the heap. */
static void append(text_t *text, const char *data, size_t length) {
  text->data = realloc(text->data, text->length + length + 1);
  if (text->data == NULL) __builtin_trap();
  memcpy(text->data + text->length, data, length);
  text->length += length;
}

/** A number below 1000, without what `printf` would want of WASI. */
static void append_number(text_t *text, int number) {
  char digits[3] = {(char)('0' + number / 100 % 10), (char)('0' + number / 10 % 10), (char)('0' + number % 10)};
  int skip = number < 10 ? 2 : number < 100 ? 1 : 0;
  append(text, digits + skip, (size_t)(3 - skip));
}

static text_t refusal(const char *what, int code) {
  text_t line = {NULL, 0};
  append(&line, what, strlen(what));
  append_number(&line, code);
  return line;
}

static int32_t method_of(text_t name) {
  for (int32_t at = 0; at < 9; at++)
    if (text_equals(name, METHODS[at])) return at;
  return 9;
}

/** @return the future, or -1 with the error's place in `error` */
static int32_t send(text_t method, text_t authority, const char *path, size_t length, text_t body, int *error) {
  int32_t fields = new_fields();
  done_t done;
  append_field(fields, "x-asked-by", 10, "a component", 11, &done);
  int32_t request = new_request(fields);
  handle_result_t outgoing;
  bool is_set = !set_method(request, method_of(method), method.data, method.length) &&
                !set_scheme(request, 1, 0, NULL, 0) && !set_authority(request, 1, authority.data, authority.length) &&
                !set_path(request, 1, path, length);
  if (!is_set) __builtin_trap();
  if (body.length > 0) {
    request_body(request, &outgoing);
    if (outgoing.is_err) __builtin_trap();
  }
  code_result_t sent;
  handle(request, 0, 0, &sent);
  if (sent.is_err) {
    *error = sent.payload.error;
    return -1;
  }
  if (body.length > 0) {
    handle_result_t stream;
    write_body(outgoing.handle, &stream);
    if (stream.is_err) __builtin_trap();
    blocking_write(stream.handle, body.data, body.length, &done);
    drop_output(stream.handle);
    code_result_t finished;
    finish_body(outgoing.handle, 0, 0, &finished);
    if (finished.is_err) {
      *error = finished.payload.error;
      drop_future(sent.payload.handle);
      return -1;
    }
  }
  return sent.payload.handle;
}

/** Appends status, content type and body. */
static void read_response(int32_t response, text_t *answers) {
  append_number(answers, response_status(response));
  append(answers, " ", 1);
  int32_t headers = response_headers(response);
  texts_t types;
  get_field(headers, "content-type", 12, &types);
  if (types.length > 0) append(answers, types.items[0].data, types.items[0].length);
  drop_fields(headers);
  append(answers, " ", 1);
  handle_result_t body, stream;
  consume(response, &body);
  if (body.is_err) __builtin_trap();
  body_stream(body.handle, &stream);
  if (stream.is_err) __builtin_trap();
  for (;;) {
    read_result_t part;
    blocking_read(stream.handle, 1000, &part);
    if (part.is_err) break;
    append(answers, part.data.data, part.data.length);
    if (part.data.length > 0) free(part.data.data);
  }
  drop_input(stream.handle);
  drop_incoming_body(body.handle);
  drop_response(response);
}

/** @return whether there was an answer; if not, `answers` is the refusal */
static bool ask_one(text_t method, text_t authority, const char *path, size_t length, text_t body, text_t *answers) {
  int error = 0;
  int32_t future = send(method, authority, path, length, body, &error);
  if (future < 0) {
    free(answers->data);
    *answers = refusal("refused with ", error);
    return false;
  }
  int32_t pollable = subscribe(future);
  block(pollable);
  drop_pollable(pollable);
  answer_t answer;
  get_answer(future, &answer);
  drop_future(future);
  if (!answer.is_some || answer.once.is_err) __builtin_trap();
  if (answer.once.result.is_err) {
    free(answers->data);
    *answers = refusal("failed with ", answer.once.result.payload.error);
    return false;
  }
  read_response(answer.once.result.payload.handle, answers);
  return true;
}

EXPORT("ask")
text_result_t *ask(char *method, size_t method_length, char *authority, size_t authority_length, char *paths,
                   size_t paths_length, char *body, size_t body_length) {
  text_t answers = {NULL, 0};
  bool answered = true;
  for (size_t at = 0; at <= paths_length && answered;) {
    size_t end = at;
    while (end < paths_length && paths[end] != '\n') end++;
    if (at > 0) append(&answers, "\n", 1);
    answered = ask_one((text_t){method, method_length}, (text_t){authority, authority_length}, paths + at, end - at,
                       (text_t){body, body_length}, &answers);
    at = end + 1;
  }
  ask_result = (text_result_t){!answered, answers};
  return &ask_result;
}

EXPORT("cabi_post_ask")
void free_ask(text_result_t *result) {
  if (result->text.length > 0) free(result->text.data);
}

EXPORT("race")
uint32_t race(char *authority, size_t authority_length, char *first, size_t first_length, char *second,
              size_t second_length) {
  int error = 0;
  text_t method = {"GET", 3}, host = {authority, authority_length}, nothing = {NULL, 0};
  int32_t futures[2] = {send(method, host, first, first_length, nothing, &error),
                        send(method, host, second, second_length, nothing, &error)};
  if (futures[0] < 0 || futures[1] < 0) __builtin_trap();
  int32_t pollables[2] = {subscribe(futures[0]), subscribe(futures[1])};
  text_t ready;
  poll_all(pollables, 2, &ready);
  uint32_t winner = ((uint32_t *)(void *)ready.data)[0];
  for (int at = 0; at < 2; at++) {
    drop_pollable(pollables[at]);
    drop_future(futures[at]);
  }
  return winner;
}
