/*
 * A disk that knows what is synchronised. Preloaded into a process, it watches what SQLite does below ROOT/<number>/: the number is a disk. What is
 * written goes to the real file, and is remembered until the file is synchronised. When the power fails (life_image) a copy of the disk is made as it
 * may be found: synchronised bytes, and of the rest, for each sector by itself, any of the states that it had since. Names made and removed since the
 * directory was synchronised are kept or lost in order, as file systems with a journal do. Single-threaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { disks_max = 4096, fds_max = 65536, name_max = 64, sector_bytes = 512 };

struct op {
  struct op *next;
  off_t at;       /* a write begins here, a cut is to this size */
  size_t length;
  char *bytes;    /* NULL: the file was cut */
  off_t size;     /* of the file after it */
};

struct file {
  struct file *next;
  char name[name_max];
  int present;    /* it has its name now; otherwise only the synchronised directory knows it */
  int durable;    /* the synchronised directory has it */
  char *bytes;    /* synchronised content */
  off_t durable_size, size;
  struct op *first, *last;
};

/* A name that was made or removed since the directory was synchronised. */
struct entry {
  struct entry *next;
  struct file *file;
  int made;
};

struct disk {
  struct file *files;
  struct entry *first, *last;
  long ops, off_at;      /* operations so far, and at which the power fails; -1: never */
  int off, failing;      /* failing: synchronisations that fail from now on */
  long long free_bytes;  /* -1: without end */
};

static struct disk *disks[disks_max];
static struct { int disk; struct file *file; } fds[fds_max];
static char root[256];
static size_t root_length;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
}

/* The disk of a path, from 1; 0: none. *name is what follows its directory. */
static int disk_of(const char *path, const char **name) {
  if (root_length == 0 || strncmp(path, root, root_length) != 0) return 0;
  char *end;
  long number = strtol(path + root_length, &end, 10);
  if (number < 1 || number >= disks_max || (*end != '/' && *end != 0)) return 0;
  *name = *end == '/' ? end + 1 : end;
  return disks[number] == NULL ? 0 : (int)number;
}

/* Only what SQLite keeps its promises by: not the index of the log, which is made anew, nor files that lock. */
static int is_kept(const char *name) {
  return strcmp(name, "lintel.db") == 0 || strcmp(name, "lintel.db-wal") == 0 || strcmp(name, "lintel.db-journal") == 0;
}

static struct file *present_file(struct disk *disk, const char *name) {
  for (struct file *file = disk->files; file; file = file->next)
    if (file->present && strcmp(file->name, name) == 0) return file;
  return NULL;
}

static void note_entry(struct disk *disk, struct file *file, int made) {
  struct entry *entry = calloc(1, sizeof *entry);
  *entry = (struct entry){ .file = file, .made = made };
  if (disk->last) disk->last->next = entry; else disk->first = entry;
  disk->last = entry;
}

static void note_op(struct file *file, off_t at, const void *bytes, size_t length, off_t size) {
  struct op *op = calloc(1, sizeof *op);
  *op = (struct op){ .at = at, .length = length, .size = size };
  if (bytes) {
    op->bytes = malloc(length ? length : 1);
    memcpy(op->bytes, bytes, length);
  }
  if (file->last) file->last->next = op; else file->first = op;
  file->last = op;
  file->size = size;
}

static void forget_ops(struct file *file) {
  for (struct op *op = file->first, *next; op; op = next) {
    next = op->next;
    free(op->bytes);
    free(op);
  }
  file->first = file->last = NULL;
}

static void fit(struct file *file, off_t size) {
  file->bytes = realloc(file->bytes, size ? size : 1);
  if (size > file->durable_size) memset(file->bytes + file->durable_size, 0, size - file->durable_size);
  file->durable_size = size;
}

static void synchronise(struct file *file) {
  for (struct op *op = file->first; op; op = op->next) {
    if (op->bytes == NULL) { fit(file, op->at); continue; }
    if (op->at + (off_t)op->length > file->durable_size) fit(file, op->at + op->length);
    memcpy(file->bytes + op->at, op->bytes, op->length);
  }
  forget_ops(file);
}

static void synchronise_names(struct disk *disk) {
  for (struct entry *entry = disk->first, *next; entry; entry = next) {
    next = entry->next;
    entry->file->durable = entry->made;
    free(entry);
  }
  disk->first = disk->last = NULL;
}

/* Counts an operation; 0 where the power is off, or fails now. */
static int powered(struct disk *disk) {
  if (disk->off) return 0;
  if (disk->off_at >= 0 && disk->ops >= disk->off_at) disk->off = 1;
  disk->ops += 1;
  return !disk->off;
}

static int refused(int code) {
  errno = code;
  return -1;
}

static struct file *know(struct disk *disk, const char *name, int fd, int existed) {
  struct file *file = present_file(disk, name);
  if (file) return file;
  file = calloc(1, sizeof *file);
  snprintf(file->name, name_max, "%s", name);
  file->present = 1;
  file->next = disk->files;
  disk->files = file;
  if (!existed) { note_entry(disk, file, 1); return file; }
  file->durable = 1;
  struct stat facts;
  fstat(fd, &facts);
  fit(file, facts.st_size);
  if (pread(fd, file->bytes, facts.st_size, 0) != facts.st_size) abort();
  file->size = facts.st_size;
  return file;
}

static int open_any(const char *path, int flags, mode_t mode) {
  const char *name = "";
  int number = disk_of(path, &name);
  int kept = number && is_kept(name);
  int existed = kept && access(path, F_OK) == 0;
  if (kept && !existed && (flags & O_CREAT) && !powered(disks[number])) return refused(EIO);
  int fd = real_open(path, flags, mode);
  if (fd < 0 || fd >= fds_max) return fd;
  fds[fd].disk = kept || (number && *name == 0) ? number : 0;
  fds[fd].file = kept ? know(disks[number], name, fd, existed) : NULL;
  return fd;
}

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) { va_list rest; va_start(rest, flags); mode = va_arg(rest, int); va_end(rest); }
  return open_any(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) { va_list rest; va_start(rest, flags); mode = va_arg(rest, int); va_end(rest); }
  return open_any(path, flags, mode);
}

int close(int fd) {
  if (fd >= 0 && fd < fds_max) fds[fd].disk = 0;
  return real_close(fd);
}

static struct disk *disk_at(int fd) {
  return fd < 0 || fd >= fds_max || fds[fd].disk == 0 ? NULL : disks[fds[fd].disk];
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  struct disk *disk = disk_at(fd);
  if (!disk || !fds[fd].file) return real_pwrite(fd, bytes, length, at);
  if (!powered(disk)) return refused(EIO);
  struct file *file = fds[fd].file;
  off_t end = at + length, growth = end > file->size ? end - file->size : 0;
  if (disk->free_bytes >= 0 && growth > disk->free_bytes) return refused(ENOSPC);
  ssize_t written = real_pwrite(fd, bytes, length, at);
  if (written < 0) return written;
  if (disk->free_bytes >= 0) disk->free_bytes -= growth;
  note_op(file, at, bytes, written, end > file->size ? end : file->size);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }

ssize_t write(int fd, const void *bytes, size_t length) {
  struct disk *disk = disk_at(fd);
  if (!disk || !fds[fd].file) return real_write(fd, bytes, length);
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t written = pwrite64(fd, bytes, length, at);
  if (written > 0) lseek(fd, at + written, SEEK_SET);
  return written;
}

int ftruncate64(int fd, off_t size) {
  struct disk *disk = disk_at(fd);
  if (!disk || !fds[fd].file) return real_ftruncate(fd, size);
  if (!powered(disk)) return refused(EIO);
  int done = real_ftruncate(fd, size);
  if (done == 0) {
    if (disk->free_bytes >= 0) disk->free_bytes += fds[fd].file->size - size;
    note_op(fds[fd].file, size, NULL, 0, size);
  }
  return done;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int synchronised(int fd, int (*real)(int)) {
  struct disk *disk = disk_at(fd);
  if (!disk) return real(fd);
  if (!powered(disk)) return refused(EIO);
  if (disk->failing > 0) { disk->failing -= 1; return refused(EIO); }
  if (fds[fd].file) synchronise(fds[fd].file); else synchronise_names(disk);
  return 0;
}

int fsync(int fd) { return synchronised(fd, real_fsync); }
int fdatasync(int fd) { return synchronised(fd, real_fdatasync); }

int unlink(const char *path) {
  const char *name = "";
  int number = disk_of(path, &name);
  if (!number || !is_kept(name)) return real_unlink(path);
  struct disk *disk = disks[number];
  if (!powered(disk)) return refused(EIO);
  struct file *file = present_file(disk, name);
  int done = real_unlink(path);
  if (done == 0 && file) {
    if (disk->free_bytes >= 0) disk->free_bytes += file->size;
    file->present = 0;
    note_entry(disk, file, 0);
  }
  return done;
}

/* What follows is called by the simulator. */

void life_root(const char *path) {
  snprintf(root, sizeof root, "%s/", path);
  root_length = strlen(root);
}

void life_begin(int number) {
  disks[number] = calloc(1, sizeof **disks);
  disks[number]->off_at = -1;
  disks[number]->free_bytes = -1;
}

/* Forgets a disk. Nothing may be open on it. */
void life_end(int number) {
  struct disk *disk = disks[number];
  if (!disk) return;
  disks[number] = NULL;
  for (int fd = 0; fd < fds_max; fd += 1) if (fds[fd].disk == number) fds[fd].disk = 0;
  synchronise_names(disk);
  for (struct file *file = disk->files, *next; file; file = next) {
    next = file->next;
    forget_ops(file);
    free(file->bytes);
    free(file);
  }
  free(disk);
}

/* The power fails, or the processes are killed, after so many more operations. */
void life_off_after(int number, int ops) { disks[number]->off_at = ops < 0 ? -1 : disks[number]->ops + ops; }
int life_is_off(int number) { return disks[number]->off; }
int life_ops(int number) { return (int)disks[number]->ops; }
void life_free_bytes(int number, double bytes) { disks[number]->free_bytes = (long long)bytes; }
void life_fail_syncs(int number, int count) { disks[number]->failing = count; }

static uint64_t drawn;
static uint32_t below(uint32_t bound) {
  drawn = drawn * 6364136223846793005u + 1442695040888963407u;
  return bound == 0 ? 0 : (uint32_t)((drawn >> 33) % bound);
}

/* The content of a file as it may be after a power cut. */
static char *survived(struct file *file, off_t *size) {
  int ops = 0;
  off_t most = file->durable_size;
  for (struct op *op = file->first; op; op = op->next) {
    ops += 1;
    if (op->size > most) most = op->size;
  }
  off_t sectors = (most + sector_bytes - 1) / sector_bytes, length = sectors * sector_bytes;
  char *found = calloc(1, length ? length : 1);
  memcpy(found, file->bytes ? file->bytes : "", file->durable_size);
  *size = file->durable_size;
  int sized = below(ops + 1), place = 0;
  for (struct op *op = file->first; op && place < sized; op = op->next, place += 1) *size = op->size;
  /* How much of what was not synchronised came through: none, all, or each sector by itself. */
  int mood = below(6);
  for (off_t sector = 0; sector < sectors; sector += 1) {
    off_t from = sector * sector_bytes, to = from + sector_bytes;
    int touched = 0;
    for (struct op *op = file->first; op; op = op->next)
      if (op->bytes ? op->at < to && op->at + (off_t)op->length > from : op->at < to) touched += 1;
    int kept = mood == 0 ? 0 : mood == 1 ? touched : (int)below(touched + 1);
    for (struct op *op = file->first; op && kept > 0; op = op->next) {
      off_t begin = op->at > from ? op->at : from;
      off_t end = op->bytes && op->at + (off_t)op->length < to ? op->at + (off_t)op->length : to;
      if (begin >= end) continue;
      kept -= 1;
      if (op->bytes) memcpy(found + begin, op->bytes + (begin - op->at), end - begin);
      else memset(found + begin, 0, end - begin);
    }
  }
  if (mood == 1) *size = file->size;
  return found;
}

static void put(const char *into, const char *name, const char *bytes, off_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", into, name);
  int fd = real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || real_write(fd, bytes, size) != size) abort();
  real_close(fd);
}

/* Writes the files of a disk, as they may be found after a power cut, into a directory. */
void life_image(int number, const char *into, double seed) {
  struct disk *disk = disks[number];
  drawn = (uint64_t)seed * 2862933555777941757u + 3037000493u;
  int entries = 0;
  for (struct entry *entry = disk->first; entry; entry = entry->next) entries += 1;
  int kept = below(3) == 0 ? entries : (int)below(entries + 1);
  for (struct entry *entry = disk->first; entry && kept > 0; entry = entry->next, kept -= 1) {
    /* A name that is made again takes the place of the one before. */
    for (struct file *other = disk->files; entry->made && other; other = other->next)
      if (other != entry->file && strcmp(other->name, entry->file->name) == 0) other->durable = 0;
    entry->file->durable = entry->made;
  }
  for (struct file *file = disk->files; file; file = file->next) {
    if (!file->durable) continue;
    off_t size;
    char *found = survived(file, &size);
    put(into, file->name, found, size);
    free(found);
  }
}

/* Hands what is remembered of a disk to another, onto which its files were copied: processes were killed, and the machine runs on. */
void life_hand_over(int number, int to) {
  struct disk *from = disks[number];
  *disks[to] = (struct disk){ .files = from->files, .first = from->first, .last = from->last, .off_at = -1, .free_bytes = from->free_bytes };
  from->files = NULL;
  from->first = from->last = NULL;
}
