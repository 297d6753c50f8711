/**
 * A WASI preview-1 command that calls a granted capability, `prices.lookup`: JSON in and out through memory. Between the
 * question and the answer days may pass, and the process may be another one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((import_module("prices"), import_name("lookup"))) int32_t lookup(const char *arguments, size_t length,
                                                                               char *answer, size_t room);

/** Its own frame, so that what is suspended is more than one. */
static int ask(int number) {
  char question[64];
  char answer[256];
  int length = snprintf(question, sizeof question, "{\"sku\":\"p%d\"}", number);
  int32_t result = lookup(question, (size_t)length, answer, sizeof answer);
  if (result < 0) {
    fprintf(stderr, "refused: %.*s\n", (int)-result, answer);
    exit(1);
  }
  if ((size_t)result >= sizeof answer) exit(2);
  answer[result] = '\0';
  return atoi(answer);
}

int main(int count, char **arguments) {
  int many = count > 1 ? atoi(arguments[1]) : 3;
  int sum = 0;
  for (int i = 0; i < many; i++) {
    int price = ask(i);
    sum += price;
    printf("p%d costs %d\n", i, price);
  }
  printf("together %d\n", sum);
  return 0;
}
