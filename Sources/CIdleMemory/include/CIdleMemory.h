#ifndef QUAKE_CIDLEMEMORY_H
#define QUAKE_CIDLEMEMORY_H

/// Gives back to the system what only start-up needed: free heap pages, and resident pages of code
/// and constants, of the program and its libraries, which come back from the page cache one by one
/// as they are used. It halves the memory of an idle watcher, and leaves an import room for larger
/// portions.
///
/// In C because glibc declares malloc_trim and dl_iterate_phdr in headers that Swift's Glibc module
/// leaves out.
void quake_give_back_idle_memory(void);

#endif
