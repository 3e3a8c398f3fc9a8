import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";

/** A new, empty store. */
export type MakeStore = (options?: { home?: number }) => Promise<{ store: GatewayStore } & AsyncDisposable>;
