/** How zigbee-herdsman begins the message of a request to an endpoint that failed. */
const request = /^(ZCL command|CommandResponse|Bind|Unbind) 0x[0-9a-f]{16}\//;

/**
 * Whether a fault that nothing caught comes from what a device's definition does by itself: a request that it sends without waiting
 * for the answer, or a timer of its own. Definitions are outside of the bundle, so that the path stands in the trace.
 */
export function isStray(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  return request.test(fault.message) || (fault.stack ?? "").includes("/zigbee-herdsman-converters/");
}
