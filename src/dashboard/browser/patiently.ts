/** Asks for an address, and again when a server that is busy says so: as often as somebody would look at an empty picture. */
export async function patiently(url: string, signal: AbortSignal): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, { signal });
    const after_s = Number(response.headers.get("Retry-After"));
    if ((response.status !== 429 && response.status !== 503) || !(after_s > 0) || tries === tries_max)
      return response;
    await new Promise((resolve) => setTimeout(resolve, Math.min(after_s, after_s_max) * 1000));
  }
}

const tries_max = 5;
const after_s_max = 15;
