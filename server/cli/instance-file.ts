import { once } from 'node:events';
import { access, constants, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { codeOf } from '../model/errors.ts';
import { type ConfigWithOrigins, UserError } from '../platform/config.ts';
import { IN_MEMORY } from '../platform/config-schema.ts';
import { type ListenerUrls, listeners, urlsOf } from '../platform/declarations.ts';
import type { Emulator } from '../platform/emulator.ts';
import { removeIfPossible } from '../system/files-in-use.ts';
import { beginOf, lifeOfProcess } from '../system/processes.ts';
import { readKept, writeWhole } from '../system/write-whole.ts';

const optionalUrls = Object.fromEntries(listeners.map(({ url }) => [url, z.url().optional()])) as Record<
  keyof ListenerUrls,
  z.ZodOptional<z.ZodURL>
>; // of each listener

/** File in the data folder by which other commands find a running platform. */
const FILE = 'instance.json';

const instanceSchema = z.object({
  ...optionalUrls, // a platform of an earlier version does not have every listener
  pid: z.int().positive(),
  /** Start time of the process, and its world: the id of an ended process can be given to another program (D-219). */
  began: z.string().default(''),
  worldId: z.string().default(''),
  version: z.string(),
  /** ISO-8601 UTC. */
  startedAt: z.string(),
  baseUrl: z.url(),
  metaUrl: z.url(),
  securityUrl: z.url(),
  dataDir: z.string(),
});

export type InstanceRecord = z.output<typeof instanceSchema>;

/** Writes the addresses of the platform into its data folder, for other commands. Does nothing for a world in memory. */
export async function writeInstanceFile(emulator: Emulator, pid: number): Promise<void> {
  const { metaUrl, securityUrl, dataDir, worldId } = emulator;
  if (dataDir === IN_MEMORY) return;
  const addresses = { ...urlsOf(emulator), metaUrl, securityUrl };
  const startedAt = new Date().toISOString();
  const began = await beginOf(pid);
  const record: InstanceRecord = { pid, began, worldId, version: manifest.version, startedAt, ...addresses, dataDir };
  await writeWhole(join(dataDir, FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** Removes the file when the platform stops, unless another process has replaced it. */
export async function removeInstanceFile({ dataDir }: Emulator, pid: number): Promise<void> {
  if (dataDir === IN_MEMORY) return;
  const file = join(dataDir, FILE);
  if ((await readKept(file, instanceSchema))?.pid === pid) await removeIfPossible(file);
}

/** The platform that runs on a data folder; undefined if none does, also after a crash. */
export async function findInstance(dataDir: string): Promise<InstanceRecord | undefined> {
  const record = await readKept(join(dataDir, FILE), instanceSchema);
  return record && (await lifeOfProcess(record.pid, record.began)) !== 'gone' ? record : undefined;
}

/** The path of a data folder's lock, which may be missing. Throws UserError if another user's platform may hold it. */
export async function requireReadableLock(dataDir: string): Promise<string> {
  const lock = join(dataDir, 'lock');
  await access(lock, constants.R_OK).catch((failure) => {
    if (codeOf(failure) === 'ENOENT' || codeOf(failure) === 'ENOTDIR') return;
    throw new UserError(
      `${lock} cannot be read (${codeOf(failure)}): another user's Terrarium may be running on ${dataDir}. Run the command as that user, or choose another folder with --data or --instance.`,
    );
  });
  return lock;
}

/** True if the process is certainly the platform of this world, by its id, its start time and the world in the folder (D-219). */
export async function isCertain({ pid, began, worldId, dataDir }: InstanceRecord): Promise<boolean> {
  const world = await readKept(join(dataDir, 'world.json'), z.object({ id: z.string() }));
  return world?.id === worldId && (await lifeOfProcess(pid, began)) === 'lives';
}

/** File in the data folder with the last ports of the platform. */
const PORTS_FILE = 'ports.json';

/** A folder of an earlier version does not have the ports of listeners that were added later. */
const portsSchema = z.partialRecord(z.enum(listeners.map(({ port }) => port)), z.int().min(1).max(65_535));

/** Saves the ports of a platform for its next start; an error does not matter. */
export async function keepPorts(emulator: Emulator): Promise<void> {
  const { dataDir } = emulator;
  if (dataDir === IN_MEMORY) return;
  const ports = listeners.map(({ port, url }) => [port, Number(new URL(emulator[url]).port)]);
  const text = JSON.stringify(Object.fromEntries(ports));
  await writeFile(join(dataDir, PORTS_FILE), text, { mode: 0o600 }).catch(() => undefined);
}

/** The configuration of a named instance, with its last ports where a free port is asked for and they are still free. */
export async function withKeptPorts({ config, origins }: ConfigWithOrigins): Promise<ConfigWithOrigins> {
  const storedPorts = await readKept(join(config.data, PORTS_FILE), portsSchema);
  if (!storedPorts) return { config, origins };
  const ports = { ...config };
  for (const { port } of listeners) {
    const last = storedPorts[port];
    if (config[port] === 0 && last !== undefined && !(await listenFailure(config.host, last))) ports[port] = last;
  }
  return { config: ports, origins };
}

/** Returns why a port cannot be listened on; undefined if it is free. */
export async function listenFailure(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (failure) {
    return failure instanceof Error ? failure : new Error(String(failure));
  }
}
