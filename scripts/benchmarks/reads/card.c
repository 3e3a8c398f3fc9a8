/* A slow SD card below a program that has this preloaded: each synchronisation of a file takes 100 ms more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int late(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  struct timespec longer = { 0, 100 * 1000 * 1000 };
  nanosleep(&longer, NULL);
  return real(fd);
}

int fsync(int fd) { return late("fsync", fd); }
int fdatasync(int fd) { return late("fdatasync", fd); }
