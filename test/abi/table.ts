/**
 * Numbers and layouts that the program hands to the kernel and to the C library, from the C headers of Linux: each C
 * expression with its value, or with its values where the processors differ. The program is compared with this table on
 * every machine (abi.test.ts), and the table with the headers wherever there is a C compiler for one of the processors.
 */
export type Processor = "x64" | "arm64";

export interface Headers {
  readonly include: readonly string[];
  readonly values: Readonly<Record<string, number | Readonly<Record<Processor, number>>>>;
}

/** The kernel's own, for ioctl: linux-libc-dev, most of it from asm-generic. */
const kernel: Headers = {
  include: ["asm/termios.h", "asm/ioctls.h", "linux/serial.h", "linux/tty_flags.h", "linux/major.h"],
  values: {
    TCSBRK: 0x5409,
    TCFLSH: 0x540b,
    TCGETS2: 0x802c542a,
    TCSETS2: 0x402c542b,
    TIOCEXCL: 0x540c,
    TIOCNXCL: 0x540d,
    TIOCGEXCL: 0x80045440,
    TIOCOUTQ: 0x5411,
    TIOCMGET: 0x5415,
    TIOCMBIS: 0x5416,
    TIOCMBIC: 0x5417,
    TIOCSBRK: 0x5427,
    TIOCCBRK: 0x5428,
    TIOCGSERIAL: 0x541e,
    TIOCSSERIAL: 0x541f,
    TCIOFLUSH: 2,
    TIOCM_DTR: 0x002,
    TIOCM_RTS: 0x004,
    TIOCM_CTS: 0x020,
    TIOCM_CD: 0x040,
    TIOCM_DSR: 0x100,
    ASYNC_LOW_LATENCY: 0x2000,
    UNIX98_PTY_SLAVE_MAJOR: 136,
    UNIX98_PTY_MAJOR_COUNT: 8,
    IGNPAR: 0o4,
    IXON: 0o2000,
    IXANY: 0o4000,
    IXOFF: 0o10000,
    CS5: 0,
    CS6: 0o20,
    CS7: 0o40,
    CS8: 0o60,
    CSTOPB: 0o100,
    CREAD: 0o200,
    PARENB: 0o400,
    PARODD: 0o1000,
    HUPCL: 0o2000,
    CLOCAL: 0o4000,
    CMSPAR: 0o10000000000,
    CRTSCTS: 0o20000000000,
    CBAUD: 0o10017,
    CIBAUD: 0o2003600000,
    BOTHER: 0o10000,
    B50: 1,
    B75: 2,
    B110: 3,
    B134: 4,
    B150: 5,
    B200: 6,
    B300: 7,
    B600: 8,
    B1200: 9,
    B1800: 10,
    B2400: 11,
    B4800: 12,
    B9600: 13,
    B19200: 14,
    B38400: 15,
    B57600: 0o10001,
    B115200: 0o10002,
    B230400: 0o10003,
    B460800: 0o10004,
    B500000: 0o10005,
    B576000: 0o10006,
    B921600: 0o10007,
    B1000000: 0o10010,
    B1152000: 0o10011,
    B1500000: 0o10012,
    B2000000: 0o10013,
    B2500000: 0o10014,
    B3000000: 0o10015,
    B3500000: 0o10016,
    B4000000: 0o10017,
    VTIME: 5,
    VMIN: 6,
    "sizeof(struct termios2)": 44,
    "offsetof(struct termios2, c_iflag)": 0,
    "offsetof(struct termios2, c_cflag)": 8,
    "offsetof(struct termios2, c_cc)": 17,
    "offsetof(struct termios2, c_ispeed)": 36,
    "offsetof(struct termios2, c_ospeed)": 40,
    "sizeof(struct serial_struct)": 72,
    "offsetof(struct serial_struct, flags)": 16,
  },
};

/** The C library's, for its functions: libc6-dev. */
const library: Headers = {
  include: ["fcntl.h", "termios.h", "sys/epoll.h", "sys/file.h", "sys/socket.h", "sys/timex.h", "sys/un.h"],
  values: {
    O_RDWR: 0o2,
    O_NOCTTY: 0o400,
    O_NONBLOCK: 0o4000,
    O_CLOEXEC: 0o2000000,
    // Used nowhere so far; they show that Bun's own differ with the processor as C's do.
    O_DIRECTORY: { x64: 0o200000, arm64: 0o40000 },
    O_NOFOLLOW: { x64: 0o400000, arm64: 0o100000 },
    O_DIRECT: { x64: 0o40000, arm64: 0o200000 },
    LOCK_EX: 2,
    LOCK_NB: 4,
    LOCK_UN: 8,
    EPOLL_CLOEXEC: 0o2000000,
    EPOLL_CTL_ADD: 1,
    EPOLL_CTL_DEL: 2,
    EPOLL_CTL_MOD: 3,
    EPOLLIN: 0x001,
    EPOLLPRI: 0x002,
    EPOLLOUT: 0x004,
    EPOLLERR: 0x008,
    EPOLLHUP: 0x010,
    EPOLLRDHUP: 0x2000,
    EPOLLONESHOT: 0x40000000,
    EPOLLET: 0x80000000,
    // Packed on x86-64 alone.
    "sizeof(struct epoll_event)": { x64: 12, arm64: 16 },
    "offsetof(struct epoll_event, data)": { x64: 4, arm64: 8 },
    AF_UNIX: 1,
    SOCK_DGRAM: 2,
    SOCK_CLOEXEC: 0o2000000,
    MSG_DONTWAIT: 0x40,
    MSG_NOSIGNAL: 0x4000,
    "offsetof(struct sockaddr_un, sun_path)": 2,
    "sizeof(((struct sockaddr_un *)0)->sun_path)": 108,
    "sizeof(struct termios)": 60,
    STA_UNSYNC: 0x40,
    "sizeof(struct timex)": 208,
    "offsetof(struct timex, status)": 40,
  },
};

/** Apart, because each declares a `struct termios` of its own. */
export const headers: readonly Headers[] = [kernel, library];

/** Every expression with its value on this processor. */
export function valuesOn(processor: Processor): Record<string, number> {
  const of = (entry: Headers["values"][string]) => (typeof entry === "number" ? entry : entry[processor]);
  return Object.fromEntries(
    headers.flatMap(({ values }) => Object.entries(values).map(([name, value]) => [name, of(value)])),
  );
}
