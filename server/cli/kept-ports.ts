import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { IN_MEMORY } from '../config-schema.ts';
import type { ConfigWithOrigins } from '../config-sources.ts';
import type { Emulator } from '../emulator.ts';
import { readKept } from '../machine/kept-file.ts';
import { listenFailure } from './listen-failure.ts';

/** In the data folder: the ports that the platform had last. */
const FILE = 'ports.json';

const port = z.int().min(1).max(65_535);
const portsSchema = z.object({ basePort: port, gatewayPort: port, crmPort: port, scmPort: port });

/** Notes the ports of a platform for its next start. What cannot be noted is not missed. */
export async function keepPorts({ dataDir, baseUrl, gatewayUrl, crmUrl, scmUrl }: Emulator): Promise<void> {
  if (dataDir === IN_MEMORY) return;
  const [basePort, gatewayPort, crmPort, scmPort] = [baseUrl, gatewayUrl, crmUrl, scmUrl].map((url) =>
    Number(new URL(url).port),
  );
  const text = JSON.stringify({ basePort, gatewayPort, crmPort, scmPort });
  await writeFile(join(dataDir, FILE), text, { mode: 0o600 }).catch(() => undefined);
}

/** The configuration of a named instance, with the ports that it had last where any free one would do and they still are free. */
export async function withKeptPorts({ config, origins }: ConfigWithOrigins): Promise<ConfigWithOrigins> {
  const kept = await readKept(join(config.data, FILE), portsSchema);
  if (!kept) return { config, origins };
  const ports = { ...kept };
  for (const key of ['basePort', 'gatewayPort', 'crmPort', 'scmPort'] as const) {
    if (config[key] !== 0 || (await listenFailure(config.host, kept[key]))) ports[key] = config[key];
  }
  return { config: { ...config, ...ports }, origins };
}
