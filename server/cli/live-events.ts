import { createInterface } from 'node:readline';
import { windowRoutes } from '../api/routes/window.ts';
import { ExitWith, NO } from './exit-with.ts';
import type { PlatformClient } from './platform-client.ts';

const EVENT = 'event: ';

/**
 * Calls `onChange` when the stream of changes has begun and, one call after the other, after each change of one of the topics.
 *
 * @throws ExitWith when the platform stops
 */
export async function followChanges(
  client: PlatformClient,
  topics: readonly string[],
  onChange: () => Promise<void>,
): Promise<never> {
  const [method = '', path = ''] = windowRoutes.followEvents.route.split(' ');
  const options = { accept: 'text/event-stream', timeoutMs: Number.POSITIVE_INFINITY };
  const input = await client.stream(method.toUpperCase(), path, options);
  // An error of the stream has the same meaning as its end.
  input.on('error', () => {});
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: line } = await lines.next().catch(() => ({ done: true, value: '' }));
    if (done) break;
    if (line.startsWith(EVENT) && ['hello', 'reset', ...topics].includes(line.slice(EVENT.length))) await onChange();
  }
  throw new ExitWith(NO, `the platform at ${client.baseUrl} has stopped`);
}

/** A moment as date and time of this machine's time zone. */
export function localTime(moment: string): string {
  const date = new Date(moment);
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')}`;
}
