#ifndef QUAKE_CPROCESS_H
#define QUAKE_CPROCESS_H

/// A descriptor that poll(2) calls readable when the child `pid` has ended, closed on exec; -1 and
/// errno where the system has none (Linux before 5.3, some sandboxes).
///
/// In C because glibc declares pidfd_open from 2.36 on only, and syscall takes a variable number of
/// arguments, which Swift cannot call.
int quake_pidfd_open(int pid);

#endif
