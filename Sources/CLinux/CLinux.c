#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

int quake_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int quake_spawn_close_from(void *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int quake_spawn_change_directory(void *actions, const char *folder) {
  return posix_spawn_file_actions_addchdir_np(actions, folder);
}

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

enum { most = 256 };

int quake_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int add(int epoll, int descriptor, uint64_t key, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u64 = key};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int quake_epoll_add_socket(int epoll, int descriptor, uint64_t key, int reads) {
  // Edge-triggered, so that a client that is not blocked needs no further call.
  const uint32_t events = EPOLLOUT | EPOLLRDHUP | EPOLLET;
  return add(epoll, descriptor, key, reads ? events | EPOLLIN : events);
}

int quake_epoll_add_wake(int epoll, int descriptor, uint64_t key) {
  return add(epoll, descriptor, key, EPOLLIN);
}

void quake_epoll_remove(int epoll, int descriptor) {
  epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

int quake_epoll_wait(int epoll, struct quake_epoll_event events[256], int milliseconds) {
  struct epoll_event found[most];
  const int count = epoll_wait(epoll, found, most, milliseconds);
  for (int index = 0; index < count; index++) {
    events[index].key = found[index].data.u64;
    events[index].has_ended = found[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    events[index].is_readable = found[index].events & EPOLLIN;
    events[index].is_writable = found[index].events & EPOLLOUT;
  }
  return count < 0 ? 0 : count;
}

int quake_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

ptrdiff_t quake_sendfile(int socket, int file, int64_t offset, size_t count) {
  off_t position = (off_t)offset;
  return sendfile(socket, file, &position, count);
}

static locale_t unicode;
static void load_unicode(void) { unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int quake_character_width(uint32_t character) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_unicode);
  locale_t user = uselocale(unicode);
  int width = wcwidth((wchar_t)character);
  uselocale(user);
  return width;
}
