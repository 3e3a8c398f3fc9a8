/** A writer's thread that ends without a word at the first thing it is asked. */
declare const self: Worker;
self.onmessage = () => process.exit(3);

export {};
