// One program with the names of the five tools, so that the packages hold the Swift runtime once.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>

typedef int entry(int argc, char **argv);
entry quake_ingest_main, quake_watch_main, quake_query_main, quake_admin_main, quake_serve_main;

static const struct {
  const char *name;
  entry *main;
} tools[] = {
    {"quake-ingest", quake_ingest_main}, {"quake-watch", quake_watch_main},
    {"quake-query", quake_query_main},   {"quake-admin", quake_admin_main},
    {"quake-serve", quake_serve_main},
};

// glibc 2.35 gave hypotf a new version. This one lets the program run with glibc 2.34. A double has more than twice
// the digits of a float, and its range, so neither square overflows.
float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return HUGE_VALF;
  return (float)sqrt((double)x * x + (double)y * y);
}

// Came with glibc 2.36; the C++ library's random_device asks for it.
uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}

int main(int argc, char **argv) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
    if (strcmp(name, tools[i].name) == 0) {
      prctl(PR_SET_NAME, name);
      return tools[i].main(argc, argv);
    }
  }
  fprintf(stderr, "quake: start it as quake-ingest, quake-watch, quake-query, quake-admin or quake-serve\n");
  return 64;
}
