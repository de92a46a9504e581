# SPDX-License-Identifier: Apache-2.0
"""A file system whose requests fail when a test requests it. It uses the kernel's FUSE protocol without a library.

It shows a folder of the disk. strace(1) can only make system calls fail. Here, also pages that a program has mapped fail.
Every later request can fail, too, as for a disk that is unplugged or a file server that is gone."""
import ctypes
import errno
import mmap
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE = 1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15, 16
STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR = 17, 18, 20, 25, 26, 27, 28, 29, 30
ACCESS, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, RENAME2 = 34, 35, 36, 38, 42, 45

OPERATIONS = {
    "read": READ, "write": WRITE, "fsync": FSYNC, "lookup": LOOKUP, "getattr": GETATTR, "setattr": SETATTR, "open": OPEN, "create": CREATE,
    "unlink": UNLINK, "rename": RENAME, "mkdir": MKDIR, "flush": FLUSH, "fsyncdir": FSYNCDIR, "readdir": READDIR, "statfs": STATFS, "all": 0,
}
MOST_BYTES = 128 << 10


def enter_mounts():
    """Starts the running script again with separate mounts."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        sys.exit("this needs /dev/fuse")
    if os.environ.get("GLUCOPORT_MOUNTS") != "own":
        os.environ["GLUCOPORT_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "-rm", sys.executable, *sys.argv])


class FailingDisk:
    """Mounts a file system at `place` that shows `folder`. `fail` makes its requests fail, and `heal` ends this."""

    def __init__(self, folder, place):
        self.folder = folder
        # Five numbers: the operation that fails, how many of these operations succeed first, whether all later
        # ones fail, the error, and how many have failed.
        self.plan = mmap.mmap(-1, 20)
        self.heal()
        device = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},default_permissions"
        if libc.mount(b"disk", place.encode(), b"fuse", 0, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "cannot mount a file system")
        self.process = os.fork()
        if self.process == 0:
            try:
                Requests(folder, device, self.plan).serve()
            finally:
                os._exit(0)
        os.close(device)
        self.unmount = lambda: libc.umount2(place.encode(), 2)

    def fail(self, operation, after, forever, error):
        self.plan[:] = struct.pack("<iiiii", OPERATIONS[operation], after, forever, error, 0)

    def heal(self):
        self.plan[:] = struct.pack("<iiiii", -1, 0, 0, 0, 0)

    @property
    def failures(self):
        return struct.unpack("<iiiii", self.plan[:])[4]

    def end(self):
        self.heal()
        self.unmount()
        os.waitpid(self.process, 0)


class Requests:
    """Answers the requests of the kernel. Between requests, only the names of nodes and the open files are kept."""

    def __init__(self, folder, device, plan):
        self.device, self.plan = device, plan
        self.paths, self.nodes = {1: folder}, {folder: 1}
        self.answers = {
            LOOKUP: self.lookup, GETATTR: self.getattr, SETATTR: self.setattr, MKDIR: self.mkdir, UNLINK: self.unlink, RMDIR: self.rmdir,
            RENAME: self.rename, RENAME2: self.rename_with_flags, LINK: self.link, OPEN: self.open, READ: self.read, WRITE: self.write,
            STATFS: self.statfs, RELEASE: self.release, FSYNC: self.fsync, FLUSH: self.nothing, INIT: self.init, OPENDIR: self.opendir,
            READDIR: self.readdir, RELEASEDIR: self.nothing, FSYNCDIR: self.nothing, ACCESS: self.nothing, CREATE: self.create,
        }

    def serve(self):
        while True:
            try:
                request = os.read(self.device, MOST_BYTES + 65536)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return
            length, operation, unique, node = struct.unpack_from("<IIQQ", request)
            if operation in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if operation == DESTROY:
                return
            code, answer = 0, b""
            try:
                self.fail_as_planned(operation)
                handler = self.answers.get(operation)
                if handler is None:
                    code = -errno.ENOSYS
                else:
                    answer = handler(node, request[40:length]) or b""
            except OSError as error:
                code = -error.errno
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(answer), code, unique) + answer)
            except OSError:
                # The process that sent the request has ended.
                pass

    def fail_as_planned(self, operation):
        failing, after, forever, error, count = struct.unpack("<iiiii", self.plan[:])
        if operation == INIT or failing not in (0, operation) or (count and not forever):
            return
        if after > 0:
            self.plan[4:8] = struct.pack("<i", after - 1)
            return
        self.plan[16:20] = struct.pack("<i", count + 1)
        raise OSError(error, "planned")

    # The following structures have the layouts of <linux/fuse.h>.

    def init(self, node, data):
        return struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 1 << 5, 12, 9, MOST_BYTES, 1, 0, 0, 0)

    def attributes(self, found):
        moments = [int(number) for number in (found.st_atime, found.st_mtime, found.st_ctime)]
        parts = [time % 1_000_000_000 for time in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)]
        return struct.pack(
            "<QQQQQQIIIIIIIIII", found.st_ino, found.st_size, found.st_blocks, *moments, *parts, found.st_mode, found.st_nlink, found.st_uid,
            found.st_gid, 0, 4096, 0)

    def entry(self, path):
        found = os.lstat(path)
        node = self.nodes.setdefault(path, len(self.paths) + 1)
        self.paths[node] = path
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + self.attributes(found)

    def below(self, node, name):
        return os.path.join(self.paths[node], name.split(b"\0")[0].decode("utf-8", "surrogateescape"))

    def lookup(self, node, data):
        return self.entry(self.below(node, data))

    def getattr(self, node, data):
        has_file, _, file = struct.unpack_from("<IIQ", data)
        found = os.fstat(file) if has_file & 1 else os.lstat(self.paths[node])
        return struct.pack("<QII", 0, 0, 0) + self.attributes(found)

    def setattr(self, node, data):
        valid, _, file, size = struct.unpack_from("<IIQQ", data)
        mode, = struct.unpack_from("<I", data, 68)
        target = file if valid & 64 else self.paths[node]
        if valid & 8:
            os.truncate(target, size)
        if valid & 1:
            os.chmod(target, stat.S_IMODE(mode))
        if valid & (16 | 32):
            os.utime(target)
        found = os.fstat(file) if valid & 64 else os.lstat(target)
        return struct.pack("<QII", 0, 0, 0) + self.attributes(found)

    def mkdir(self, node, data):
        path = self.below(node, data[8:])
        os.mkdir(path, struct.unpack_from("<I", data)[0])
        return self.entry(path)

    def unlink(self, node, data):
        path = self.below(node, data)
        os.unlink(path)
        self.nodes.pop(path, None)

    def rmdir(self, node, data):
        path = self.below(node, data)
        os.rmdir(path)
        self.nodes.pop(path, None)

    def rename_with_flags(self, node, data):
        flags, = struct.unpack_from("<I", data, 8)
        if flags & ~1 or (flags and os.path.lexists(self.below(struct.unpack_from("<Q", data)[0], data[16:].split(b"\0")[1]))):
            raise OSError(errno.EEXIST if flags == 1 else errno.EINVAL, "not this way")
        self.rename(node, data[:8] + data[16:])

    def rename(self, node, data):
        folder, = struct.unpack_from("<Q", data)
        source, target = (self.below(*place) for place in zip((node, folder), data[8:].split(b"\0")))
        os.rename(source, target)
        moved = self.nodes.pop(source, None)
        if moved is not None:
            self.nodes[target], self.paths[moved] = moved, target

    def link(self, node, data):
        path = self.below(node, data[8:])
        os.link(self.paths[struct.unpack_from("<Q", data)[0]], path)
        return self.entry(path)

    def open(self, node, data):
        flags = struct.unpack_from("<I", data)[0] & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND)
        return struct.pack("<QII", os.open(self.paths[node], flags), 0, 0)

    def create(self, node, data):
        flags, mode = struct.unpack_from("<II", data)
        path = self.below(node, data[16:])
        file = os.open(path, flags & ~os.O_APPEND | os.O_CREAT, stat.S_IMODE(mode))
        return self.entry(path) + struct.pack("<QII", file, 0, 0)

    def read(self, node, data):
        file, place, size = struct.unpack_from("<QQI", data)
        return os.pread(file, size, place)

    def write(self, node, data):
        file, place, size = struct.unpack_from("<QQI", data)
        return struct.pack("<II", os.pwrite(file, data[40:40 + size], place), 0)

    def statfs(self, node, data):
        found = os.statvfs(self.paths[node])
        return struct.pack(
            "<QQQQQIIII24x", found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree, found.f_bsize, 255, found.f_frsize, 0)

    def release(self, node, data):
        os.close(struct.unpack_from("<Q", data)[0])

    def fsync(self, node, data):
        # The test checks what reaches the disk in which order, and not whether it survives a loss of power.
        return b""

    def opendir(self, node, data):
        return struct.pack("<QII", 0, 0, 0)

    def readdir(self, node, data):
        _, start, size = struct.unpack_from("<QQI", data)
        answer = b""
        for place, name in enumerate([".", "..", *sorted(os.listdir(self.paths[node]))][start:], start + 1):
            text = name.encode("utf-8", "surrogateescape")
            entry = struct.pack("<QQII", 1, place, len(text), 0) + text
            entry += b"\0" * (-len(entry) % 8)
            if len(answer) + len(entry) > size:
                break
            answer += entry
        return answer

    def nothing(self, node, data):
        return b""
