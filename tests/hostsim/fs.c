/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "count.h"
#include "entries.h"
#include "faults.h"
#include "fs.h"

/* linux/fuse.h; libfuse 3.14 has no name for it. Without it the kernel lets one process at a time
 * write to a file, and a hanging bind would stop everybody's. */
#define FOPEN_DIRECT_IO_AND_PARALLEL_WRITES ((1u << 0) | (1u << 6))
struct open_reply {
	uint64_t fh;
	uint32_t open_flags;
	int32_t backing_id;
};

struct open_file {
	pthread_mutex_t mutex;  /* kernfs serialises writes on one open file (of->mutex) */
	_Atomic unsigned users; /* the file, and writes: a reply lets it be closed at once */
};

static void put_file(struct open_file *open)
{
	if (--open->users == 0)
		free(open);
}

struct open_dir {
	struct dir_entry {
		char name[48];
		struct stat stat;
	} * entries;
	size_t n, size;
};

static char *texts[32];
static size_t n_texts;

void fs_set_text(const char *spec)
{
	if (n_texts < sizeof(texts) / sizeof(*texts))
		texts[n_texts++] = must_dup(spec);
}

static void end(const struct call *c, int result, bool kill_it)
{
	if (result < 0)
		faults_trace_result(c, result);
	if (c->held)
		pthread_mutex_unlock(&c->held->lock);
	if (kill_it)
		faults_kill(c);
}

/* Counts the call and lets the fault plan have its say. True: a reply was sent already. */
static bool begin(fuse_req_t req, struct call *c, bool *ret_kill)
{
	int error;
	enum verdict verdict;

	c->tid = fuse_req_ctx(req)->pid;
	*ret_kill = false;
	error = faults_again(c);
	if (error) {
		fuse_reply_err(req, error);
		return true;
	}
	count_caller(c);
	count_call(c);
	verdict = faults_check(c, &error);
	switch (verdict) {
	case CALL_GOES_ON:
		return false;
	case CALL_FAILS:
		end(c, -error, false);
		fuse_reply_err(req, error);
		return true;
	case CALL_IS_SHORT:
		if (c->op == OP_WRITE) {
			size_t len = strlen(c->text);

			fuse_reply_write(req, len > 1 ? len / 2 : len);
			return true;
		}
		c->cut = true;
		return false;
	case CALL_THEN_KILL:
		*ret_kill = true;
		return false;
	}
	return false;
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	(void) userdata;
	/* readdirplus would look up what nobody asked for */
	conn->want &= ~(unsigned) (FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO);
	/* a new size by setattr instead: the kernel would note a size of 0, and write beyond it one
	 * at a time */
	conn->want &= ~(unsigned) FUSE_CAP_ATOMIC_O_TRUNC;
	/* a lookup that hangs must not stop others in the same directory */
	conn->want |= FUSE_CAP_PARALLEL_DIROPS;
}

static void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct call c = { .op = OP_LOOKUP, .node = parent, .name = name };
	struct fuse_entry_param entry = { .generation = 1 };
	bool kill_it, there;

	if (begin(req, &c, &kill_it))
		return;
	entry.ino = tree_lookup(parent, name);
	there = entry.ino && tree_stat(entry.ino, &entry.attr);
	end(&c, there ? 0 : -ENOENT, kill_it);
	if (!there) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	count_found(&c, entry.ino);
	fuse_reply_entry(req, &entry);
}

static void fs_getattr(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *file)
{
	struct stat stat;

	(void) file;
	if (tree_stat(node, &stat))
		fuse_reply_attr(req, &stat, 0);
	else
		fuse_reply_err(req, ENOENT);
}

/* O_TRUNC comes as a new size; nothing is truncated. */
static void fs_setattr(fuse_req_t req, fuse_ino_t node, struct stat *attr, int what,
		       struct fuse_file_info *file)
{
	(void) attr;
	(void) what;
	fs_getattr(req, node, file);
}

static void fs_readlink(fuse_req_t req, fuse_ino_t node)
{
	struct call c = { .op = OP_READLINK, .node = node };
	char target[TREE_PATH_MAX];
	bool kill_it;
	int r;

	if (begin(req, &c, &kill_it))
		return;
	r = tree_readlink(node, target, sizeof(target));
	end(&c, r, kill_it);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_readlink(req, target);
}

/* kernfs_fop_open() looks at the mode even for root (KERNFS_ROOT_EXTRA_OPEN_PERM_CHECK); others
 * have the last three bits. */
static int may_open(node_t node, int flags, uid_t uid)
{
	int mode = flags & O_ACCMODE;
	struct stat stat;
	mode_t bits;

	if (!tree_stat(node, &stat))
		return -ENOENT;
	bits = uid ? stat.st_mode & 7 : stat.st_mode & 0777;
	if ((mode != O_RDONLY && !(bits & 0222)) || (mode != O_WRONLY && !(bits & 0444)))
		return -EACCES;
	return 0;
}

static void fs_open(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *file)
{
	struct call c = { .op = OP_OPEN, .node = node };
	struct open_reply reply = { .open_flags = FOPEN_DIRECT_IO_AND_PARALLEL_WRITES };
	struct open_file *open;
	bool kill_it;
	int r;

	if (begin(req, &c, &kill_it))
		return;
	r = may_open(node, file->flags, fuse_req_ctx(req)->uid);
	if (r == 0)
		r = tree_open(node);
	end(&c, r, kill_it);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	open = must_alloc(1, sizeof(*open));
	pthread_mutex_init(&open->mutex, NULL);
	open->users = 1;
	reply.fh = (uint64_t) (uintptr_t) open;
	if (fuse_reply_buf(req, (char *) &reply, sizeof(reply)) == -ENOENT) { /* interrupted */
		tree_close(node);
		free(open);
	}
}

static void fs_release(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *file)
{
	put_file((struct open_file *) (uintptr_t) file->fh);
	tree_close(node);
	fuse_reply_err(req, 0);
}

static int text_instead(node_t node, char *ret, size_t size)
{
	char path[TREE_PATH_MAX], glob[256];

	if (!n_texts)
		return -ENOENT;
	tree_path(node, path);
	for (size_t i = 0; i < n_texts; i++) {
		snprintf(glob, sizeof(glob), "%.*s", (int) strcspn(texts[i], "="), texts[i]);
		if (fnmatch(glob, path, 0) == 0)
			return snprintf(ret, size, "%s\n", strchrnul(texts[i], '=') + 1);
	}
	return -ENOENT;
}

static void fs_read(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset,
		    struct fuse_file_info *file)
{
	struct call c = { .op = OP_READ, .node = node };
	char text[TEXT_MAX];
	bool kill_it;
	int r;

	(void) file;
	if (offset == 0 && begin(req, &c, &kill_it))
		return;
	r = text_instead(node, text, sizeof(text));
	if (r < 0)
		r = tree_read(node, text, sizeof(text));
	if (offset == 0)
		end(&c, r, kill_it);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	if (c.cut)
		r /= 2;
	if (offset >= r)
		size = 0;
	else if (size > (size_t) (r - offset))
		size = (size_t) (r - offset);
	fuse_reply_buf(req, text + (size ? offset : 0), size);
}

/* kernfs_fop_write_iter(): a page at most, NUL-terminated; the offset is of no interest. */
static void fs_write(fuse_req_t req, fuse_ino_t node, const char *buf, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	struct open_file *open = (struct open_file *) (uintptr_t) file->fh;
	size_t len = size < 4096 ? size : 4096;
	struct call c = { .op = OP_WRITE, .node = node };
	char text[4097];
	bool kill_it;
	int r;

	(void) offset;
	memcpy(text, buf, len);
	text[len] = 0;
	c.text = text;
	open->users++;
	pthread_mutex_lock(&open->mutex);
	if (!begin(req, &c, &kill_it)) {
		r = tree_write(node, text, len);
		end(&c, r, kill_it);
		if (r < 0)
			fuse_reply_err(req, -r);
		else
			fuse_reply_write(req, len);
	}
	pthread_mutex_unlock(&open->mutex);
	put_file(open);
}

static void add_entry(void *userdata, const char *name, node_t node, mode_t type)
{
	struct open_dir *dir = userdata;
	struct dir_entry *entry;

	if (dir->n == dir->size) {
		dir->size = dir->size ? 2 * dir->size : 64;
		dir->entries = realloc(dir->entries, dir->size * sizeof(*dir->entries));
		if (!dir->entries)
			abort();
	}
	entry = &dir->entries[dir->n++];
	*entry = (struct dir_entry){ .stat = { .st_ino = node, .st_mode = type } };
	snprintf(entry->name, sizeof(entry->name), "%s", name);
}

static void fs_opendir(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *file)
{
	struct stat stat;

	if (!tree_stat(node, &stat)) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	file->fh = (uint64_t) (uintptr_t) must_alloc(1, sizeof(struct open_dir));
	fuse_reply_open(req, file);
}

/* The list is made by the first readdir: opening a directory only as a starting point for lookups
 * is no reading of it. */
static bool fill(fuse_req_t req, node_t node, struct open_dir *dir)
{
	struct call c = { .op = OP_READDIR, .node = node };
	bool kill_it;
	int r;

	if (begin(req, &c, &kill_it))
		return false;
	dir->n = 0;
	add_entry(dir, ".", node, S_IFDIR);
	add_entry(dir, "..", TREE_ROOT, S_IFDIR);
	r = tree_list(node, add_entry, dir);
	end(&c, r, kill_it);
	if (r < 0)
		fuse_reply_err(req, -r);
	return r == 0;
}

static void fs_readdir(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset,
		       struct fuse_file_info *file)
{
	struct open_dir *dir = (struct open_dir *) (uintptr_t) file->fh;
	char *buf;
	size_t n = 0, used = 0;

	if (offset == 0 && !fill(req, node, dir))
		return;
	buf = must_alloc(1, size);
	for (size_t i = (size_t) offset; i < dir->n; i++, used += n) {
		n = fuse_add_direntry(req, buf + used, size - used, dir->entries[i].name,
				      &dir->entries[i].stat, (off_t) i + 1);
		if (n > size - used)
			break;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void fs_releasedir(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *file)
{
	struct open_dir *dir = (struct open_dir *) (uintptr_t) file->fh;

	(void) node;
	free(dir->entries);
	free(dir);
	fuse_reply_err(req, 0);
}

static void fs_access(fuse_req_t req, fuse_ino_t node, int mask)
{
	struct stat stat;

	if (!tree_stat(node, &stat))
		fuse_reply_err(req, ENOENT);
	else if ((mask & R_OK && !(stat.st_mode & 0444)) || (mask & W_OK && !(stat.st_mode & 0222)))
		fuse_reply_err(req, EACCES);
	else
		fuse_reply_err(req, 0);
}

/* kernfs has no create(), mkdir() or unlink() for user space */
static void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *file)
{
	(void) parent, (void) name, (void) mode, (void) file;
	fuse_reply_err(req, EACCES);
}

static void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void) parent, (void) name, (void) mode;
	fuse_reply_err(req, EPERM);
}

static void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void) parent, (void) name;
	fuse_reply_err(req, EPERM);
}

static const struct fuse_lowlevel_ops ops = {
	.init = fs_init,
	.lookup = fs_lookup,
	.getattr = fs_getattr,
	.setattr = fs_setattr,
	.readlink = fs_readlink,
	.open = fs_open,
	.release = fs_release,
	.read = fs_read,
	.write = fs_write,
	.opendir = fs_opendir,
	.readdir = fs_readdir,
	.releasedir = fs_releasedir,
	.access = fs_access,
	.create = fs_create,
	.mkdir = fs_mkdir,
	.unlink = fs_unlink,
	.rmdir = fs_unlink,
};

static void *serve(void *session)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();

	/* a thread for each operation that hangs, and some */
	fuse_loop_cfg_set_max_threads(config, 1024);
	fuse_loop_cfg_set_idle_threads(config, 64);
	fuse_session_loop_mt(session, config);
	return NULL;
}

int fs_start(const char *where)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *session;
	char options[128], fd_path[32];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pthread_t thread;

	if (fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("hostsim", where, "fuse.hostsim", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0)
		return -errno;
	fuse_opt_add_arg(&args, "hostsim");
	session = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!session)
		return -ENOMEM;
	snprintf(fd_path, sizeof(fd_path), "/dev/fd/%d", fd);
	if (fuse_session_mount(session, fd_path) != 0)
		return -EIO;
	return -pthread_create(&thread, NULL, serve, session);
}
