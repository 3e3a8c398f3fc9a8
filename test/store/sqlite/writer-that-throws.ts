/** A writer's thread with an error that nobody catches. */
declare const self: Worker;
self.onmessage = () => {
  throw new Error("out of order");
};

export {};
