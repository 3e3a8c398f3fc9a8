/*
 * A disk that knows what is synchronised. Preloaded into a process, it watches what SQLite does below ROOT/<number>/: the number is a disk. What is
 * written goes to the real file, and is remembered until the file is synchronised. When the power fails (life_image) a copy of the disk is made as it
 * may be found: synchronised bytes, and of the rest, for each sector by itself, any of the states that it had since. Names made, changed and removed
 * since a directory was synchronised are kept or lost in order, as file systems with a journal do. Of files that Bun writes past the C library only
 * fsync, rename and unlink are seen: what such a file holds is what it held when it was synchronised, and nothing before that. Single-threaded.
 */
#define _GNU_SOURCE
#include <dirent.h>
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

enum { disks_max = 4096, fds_max = 65536, name_max = 192, sector_bytes = 512 };

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

/* A name that was made or removed since a directory was synchronised; those of one change are kept or lost together. */
struct entry {
  struct entry *next;
  struct file *file;
  int made, change;
};

struct disk {
  struct file *files;
  struct entry *first, *last;
  long ops, off_at;      /* operations so far, and at which the power fails; -1: never */
  int changes;
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
static int (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
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

static int ends(const char *name, const char *end) {
  size_t length = strlen(name), of = strlen(end);
  return length >= of && strcmp(name + length - of, end) == 0;
}

/* Not the index of the log, which is made anew, nor what running processes have for each other. */
static int is_kept(const char *name) {
  return *name && !ends(name, "-shm") && !ends(name, ".lock") && !ends(name, ".lock-journal") && !ends(name, ".pid");
}

static struct file *present_file(struct disk *disk, const char *name) {
  for (struct file *file = disk->files; file; file = file->next)
    if (file->present && strcmp(file->name, name) == 0) return file;
  return NULL;
}

static void note_entry(struct disk *disk, struct file *file, int made) {
  struct entry *entry = calloc(1, sizeof *entry);
  *entry = (struct entry){ .file = file, .made = made, .change = disk->changes };
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

/* The synchronised directory has a change: a name that is made takes the place of the one before. */
static void keep_entry(struct disk *disk, struct entry *entry) {
  for (struct file *other = disk->files; entry->made && other; other = other->next)
    if (strcmp(other->name, entry->file->name) == 0) other->durable = 0;
  entry->file->durable = entry->made;
}

static void synchronise_names(struct disk *disk) {
  for (struct entry *entry = disk->first, *next; entry; entry = next) {
    next = entry->next;
    keep_entry(disk, entry);
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

/* A file of a name, known from here on: nothing of it is synchronised yet. */
static struct file *know(struct disk *disk, const char *name) {
  struct file *file = present_file(disk, name);
  if (file) return file;
  file = calloc(1, sizeof *file);
  snprintf(file->name, name_max, "%s", name);
  file->present = 1;
  file->next = disk->files;
  disk->files = file;
  disk->changes += 1;
  note_entry(disk, file, 1);
  return file;
}

/* What the file of a path holds now is synchronised. */
static void synchronise_all(struct file *file, const char *path) {
  int fd = real_open(path, O_RDONLY);
  struct stat facts;
  if (fd < 0 || fstat(fd, &facts) != 0) abort();
  forget_ops(file);
  fit(file, facts.st_size);
  if (pread(fd, file->bytes, facts.st_size, 0) != facts.st_size) abort();
  file->size = facts.st_size;
  real_close(fd);
}

static int open_any(const char *path, int flags, mode_t mode) {
  const char *name = "";
  int number = disk_of(path, &name);
  int kept = number && is_kept(name);
  int existed = kept && access(path, F_OK) == 0;
  if (kept && !existed && (flags & O_CREAT) && !powered(disks[number])) return refused(EIO);
  int fd = real_open(path, flags, mode);
  if (fd < 0 || fd >= fds_max) return fd;
  struct stat facts;
  int directory = number && fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode);
  fds[fd].disk = kept || directory ? number : 0;
  fds[fd].file = kept && !directory ? know(disks[number], name) : NULL;
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

/* Of a file or directory that was opened past the C library. */
static int synchronised_past(int fd, int (*real)(int)) {
  char link[64], path[512];
  const char *name = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = root_length ? readlink(link, path, sizeof path - 1) : -1;
  path[length < 0 ? 0 : length] = 0;
  int number = disk_of(path, &name);
  if (!number || (*name && !is_kept(name))) return real(fd);
  struct disk *disk = disks[number];
  if (!powered(disk)) return refused(EIO);
  struct stat facts;
  if (fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode)) synchronise_names(disk);
  else synchronise_all(know(disk, name), path);
  return 0;
}

static int synchronised(int fd, int (*real)(int)) {
  struct disk *disk = disk_at(fd);
  if (!disk) return synchronised_past(fd, real);
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
    disk->changes += 1;
    note_entry(disk, file, 0);
  }
  return done;
}

/* Gives a file another name. Nobody has it open. */
static void move(struct disk *disk, struct file *file, const char *name) {
  struct file *before = present_file(disk, name), *moved = calloc(1, sizeof *moved);
  if (before) before->present = 0;
  *moved = *file;
  snprintf(moved->name, name_max, "%s", name);
  moved->durable = 0;
  moved->bytes = memcpy(malloc(file->durable_size ? file->durable_size : 1), file->bytes ? file->bytes : "", file->durable_size);
  file->first = file->last = NULL;
  file->present = 0;
  moved->next = disk->files;
  disk->files = moved;
  note_entry(disk, moved, 1);
  note_entry(disk, file, 0);
}

int rename(const char *from, const char *to) {
  const char *name = "", *before = "";
  int number = disk_of(to, &name), same = number && disk_of(from, &before) == number;
  if (!same || !is_kept(name) || !is_kept(before)) return real_rename(from, to);
  struct disk *disk = disks[number];
  if (!powered(disk)) return refused(EIO);
  struct stat facts;
  int directory = stat(from, &facts) == 0 && S_ISDIR(facts.st_mode);
  int done = real_rename(from, to);
  if (done != 0) return done;
  if (!directory) know(disk, before);
  disk->changes += 1;
  size_t length = strlen(before);
  for (struct file *file = disk->files, *next; file; file = next) {
    next = file->next;
    if (!file->present || strncmp(file->name, before, length) != 0) continue;
    if (directory ? file->name[length] != '/' : file->name[length] != 0) continue;
    char moved[name_max];
    if (snprintf(moved, sizeof moved, "%s%s", name, file->name + length) >= name_max) abort();
    move(disk, file, moved);
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

/* All files of a disk are synchronised; `path`: of the disk, or of a directory of it. */
void life_found(const char *path) {
  DIR *directory = opendir(path);
  for (struct dirent *found; directory && (found = readdir(directory)); ) {
    if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
    char below[512];
    const char *name = "";
    snprintf(below, sizeof below, "%s/%s", path, found->d_name);
    if (found->d_type == DT_DIR) { life_found(below); continue; }
    int number = disk_of(below, &name);
    if (!number || !is_kept(name)) continue;
    synchronise_all(know(disks[number], name), below);
    synchronise_names(disks[number]);
  }
  if (directory) closedir(directory);
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
  for (char *end = path + strlen(into) + 1; (end = strchr(end, '/')); *end++ = '/') {
    *end = 0;
    mkdir(path, 0700);
  }
  int fd = real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || real_write(fd, bytes, size) != size) abort();
  real_close(fd);
}

/* Writes the files of a disk, which is in a directory, as they may be found after a power cut, into another. */
void life_image(int number, const char *from, const char *into, double seed) {
  struct disk *disk = disks[number];
  for (struct file *file = disk->files; file; file = file->next) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", from, file->name);
    if (!file->present || access(path, F_OK) == 0) continue;
    /* Removed past the C library. */
    file->present = 0;
    disk->changes += 1;
    note_entry(disk, file, 0);
  }
  drawn = (uint64_t)seed * 2862933555777941757u + 3037000493u;
  int entries = 0;
  for (struct entry *entry = disk->first; entry; entry = entry->next) entries += 1;
  int kept = below(3) == 0 ? entries : (int)below(entries + 1);
  int change = 0;
  for (struct entry *entry = disk->first; entry && (kept > 0 || entry->change == change); entry = entry->next, kept -= 1) {
    keep_entry(disk, entry);
    change = entry->change;
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
  *disks[to] = (struct disk){ .files = from->files, .first = from->first, .last = from->last, .changes = from->changes, .off_at = -1, .free_bytes = from->free_bytes };
  from->files = NULL;
  from->first = from->last = NULL;
}
