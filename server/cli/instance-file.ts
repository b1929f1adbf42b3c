import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { UserError } from '../config.ts';
import { IN_MEMORY } from '../config-schema.ts';
import type { Emulator } from '../emulator.ts';
import { readKept } from '../machine/kept-file.ts';
import { isAlive } from '../machine/processes.ts';
import { writeWhole } from '../machine/write-whole.ts';
import { reasonOf } from '../model/reason.ts';

/** How other commands find a running platform: by this file in its data folder. */
const FILE = 'instance.json';

const instanceSchema = z.object({
  pid: z.int().positive(),
  version: z.string(),
  /** ISO-8601 UTC. */
  startedAt: z.string(),
  baseUrl: z.url(),
  metaUrl: z.url(),
  securityUrl: z.url(),
  gatewayUrl: z.url(),
  crmUrl: z.url(),
  dataDir: z.string(),
});

/** A platform that was started on a data folder. */
export type InstanceRecord = z.output<typeof instanceSchema>;

/**
 * Tells other commands of the platform, in its data folder and for its owner's eyes only. One in memory has none: nobody
 * could find it there.
 *
 * @throws UserError when the file cannot be written
 */
export async function writeInstanceFile(emulator: Emulator, pid: number): Promise<void> {
  const { baseUrl, metaUrl, securityUrl, gatewayUrl, crmUrl, dataDir } = emulator;
  if (dataDir === IN_MEMORY) return;
  const addresses = { baseUrl, metaUrl, securityUrl, gatewayUrl, crmUrl };
  const startedAt = new Date().toISOString();
  const record: InstanceRecord = { pid, version: manifest.version, startedAt, ...addresses, dataDir };
  const file = join(dataDir, FILE);
  try {
    await writeWhole(file, `${JSON.stringify(record, null, 2)}\n`);
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new UserError(`the file that tells where the platform runs cannot be written: ${reason}`, { cause });
  }
}

/** Takes the file away when the platform stops; one that tells of another process, in a folder put in its place, stays. */
export async function removeInstanceFile({ dataDir }: Emulator, pid: number): Promise<void> {
  if (dataDir === IN_MEMORY) return;
  const file = join(dataDir, FILE);
  if ((await readKept(file, instanceSchema))?.pid === pid) await rm(file, { force: true });
}

/** The platform that was last started on a data folder; undefined when it has ended, whether it could say so or not. */
export async function findInstance(dataDir: string): Promise<InstanceRecord | undefined> {
  const kept = await readKept(join(dataDir, FILE), instanceSchema);
  return kept && isAlive(kept.pid) ? kept : undefined;
}
