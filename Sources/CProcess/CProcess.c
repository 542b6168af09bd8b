#define _GNU_SOURCE
#include "CProcess.h"

#include <sys/syscall.h>
#include <unistd.h>

int quake_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }
