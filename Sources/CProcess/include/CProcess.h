#ifndef QUAKE_CPROCESS_H
#define QUAKE_CPROCESS_H

/// A descriptor that becomes readable when the child `pid` has ended, closed on exec; -1 and errno if
/// the system does not support it (Linux before 5.3, some sandboxes).
///
/// It is written in C because glibc declares pidfd_open only since 2.36, and syscall is variadic, which
/// Swift cannot call.
int quake_pidfd_open(int pid);

#endif
