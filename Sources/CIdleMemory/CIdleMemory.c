#define _GNU_SOURCE
#include "CIdleMemory.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static int release_pages(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD) continue;
    const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
    const uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
    // Writable mappings would lose their changes, so there the kernel must select the pages that still
    // equal the file's. A kernel that cannot do so keeps all of them.
    const int advice = (segment->p_flags & PF_W) != 0 ? MADV_PAGEOUT : MADV_DONTNEED;
    madvise((void *)start, end - start, advice);
  }
  return 0;
}

void quake_release_idle_memory(void) {
  malloc_trim(0);
  dl_iterate_phdr(release_pages, NULL);
}
