/*
 * Runs a program of which one system call fails: the Nth of a kind, by any of its threads and children, on a path below DIRECTORY. The kernel asks us
 * about each call of the kind (seccomp's user notification), so that nothing of a runtime escapes. The program keeps the id of the process that was
 * started. Once it and all its children have ended, REPORT has how many such calls there were, and the path of the one that failed.
 *
 *   nth CALL FAULT N REPORT DIRECTORY PROGRAM [WORD …]
 *   nth record - 0 REPORT DIRECTORY PROGRAM [WORD …]
 *
 * FAULT is EIO or EINTR (once), ENOSPC (from the Nth on: a disk stays full), or short (the Nth read or write takes half). With `record` nothing fails, and
 * REPORT has each call that changes something or synchronises it, in order: a line, and what was written. Linux from 5.19.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* How a call names its file: by an open descriptor, by a path, or by a path below an open directory. */
enum by { by_fd, by_path, by_at };

/* Where there are two paths the second is looked at: it is made by the call. */
static const struct call { const char *kind; int number; enum by by; int argument; } calls[] = {
  { "write", SYS_write, by_fd, 0 },         { "write", SYS_pwrite64, by_fd, 0 },
  { "write", SYS_writev, by_fd, 0 },        { "write", SYS_pwritev, by_fd, 0 },
  { "write", SYS_copy_file_range, by_fd, 2 }, { "write", SYS_sendfile, by_fd, 0 },
  { "sync", SYS_fsync, by_fd, 0 },          { "sync", SYS_fdatasync, by_fd, 0 },
  { "read", SYS_read, by_fd, 0 },           { "read", SYS_pread64, by_fd, 0 },
  { "read", SYS_readv, by_fd, 0 },          { "read", SYS_preadv, by_fd, 0 },
  { "open", SYS_openat, by_at, 0 },         { "rename", SYS_renameat, by_at, 2 },
  { "rename", SYS_renameat2, by_at, 2 },    { "unlink", SYS_unlinkat, by_at, 0 },
  { "mkdir", SYS_mkdirat, by_at, 0 },       { "truncate", SYS_ftruncate, by_fd, 0 },
#ifdef SYS_open
  { "open", SYS_open, by_path, 0 },         { "rename", SYS_rename, by_path, 1 },
  { "unlink", SYS_unlink, by_path, 0 },     { "unlink", SYS_rmdir, by_path, 0 },
  { "mkdir", SYS_mkdir, by_path, 0 },
#endif
};
enum { calls_count = sizeof calls / sizeof *calls };

static const char *kind, *fault, *directory;
static size_t directory_length;
static long nth, seen;
static char hit[PATH_MAX];
static FILE *recording;

static void end(const char *said) {
  perror(said);
  exit(125);
}

static long notify(unsigned operation, unsigned flags, void *argument) {
  return syscall(SYS_seccomp, operation, flags, argument);
}

/* Has the kernel ask about calls of the kind, from now on and in all children. The descriptor at which it asks. */
static int filtered(void) {
  struct sock_filter lines[2 * calls_count + 2];
  unsigned short length = 0;
  int recorded = strcmp(kind, "record") == 0;
  lines[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int each = 0; each < calls_count; each += 1) {
    if (recorded ? strcmp(calls[each].kind, "read") == 0 : strcmp(calls[each].kind, kind) != 0) continue;
    lines[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[each].number, 0, 1);
    lines[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  }
  lines[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = { .len = length, .filter = lines };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) end("no_new_privs");
  return (int)notify(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
}

static void link_of(pid_t pid, const char *name, int number, char *into) {
  char link[64];
  if (number < 0) snprintf(link, sizeof link, "/proc/%d/%s", pid, name);
  else snprintf(link, sizeof link, "/proc/%d/%s/%d", pid, name, number);
  ssize_t length = readlink(link, into, PATH_MAX - 1);
  into[length < 0 ? 0 : length] = 0;
}

/* The text at an address of a process, page by page: the next page may not be there. */
static void text_at(pid_t pid, uint64_t address, char *into) {
  size_t got = 0;
  while (got < PATH_MAX - 1) {
    size_t step = 4096 - (address + got) % 4096;
    if (step > PATH_MAX - 1 - got) step = PATH_MAX - 1 - got;
    struct iovec here = { into + got, step }, there = { (void *)(uintptr_t)(address + got), step };
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) <= 0) break;
    if (memchr(into + got, 0, step)) return;
    got += step;
  }
  into[got] = 0;
}

static void path_of(const struct seccomp_notif *asked, enum by by, int argument, char *path) {
  const uint64_t *given = (const uint64_t *)asked->data.args;
  pid_t pid = (pid_t)asked->pid;
  if (by == by_fd) { link_of(pid, "fd", (int)given[argument], path); return; }
  char text[PATH_MAX], below[PATH_MAX];
  text_at(pid, given[argument + (by == by_at)], text);
  if (text[0] == '/') { strcpy(path, text); return; }
  int at = by == by_at ? (int)given[argument] : AT_FDCWD;
  if (at == AT_FDCWD) link_of(pid, "cwd", -1, below); else link_of(pid, "fd", at, below);
  if (snprintf(path, PATH_MAX, "%s/%s", below, text) >= PATH_MAX) path[0] = 0;
}

/* Half of a read or write: done here in the place of the program, on the same open file. 0 where this call has no half. */
static ssize_t half(const struct seccomp_notif *asked) {
  const uint64_t *given = (const uint64_t *)asked->data.args;
  int number = asked->data.nr, positioned = number == SYS_pwrite64 || number == SYS_pread64;
  if (!positioned && number != SYS_write && number != SYS_read) return 0;
  size_t length = given[2] / 2;
  if (length == 0) return 0;
  int process = (int)syscall(SYS_pidfd_open, asked->pid, 0);
  if (process < 0) {
    /* It is a thread. Whose descriptors are the same as those of its process. */
    char line[256], path[64];
    int leader = 0;
    snprintf(path, sizeof path, "/proc/%d/status", asked->pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) if (sscanf(line, "Tgid: %d", &leader) == 1) break;
    if (status) fclose(status);
    process = (int)syscall(SYS_pidfd_open, leader, 0);
  }
  int file = (int)syscall(SYS_pidfd_getfd, process, (int)given[0], 0);
  close(process);
  if (file < 0) end("the file of a process");
  char *bytes = malloc(length);
  struct iovec here = { bytes, length }, there = { (void *)(uintptr_t)given[1], length };
  ssize_t done = -1;
  if (number == SYS_write || number == SYS_pwrite64) {
    if (process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) == (ssize_t)length)
      done = positioned ? pwrite(file, bytes, length, (off_t)given[3]) : write(file, bytes, length);
  } else {
    done = positioned ? pread(file, bytes, length, (off_t)given[3]) : read(file, bytes, length);
    here.iov_len = there.iov_len = done > 0 ? (size_t)done : 0;
    if (done > 0 && process_vm_writev((pid_t)asked->pid, &here, 1, &there, 1, 0) != done) done = -1;
  }
  free(bytes);
  close(file);
  return done;
}

/* Where a write without a place begins: at the position of the open file, or at its end. */
static long long position(pid_t pid, int number) {
  char line[256], path[64];
  long long at = 0;
  unsigned flags = 0;
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, number);
  FILE *facts = fopen(path, "r");
  while (facts && fgets(line, sizeof line, facts)) {
    sscanf(line, "pos: %lld", &at);
    sscanf(line, "flags: %o", &flags);
  }
  if (facts) fclose(facts);
  return flags & O_APPEND ? -1 : at;
}

/* KIND, milliseconds since 1970, two numbers and one or two paths, each behind a tab; then the bytes of a write, and a line's end. */
static void record(const struct seccomp_notif *asked, const struct call *call, const char *path) {
  const uint64_t *given = (const uint64_t *)asked->data.args;
  int number = asked->data.nr;
  long long first = 0, second = 0;
  char other[PATH_MAX] = "";
  const char *name = call->kind;
  if (number == SYS_pwrite64) first = (long long)given[3], second = (long long)given[2];
  else if (number == SYS_write) first = position((pid_t)asked->pid, (int)given[0]), second = (long long)given[2];
  else if (strcmp(name, "write") == 0) name = "unknown";
  else if (number == SYS_ftruncate) first = (long long)given[1];
  else if (strcmp(name, "open") == 0) {
    first = (long long)given[call->by == by_at ? 2 : 1];
    /* What only reads changes nothing. */
    if (!(first & (O_CREAT | O_TRUNC))) return;
  } else if (strcmp(name, "rename") == 0) path_of(asked, call->by, 0, other);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  long long ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
  fprintf(recording, "%s\t%lld\t%lld\t%lld\t%s\t%s\n", name, ms, first, second, path, other);
  if (strcmp(name, "write") != 0) return;
  char *bytes = malloc((size_t)second + 1);
  struct iovec here = { bytes, (size_t)second }, there = { (void *)(uintptr_t)given[1], (size_t)second };
  if (process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) != (ssize_t)second) memset(bytes, 0, (size_t)second);
  fwrite(bytes, 1, (size_t)second, recording);
  fputc('\n', recording);
  free(bytes);
}

static void decide(const struct seccomp_notif *asked, struct seccomp_notif_resp *answer) {
  answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  const struct call *call = calls;
  while (call < calls + calls_count && call->number != asked->data.nr) call += 1;
  char path[PATH_MAX];
  path_of(asked, call->by, call->argument, path);
  if (strncmp(path, directory, directory_length) != 0) return;
  if (recording) { record(asked, call, path); return; }
  seen += 1;
  if (seen != nth && !(seen > nth && strcmp(fault, "ENOSPC") == 0)) return;
  ssize_t done = strcmp(fault, "short") == 0 ? half(asked) : 0;
  if (strcmp(fault, "short") == 0 && done <= 0) return;
  if (hit[0] == 0) strcpy(hit, path);
  answer->flags = 0;
  answer->val = done;
  if (done == 0) answer->error = strcmp(fault, "EIO") == 0 ? -EIO : strcmp(fault, "EINTR") == 0 ? -EINTR : -ENOSPC;
}

/* Answers the kernel until every process that it asks about has ended. */
static void answer_all(int listener) {
  for (;;) {
    struct pollfd ready = { .fd = listener, .events = POLLIN };
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) end("poll");
    if (ready.revents & POLLHUP) return;
    if (!(ready.revents & POLLIN)) continue;
    struct seccomp_notif asked;
    memset(&asked, 0, sizeof asked);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
    struct seccomp_notif_resp answer = { .id = asked.id };
    decide(&asked, &answer);
    /* A process that was killed meanwhile needs no answer. */
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

/* The report has its name once it is whole. */
static void report(FILE *file, const char *whole, const char *path) {
  if (!recording) fprintf(file, "%ld %s\n", seen, hit);
  if (fclose(file) != 0 || rename(whole, path) != 0) end("the report");
}

int main(int count, char **words) {
  if (count < 7) {
    fprintf(stderr, "nth CALL FAULT N REPORT DIRECTORY PROGRAM [WORD …]\n");
    return 125;
  }
  kind = words[1], fault = words[2], nth = atol(words[3]), directory = words[5], directory_length = strlen(directory);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) end("socketpair");
  pid_t answering = fork();
  if (answering < 0) end("fork");
  if (answering == 0) {
    /* Ends by itself, after the program: signals of a terminal are for that. */
    setsid();
    close(0), close(1);
    int number = -1;
    if (read(pair[1], &number, sizeof number) != sizeof number) return 125;
    int process = (int)syscall(SYS_pidfd_open, getppid(), 0);
    int listener = (int)syscall(SYS_pidfd_getfd, process, number, 0);
    if (listener < 0) end("the descriptor at which the kernel asks");
    if (write(pair[1], "", 1) != 1) return 125;
    close(process), close(pair[0]), close(pair[1]), close(2);
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s.new", words[4]);
    FILE *file = fopen(whole, "w");
    if (!file) return 125;
    if (strcmp(kind, "record") == 0) recording = file;
    answer_all(listener);
    report(file, whole, words[4]);
    return 0;
  }
  prctl(PR_SET_PTRACER, answering, 0, 0, 0);
  int listener = filtered();
  if (listener < 0) end("seccomp");
  char begun;
  /* Writes here are asked about too where writes are the kind: the number is told by a call that is not in the table. */
  if (send(pair[0], &listener, sizeof listener, 0) != sizeof listener || recv(pair[0], &begun, 1, 0) != 1) end("nobody answers the kernel");
  close(listener);
  execvp(words[6], words + 6);
  end(words[6]);
}
