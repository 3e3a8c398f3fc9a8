import { control, createEpoll, type ReadyEvent } from "./libc.ts";
import type { FromThread, ToThread } from "./thread.ts";

/** The owner of registered descriptors; one for each Epoll. */
export interface Listener {
  readonly call: (error: Error | null, fd?: number, events?: number) => void;
}

interface Registration {
  readonly number: number;
  readonly listener: Listener;
}

/**
 * The one epoll instance of this JavaScript thread and the thread that waits for it. Nothing is made before
 * the first descriptor is added; afterwards the thread sleeps in the kernel between events.
 */
class Watcher {
  readonly #registrations = new Map<number, Registration>();
  /** Set to 1 when an event has been handled: the thread waits for it before it looks for the next. */
  readonly #handled = new Int32Array(new SharedArrayBuffer(4));
  #epoll: number | undefined;
  #thread: Worker | undefined;
  #next_number = 1;

  add(fd: number, events: number, listener: Listener): void {
    this.#epoll ??= createEpoll();
    // A descriptor that was closed and opened again may still have a registration here, but not in the kernel.
    const number = this.#next_number++ >>> 0;
    control(this.#epoll, "add", { fd, events, registration: number });
    this.#registrations.set(fd, { number, listener });
    this.#thread ??= this.#startThread(this.#epoll);
    this.#thread.ref();
  }

  modify(fd: number, events: number, listener: Listener): void {
    const registration = this.#ownedBy(listener, fd);
    control(this.#epoll ?? -1, "modify", { fd, events, registration: registration.number });
  }

  remove(fd: number, listener: Listener): void {
    const { number } = this.#ownedBy(listener, fd);
    this.#registrations.delete(fd);
    this.#letExit();
    control(this.#epoll ?? -1, "remove", { fd, events: 0, registration: number });
  }

  removeAll(listener: Listener): void {
    for (const [fd, registration] of [...this.#registrations]) {
      if (registration.listener !== listener) continue;
      try {
        this.remove(fd, listener);
      } catch {
        // Closed before it was removed: the kernel has forgotten it by itself.
      }
    }
  }

  #ownedBy(listener: Listener, fd: number): Registration {
    const registration = this.#registrations.get(fd);
    if (registration?.listener === listener) return registration;
    throw Object.assign(new Error(`ENOENT: descriptor ${fd} was not added`), { code: "ENOENT" });
  }

  #startThread(epoll: number): Worker {
    const thread = new Worker(new URL("./thread.ts", import.meta.url), { smol: true });
    thread.onmessage = ({ data }: MessageEvent<FromThread>) => this.#deliver(data);
    thread.onerror = (event) => this.#fail(new Error(event.message));
    thread.postMessage({ epoll, handled: this.#handled } satisfies ToThread);
    return thread;
  }

  #deliver(message: FromThread): void {
    if ("failure" in message) {
      this.#fail(new Error(message.failure));
      return;
    }
    try {
      this.#dispatch(message);
    } finally {
      Atomics.store(this.#handled, 0, 1);
      Atomics.notify(this.#handled, 0);
    }
  }

  #dispatch({ fd, events, registration }: ReadyEvent): void {
    const current = this.#registrations.get(fd);
    // Removed between the event and now, or another file under the same number: not for anyone.
    if (current?.number !== registration) return;
    current.listener.call(null, fd, events);
  }

  /** The thread is gone for good: everyone who waits for it is told, and a later `add` starts anew. */
  #fail(error: Error): void {
    const listeners = new Set([...this.#registrations.values()].map(({ listener }) => listener));
    this.#registrations.clear();
    this.#thread?.terminate();
    this.#thread = undefined;
    for (const listener of listeners) listener.call(error);
  }

  #letExit(): void {
    if (this.#registrations.size === 0) this.#thread?.unref();
  }
}

export const watcher = new Watcher();
