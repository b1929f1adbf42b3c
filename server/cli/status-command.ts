import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { platformRoutes } from '../api/routes/meta-global.ts';
import { defineCommand, timeout } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { findTarget, platformOptions, type Target } from './instance-options.ts';
import { rowLines } from './terminal.ts';

const LOOK_EVERY_MS = 200;
const addressesSchema = z.looseObject({ metaUrl: z.string(), securityUrl: z.string(), gatewayUrl: z.string() });

export const statusCommand = defineCommand({
  name: 'status',
  description: 'print whether the platform is running, its addresses and its health; exit code 1 if it is not healthy',
  options: platformOptions,
  async run({ options, terminal, print }) {
    const status = await statusOf(await findTarget(options, terminal));
    // `began` distinguishes two processes with the same id.
    const shownRows = Object.entries(status).filter(([name]) => name !== 'began');
    print(status, rowLines(shownRows.map(([name, value]) => [name, textOf(value)])));
    if (!status.running || status.health !== 'healthy') throw new ExitWith(NO);
  },
});

export const waitCommand = defineCommand({
  name: 'wait',
  description: 'wait until the platform is ready, then print its address; exit code 1 after a timeout',
  options: { timeout: timeout(30), ...platformOptions },
  async run({ options, terminal, print }) {
    const untilMs = terminal.nowMs() + options.timeout * 1000;
    for (;;) {
      const { client, dataDir } = await findTarget(options, terminal);
      const leftMs = Math.max(1, Math.ceil(untilMs - terminal.nowMs()));
      const addresses = await client?.json('GET', '/', addressesSchema, { timeoutMs: leftMs }).catch(notReady);
      if (client && addresses) return print({ baseUrl: client.baseUrl, ...addresses }, [client.baseUrl]);
      if (terminal.nowMs() > untilMs) {
        const where = dataDir === undefined ? `at ${client?.baseUrl}` : `on ${dataDir}`;
        throw new ExitWith(NO, `no platform responded ${where} within ${options.timeout} s`);
      }
      await delay(LOOK_EVERY_MS);
    }
  },
});

/** Ignores an unreachable platform, to try again; rethrows all other errors. */
function notReady(failure: unknown): undefined {
  if (failure instanceof ExitWith && failure.exitCode === NO) return undefined;
  throw failure;
}

interface Status {
  running: boolean;
  health?: string;
  [more: string]: unknown;
}

async function statusOf({ client, dataDir, instance }: Target): Promise<Status> {
  if (!client) return { running: false, dataDir };
  try {
    const { status, version, services } = await client.ask(platformRoutes.readAbout);
    const { metaUrl, securityUrl, gatewayUrl } = await client.json('GET', '/', addressesSchema);
    const addresses = { baseUrl: client.baseUrl, metaUrl, securityUrl, gatewayUrl };
    return { running: true, health: status, version, ...addresses, services, ...instance };
  } catch (failure) {
    // The process is alive, but does not respond like a platform.
    if (!instance || !(failure instanceof ExitWith)) throw failure;
    return { running: false, reason: failure.message, dataDir };
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return value === true ? 'yes' : value === false ? 'no' : String(value);
  return Object.entries(value)
    .map(([name, state]) => `${name}: ${state}`)
    .join(', ');
}
