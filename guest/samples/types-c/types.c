/** The world `types` in C: each type of WIT, in and out. */
#include "../abi/canonical.h"

EXPORT("add-u8") uint32_t add_u8(uint32_t a, uint32_t b) { return (uint8_t)(a + b); }
EXPORT("add-s8") int32_t add_s8(int32_t a, int32_t b) { return (int8_t)(a + b); }
EXPORT("add-u16") uint32_t add_u16(uint32_t a, uint32_t b) { return (uint16_t)(a + b); }
EXPORT("add-s16") int32_t add_s16(int32_t a, int32_t b) { return (int16_t)(a + b); }
EXPORT("add-u32") uint32_t add_u32(uint32_t a, uint32_t b) { return a + b; }
EXPORT("add-s32") int32_t add_s32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
EXPORT("add-u64") uint64_t add_u64(uint64_t a, uint64_t b) { return a + b; }
EXPORT("add-s64") int64_t add_s64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
EXPORT("add-f32") float add_f32(float a, float b) { return a + b; }
EXPORT("add-f64") double add_f64(double a, double b) { return a + b; }
EXPORT("negate") uint32_t negate(uint32_t value) { return !value; }

EXPORT("next-char")
uint32_t next_char(uint32_t value) {
  if (value == 0xD7FF) return 0xE000;
  return value == 0x10FFFF ? 0 : value + 1;
}

/* Strings and lists. Results lie in static memory; what they point to is freed when the host has read it. */

static text_t text_result;

EXPORT("concat")
text_t *concat(char *a, size_t a_length, char *b, size_t b_length) {
  text_result = (text_t){malloc(a_length + b_length + 1), a_length + b_length};
  if (text_result.data == NULL) __builtin_trap();
  memcpy(text_result.data, a, a_length);
  memcpy(text_result.data + a_length, b, b_length);
  if (a_length > 0) free(a);
  if (b_length > 0) free(b);
  return &text_result;
}

EXPORT("cabi_post_concat") void free_concat(text_t *result) { free(result->data); }

typedef struct {
  uint32_t *items;
  size_t length;
} numbers_t;

static numbers_t numbers_result;

EXPORT("reverse")
numbers_t *reverse(uint32_t *items, size_t length) {
  for (size_t i = 0; i < length / 2; i++) {
    uint32_t item = items[i];
    items[i] = items[length - 1 - i];
    items[length - 1 - i] = item;
  }
  numbers_result = (numbers_t){items, length};
  return &numbers_result;
}

EXPORT("cabi_post_reverse")
void free_reverse(numbers_t *result) {
  if (result->length > 0) free(result->items);
}

EXPORT("lengths")
numbers_t *lengths(text_t *texts, size_t length) {
  uint32_t *items = calloc(length + 1, sizeof(uint32_t));
  if (items == NULL) __builtin_trap();
  for (size_t i = 0; i < length; i++) {
    items[i] = texts[i].length;
    if (texts[i].length > 0) free(texts[i].data);
  }
  if (length > 0) free(texts);
  numbers_result = (numbers_t){items, length};
  return &numbers_result;
}

EXPORT("cabi_post_lengths") void free_lengths(numbers_t *result) { free(result->items); }

/* Records. */

typedef struct {
  int32_t x, y;
} point_t;

static point_t point_result;

EXPORT("mirror")
point_t *mirror(int32_t x, int32_t y) {
  point_result = (point_t){y, x};
  return &point_result;
}

typedef struct {
  text_t name;
  uint8_t age;
  struct {
    text_t *items;
    size_t length;
  } tags;
} person_t;

static person_t person_result;

EXPORT("birthday")
person_t *birthday(char *name, size_t name_length, uint32_t age, text_t *tags, size_t tags_length) {
  person_result = (person_t){{name, name_length}, (uint8_t)(age + 1), {tags, tags_length}};
  return &person_result;
}

EXPORT("cabi_post_birthday")
void free_birthday(person_t *person) {
  for (size_t i = 0; i < person->tags.length; i++)
    if (person->tags.items[i].length > 0) free(person->tags.items[i].data);
  if (person->tags.length > 0) free(person->tags.items);
  if (person->name.length > 0) free(person->name.data);
}

/* A variant. Its payloads (f64, or pointer and length) share their first core value: an i64 that holds either's bits. */

enum { EMPTY, CIRCLE, LABEL, POLYGON };

typedef struct {
  uint8_t kind;
  union {
    double radius;
    text_t label;
    struct {
      point_t *points;
      size_t length;
    } polygon;
  };
} shape_t;

_Static_assert(offsetof(shape_t, radius) == 8, "the payload is aligned as the widest one");

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double twice_polygon(const point_t *points, size_t length) {
  double twice = 0;
  for (size_t i = 0; i < length; i++) {
    const point_t *here = &points[i], *next = &points[(i + 1) % length];
    twice += (double)here->x * next->y - (double)next->x * here->y;
  }
  return twice < 0 ? -twice : twice;
}

EXPORT("area")
double area(uint32_t kind, uint64_t first, size_t length) {
  void *data = (void *)(uintptr_t)first;
  double size = 0;
  if (kind == CIRCLE) return 3.141592653589793 * double_of(first) * double_of(first);
  if (kind == LABEL) size = (double)length;
  if (kind == POLYGON) size = twice_polygon(data, length);
  if (length > 0 && kind != EMPTY) free(data);
  return size;
}

static shape_t shape_result;

EXPORT("morph")
shape_t *morph(uint32_t kind, uint64_t first, size_t length) {
  void *data = (void *)(uintptr_t)first;
  shape_result.kind = EMPTY;
  if (kind == CIRCLE) {
    shape_result.kind = LABEL;
    shape_result.label = text_of("circle");
  }
  if (kind == LABEL) {
    shape_result.kind = POLYGON;
    shape_result.polygon.points = calloc(1, sizeof(point_t));
    if (shape_result.polygon.points == NULL) __builtin_trap();
    shape_result.polygon.points[0].x = (int32_t)length;
    shape_result.polygon.length = 1;
  }
  if (kind == POLYGON) {
    shape_result.kind = CIRCLE;
    shape_result.radius = (double)length;
  }
  if (length > 0 && (kind == LABEL || kind == POLYGON)) free(data);
  return &shape_result;
}

EXPORT("cabi_post_morph")
void free_morph(shape_t *shape) {
  if (shape->kind == LABEL) free(shape->label.data);
  if (shape->kind == POLYGON) free(shape->polygon.points);
}

/* Enums and flags are small numbers. */

EXPORT("next-colour") uint32_t next_colour(uint32_t colour) { return (colour + 1) % 3; }
EXPORT("toggle") uint32_t toggle(uint32_t permissions) { return ~permissions & 7; }

/* Options, results, tuples. */

typedef struct {
  uint8_t is_some;
  uint32_t value;
} maybe_t;

static maybe_t maybe_result;

EXPORT("half")
maybe_t *half(uint32_t is_some, uint32_t value) {
  maybe_result = (maybe_t){is_some && value % 2 == 0, value / 2};
  return &maybe_result;
}

typedef struct {
  uint8_t is_err;
  union {
    int32_t number;
    text_t problem;
  };
} parsed_t;

static parsed_t parsed_result;

/** A decimal number that fits. @return whether it is one */
static bool read_number(const char *text, size_t length, int32_t *number) {
  bool negative = length > 0 && text[0] == '-';
  int64_t value = 0;
  if (length == (negative ? 1 : 0)) return false;
  for (size_t i = negative ? 1 : 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
    if (value > (int64_t)INT32_MAX + negative) return false;
  }
  *number = (int32_t)(negative ? -value : value);
  return true;
}

EXPORT("parse")
parsed_t *parse(char *text, size_t length) {
  parsed_result.is_err = !read_number(text, length, &parsed_result.number);
  if (parsed_result.is_err) parsed_result.problem = text_of("not a number");
  if (length > 0) free(text);
  return &parsed_result;
}

EXPORT("cabi_post_parse")
void free_parse(parsed_t *parsed) {
  if (parsed->is_err) free(parsed->problem.data);
}

EXPORT("check") uint32_t check(uint32_t value) { return !value; }

typedef struct {
  text_t text;
  uint32_t number;
} pair_t;

static pair_t pair_result;

EXPORT("swap")
pair_t *swap(uint32_t number, char *text, size_t length) {
  pair_result = (pair_t){{text, length}, number};
  return &pair_result;
}

EXPORT("cabi_post_swap")
void free_swap(pair_t *pair) {
  if (pair->text.length > 0) free(pair->text.data);
}

EXPORT("sum")
uint64_t sum(uint32_t *numbers) {
  uint64_t total = 0;
  for (int i = 0; i < 17; i++) total += numbers[i];
  free(numbers);
  return total;
}
