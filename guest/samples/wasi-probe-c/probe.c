/** The world `wasi-probe` in C: each action goes through wasi-libc, the adapter and whatever WASI the host gives. */
#include "../abi/canonical.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CAPACITY 4096

/** Runs the constructors of wasi-libc, which find the preopened directories. */
extern void __wasm_call_ctors(void);

static text_result_t result;

static void answer(bool is_err, const char *data, size_t length) {
  result = (text_result_t){is_err, text_copy(data, length)};
}

static void answer_text(const char *text) { answer(false, text, strlen(text)); }

static void answer_errno(void) {
  const char *reason = strerror(errno);
  answer(true, reason, strlen(reason));
}

/** @param word ends at a blank or at the end of `action` @return what follows it, or NULL when it is another word */
static const char *argument_of(const char *action, const char *word) {
  size_t length = strlen(word);
  if (strncmp(action, word, length) != 0) return NULL;
  if (action[length] == '\0') return action + length;
  return action[length] == ' ' ? action + length + 1 : NULL;
}

static void read_all(FILE *file) {
  char buffer[CAPACITY];
  if (file == NULL) {
    answer_errno();
    return;
  }
  size_t length = fread(buffer, 1, sizeof buffer, file);
  if (ferror(file)) answer_errno();
  else answer(false, buffer, length);
  clearerr(file);
}

static void read_path(const char *path) {
  FILE *file = fopen(path, "r");
  read_all(file);
  if (file != NULL) fclose(file);
}

static void write_path(const char *path) {
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs("written by a guest\n", file) < 0 || fclose(file) != 0) answer_errno();
  else answer_text("written");
}

/** Names, one a line, in the order in which the host gives them. */
static void list_path(const char *path) {
  char names[CAPACITY];
  size_t length = 0;
  DIR *directory = opendir(path);
  if (directory == NULL) {
    answer_errno();
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    int more = snprintf(names + length, sizeof names - length, "%s\n", entry->d_name);
    if (more > 0 && length + (size_t)more < sizeof names) length += (size_t)more;
  }
  closedir(directory);
  answer(false, names, length);
}

static void tell_number(long long number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", number);
  answer_text(digits);
}

static void sleep_for(long milliseconds) {
  struct timespec wanted = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (nanosleep(&wanted, NULL) != 0) {
    answer_errno();
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  tell_number((after.tv_sec - before.tv_sec) * 1000LL + (after.tv_nsec - before.tv_nsec) / 1000000);
}

static void draw(void) {
  unsigned char bytes[8];
  char digits[2 * sizeof bytes + 1];
  if (getentropy(bytes, sizeof bytes) != 0) {
    answer_errno();
    return;
  }
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
  answer_text(digits);
}

static void act(const char *action) {
  const char *argument;
  if ((argument = argument_of(action, "env")) != NULL) {
    const char *value = getenv(argument);
    if (value == NULL) answer(true, "not set", 7);
    else answer_text(value);
  } else if (argument_of(action, "stdin") != NULL) {
    read_all(stdin);
  } else if ((argument = argument_of(action, "print")) != NULL) {
    if (puts(argument) < 0 || fflush(stdout) != 0) answer_errno();
    else answer_text("printed");
  } else if ((argument = argument_of(action, "complain")) != NULL) {
    if (fprintf(stderr, "%s\n", argument) < 0) answer_errno();
    else answer_text("printed");
  } else if ((argument = argument_of(action, "read")) != NULL) {
    read_path(argument);
  } else if ((argument = argument_of(action, "write")) != NULL) {
    write_path(argument);
  } else if ((argument = argument_of(action, "list")) != NULL) {
    list_path(argument);
  } else if (argument_of(action, "time") != NULL) {
    tell_number(time(NULL));
  } else if ((argument = argument_of(action, "sleep")) != NULL) {
    sleep_for(strtol(argument, NULL, 10));
  } else if (argument_of(action, "random") != NULL) {
    draw();
  } else if ((argument = argument_of(action, "exit")) != NULL) {
    exit((int)strtol(argument, NULL, 10));
  } else {
    answer(true, "no such action", 14);
  }
}

EXPORT("run")
text_result_t *run(char *action, size_t length) {
  static bool started = false;
  if (!started) __wasm_call_ctors();
  started = true;
  text_t text = text_copy(action, length);
  text.data[length] = '\0';
  if (length > 0) free(action);
  act(text.data);
  free(text.data);
  return &result;
}

EXPORT("cabi_post_run") void free_run(text_result_t *done) { free(done->text.data); }
