/** The world `counter-owner` in C: what other components hold are handles; the counters are here. */
#include "../abi/canonical.h"

#define COUNTERS "caisson:counters/counters@0.1.0"

/** A representation becomes a handle, and back. Handles are the host's: it checks them. */
IMPORT("[export]" COUNTERS, "[resource-new]counter") extern int32_t counter_new(uint32_t *counter);
IMPORT("[export]" COUNTERS, "[resource-rep]counter") extern uint32_t *counter_rep(int32_t handle);
IMPORT("[export]" COUNTERS, "[resource-drop]counter") extern void counter_drop(int32_t handle);

static uint32_t alive_count = 0;

EXPORT(COUNTERS "#[constructor]counter")
int32_t construct(uint32_t start) {
  uint32_t *counter = malloc(sizeof *counter);
  if (counter == NULL) __builtin_trap();
  *counter = start;
  alive_count++;
  return counter_new(counter);
}

/** Called once, when the last owner dropped its handle. */
EXPORT(COUNTERS "#[dtor]counter")
void destruct(uint32_t *counter) {
  alive_count--;
  free(counter);
}

/** A borrowed handle of a resource of one's own comes as the representation. */
EXPORT(COUNTERS "#[method]counter.add") uint32_t add(uint32_t *counter, uint32_t by) { return *counter += by; }
EXPORT(COUNTERS "#[method]counter.value") uint32_t value(uint32_t *counter) { return *counter; }

EXPORT(COUNTERS "#[static]counter.merge")
int32_t merge(int32_t a, int32_t b) {
  uint32_t total = *counter_rep(a) + *counter_rep(b);
  counter_drop(a);
  counter_drop(b);
  return construct(total);
}

EXPORT(COUNTERS "#alive") uint32_t alive(void) { return alive_count; }
