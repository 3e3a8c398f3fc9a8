import { type Listener, watcher } from "./watcher.ts";

/** Called for each event: with an error alone, or with null, the descriptor and the bits that are set. */
export type EpollCallback = (error: Error | null, fd?: number, events?: number) => void;

/**
 * Waits for events on descriptors of any kind that the kernel can poll, and calls back for each. An event is
 * handled before the next one is looked for, so that a descriptor that stays ready (level-triggered, as it
 * is unless EPOLLET says otherwise) calls back again and again, but never piles up.
 *
 * While at least one descriptor is watched the process stays alive.
 */
export class Epoll {
  static readonly EPOLLIN = 0x001;
  static readonly EPOLLPRI = 0x002;
  static readonly EPOLLOUT = 0x004;
  static readonly EPOLLERR = 0x008;
  static readonly EPOLLHUP = 0x010;
  static readonly EPOLLRDHUP = 0x2000;
  static readonly EPOLLONESHOT = 0x40000000;
  static readonly EPOLLET = 0x80000000;

  readonly #listener: Listener;
  #closed = false;

  constructor(callback: EpollCallback) {
    if (typeof callback !== "function") throw new Error("First argument to constructor must be a callback");
    this.#listener = { call: callback };
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Watches a descriptor. Throws the kernel's error: EPERM for one that can't be polled, EEXIST, EBADF. */
  add(fd: number, events: number): this {
    this.#check("add", fd, events);
    watcher.add(fd, events, this.#listener);
    return this;
  }

  /** Changes the events that a descriptor is watched for; after EPOLLONESHOT, arms it again. */
  modify(fd: number, events: number): this {
    this.#check("modify", fd, events);
    watcher.modify(fd, events, this.#listener);
    return this;
  }

  /** Stops watching a descriptor: nothing of it is called back any more, not even what has just happened. */
  remove(fd: number): this {
    this.#check("remove", fd, 0);
    watcher.remove(fd, this.#listener);
    return this;
  }

  /** Stops watching every descriptor. The descriptors themselves stay open. */
  close(): null {
    if (this.#closed) throw new Error("close can't be called more than once");
    this.#closed = true;
    watcher.removeAll(this.#listener);
    return null;
  }

  #check(method: string, fd: number, events: number): void {
    if (this.#closed) throw new Error(`${method} can't be called after calling close`);
    if (Number.isInteger(fd) && typeof events === "number") return;
    const expected = method === "remove" ? "(int fd)" : "(int fd, int events)";
    throw new Error(`incorrect arguments passed to ${method}${expected}`);
  }
}
