import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { IN_MEMORY } from '../platform/config-schema.ts';
import type { ConfigWithOrigins } from '../platform/config-sources.ts';
import { listeners } from '../platform/declarations.ts';
import type { Emulator } from '../platform/emulator.ts';
import { readKept } from '../system/kept-file.ts';

/** File in the data folder with the last ports of the platform. */
const FILE = 'ports.json';

/** A folder of an earlier version does not have the ports of listeners that were added later. */
const portsSchema = z.partialRecord(z.enum(listeners.map(({ port }) => port)), z.int().min(1).max(65_535));

/** Saves the ports of a platform for its next start; an error does not matter. */
export async function keepPorts(emulator: Emulator): Promise<void> {
  const { dataDir } = emulator;
  if (dataDir === IN_MEMORY) return;
  const ports = listeners.map(({ port, url }) => [port, Number(new URL(emulator[url]).port)]);
  const text = JSON.stringify(Object.fromEntries(ports));
  await writeFile(join(dataDir, FILE), text, { mode: 0o600 }).catch(() => undefined);
}

/** The configuration of a named instance, with its last ports where a free port is asked for and they are still free. */
export async function withKeptPorts({ config, origins }: ConfigWithOrigins): Promise<ConfigWithOrigins> {
  const kept = await readKept(join(config.data, FILE), portsSchema);
  if (!kept) return { config, origins };
  const ports = { ...config };
  for (const { port } of listeners) {
    const last = kept[port];
    if (config[port] === 0 && last !== undefined && !(await listenFailure(config.host, last))) ports[port] = last;
  }
  return { config: ports, origins };
}

/** Why a port cannot be listened on; undefined if it is free. */
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
