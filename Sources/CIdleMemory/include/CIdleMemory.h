#ifndef QUAKE_CIDLEMEMORY_H
#define QUAKE_CIDLEMEMORY_H

/// Returns the memory that only start-up needed to the system: free heap pages, and resident pages of
/// the code and constants of the program and its libraries. The kernel reads the latter again from the
/// page cache when they are used. This halves the memory of an idle watcher, and lowers the peak memory
/// of an import.
///
/// It is written in C because glibc declares malloc_trim and dl_iterate_phdr in headers that Swift's
/// Glibc module excludes.
void quake_release_idle_memory(void);

#endif
