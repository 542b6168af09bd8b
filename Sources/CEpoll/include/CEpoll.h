#ifndef QUAKE_CEPOLL_H
#define QUAKE_CEPOLL_H

#include <stddef.h>
#include <stdint.h>

/// epoll, event descriptors and sendfile, which Swift's Glibc module does not export.

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

#endif
