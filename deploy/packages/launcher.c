// Takes the place of a link in a wheel, which cannot hold links: starts the program "quake" beside it by its own name.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char path[PATH_MAX], name[NAME_MAX + 1];
  // The file itself: installers such as pipx make a link to it.
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "quake");
  if (length < 1 || (size_t)length == sizeof path - sizeof "quake") {
    perror("cannot find the program; is /proc mounted? /proc/self/exe");
    return 70;
  }
  path[length] = 0;
  char *own = strrchr(path, '/') + 1;
  snprintf(name, sizeof name, "%s", own);
  strcpy(own, "quake");
  if (argc > 0) argv[0] = name;
  execv(path, argv);
  fprintf(stderr, "%s: cannot start ", name);
  perror(path);
  return 70;
}
