/**
 * Loaded before every test (bunfig.toml). Where a test fails and the end of its scope fails too, Bun prints a SuppressedError without a
 * word of either: its message is both errors, that of the test first.
 */
Object.defineProperty(SuppressedError.prototype, "message", {
  configurable: true,
  get(this: SuppressedError) {
    return `${Bun.inspect(this.suppressed)}\nand then, at the end of its scope: ${Bun.inspect(this.error)}`;
  },
});
