#define _GNU_SOURCE
#include "CIdleMemory.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static int give_back(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    // Only what is mapped read-only from a file: anything else would lose its contents.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
    const uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
    madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void quake_give_back_idle_memory(void) {
  malloc_trim(0);
  dl_iterate_phdr(give_back, NULL);
}
