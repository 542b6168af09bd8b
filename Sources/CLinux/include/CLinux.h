#ifndef QUAKE_CLINUX_H
#define QUAKE_CLINUX_H

#include <stddef.h>
#include <stdint.h>

/// What Swift's Glibc module lacks: pidfd_open, which glibc declares only since 2.36; memory, whose headers the module
/// excludes; epoll, event descriptors and sendfile, which it does not export; and GNU's actions of posix_spawn.

/// A descriptor that becomes readable when the child `pid` has ended, closed on exec; -1 and errno if
/// the system does not support it (Linux before 5.3, some sandboxes).
int quake_pidfd_open(int pid);

/// Adds to `actions`, a posix_spawn_file_actions_t: the child closes every descriptor from `first` on, also one
/// that another thread opens meanwhile without close-on-exec. Returns an error number or 0.
int quake_spawn_close_from(void *actions, int first);

/// Adds to `actions`: the child changes to `folder` before it runs the program. Returns an error number or 0.
int quake_spawn_change_directory(void *actions, const char *folder);

/// Returns the memory that only start-up needed to the system: free heap pages, and resident pages of
/// the code and constants of the program and its libraries. The kernel reads the latter again from the
/// page cache when they are used. This halves the memory of an idle watcher, and lowers the peak memory
/// of an import.
void quake_release_idle_memory(void);

/// What happened on a descriptor.
struct quake_epoll_event {
  /// The number that it was added with.
  uint64_t key;
  /// Not 0: the peer has closed its end, or the connection has failed.
  uint32_t has_ended;
  /// Not 0: there is something to read.
  uint32_t is_readable;
  /// Not 0: the socket takes more.
  uint32_t is_writable;
};

/// A new epoll descriptor, closed on exec; -1 and errno if there is none.
int quake_epoll_create(void);

/// Adds a descriptor: an event tells when it becomes writable after it was full, and when it ends.
/// With `reads`, another one tells when there is something to read. -1 and errno if it cannot.
int quake_epoll_add_socket(int epoll, int descriptor, uint64_t key, int reads);

/// Adds a descriptor that has an event as long as it is readable. -1 and errno if it cannot.
int quake_epoll_add_wake(int epoll, int descriptor, uint64_t key);

/// Removes a descriptor.
void quake_epoll_remove(int epoll, int descriptor);

/// Waits for events, at most `milliseconds`; -1 waits without a limit. Returns how many there are, at most
/// 256, and 0 if a signal ended the wait.
int quake_epoll_wait(int epoll, struct quake_epoll_event events[256], int milliseconds);

/// A new event descriptor, which does not block and is closed on exec; -1 and errno if there is none.
int quake_event_descriptor(void);

/// Sends `count` bytes of a file from `offset` on to a socket. Returns how many were sent, or -1 and errno.
ptrdiff_t quake_sendfile(int socket, int file, int64_t offset, size_t count);

/// How many columns of a terminal a Unicode character takes, in any locale of the user; -1 if it is unknown.
int quake_character_width(uint32_t character);

#endif
