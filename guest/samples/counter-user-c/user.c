/** The world `counter-user` in C: it works with counters that it cannot see into. */
#include "../abi/canonical.h"

#define COUNTERS "caisson:counters/counters@0.1.0"

IMPORT(COUNTERS, "[constructor]counter") extern int32_t counter_new(uint32_t start);
IMPORT(COUNTERS, "[method]counter.add") extern uint32_t counter_add(int32_t counter, uint32_t by);
IMPORT(COUNTERS, "[static]counter.merge") extern int32_t counter_merge(int32_t a, int32_t b);
IMPORT(COUNTERS, "[resource-drop]counter") extern void counter_drop(int32_t counter);

/** A borrow is given back before the call returns: the host demands it. */
EXPORT("count")
uint32_t count(int32_t counter, uint32_t times) {
  uint32_t value = counter_add(counter, 0);
  for (uint32_t i = 0; i < times; i++) value = counter_add(counter, 1);
  counter_drop(counter);
  return value;
}

EXPORT("make") int32_t make(uint32_t start) { return counter_new(start); }

EXPORT("total")
int32_t total(int32_t *counters, size_t length) {
  int32_t sum = counter_new(0);
  for (size_t i = 0; i < length; i++) sum = counter_merge(sum, counters[i]);
  if (length > 0) free(counters);
  return sum;
}

static int32_t kept = 0;

EXPORT("keep")
uint32_t keep(uint32_t by) {
  if (kept == 0) kept = counter_new(0);
  return counter_add(kept, by);
}

EXPORT("drop-twice")
void drop_twice(void) {
  int32_t counter = counter_new(1);
  counter_drop(counter);
  counter_drop(counter);
}
