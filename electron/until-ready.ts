import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const LOOK_EVERY_MS = 50;

const readySchema = z
  .object({
    baseUrl: z.url({ protocol: /^https?$/ }),
    metaUrl: z.url(),
    securityUrl: z.url(),
    gatewayUrl: z.url(),
    /** Address that signs in once. */
    windowUrl: z.url({ protocol: /^https?$/ }).optional(),
  })
  .transform((ready) => ({ ...ready, windowUrl: ready.windowUrl ?? `${ready.baseUrl}/ui/` }));

/** Addresses of a platform that is ready. */
export type Addresses = z.output<typeof readySchema>;

/**
 * Waits until a server has written its ready file.
 *
 * @param signal rejects when aborted
 */
export async function untilReady(file: string, signal: AbortSignal): Promise<Addresses> {
  for (;;) {
    signal.throwIfAborted();
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return readySchema.parse(JSON.parse(text));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
