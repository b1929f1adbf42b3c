import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { workbenchRoutes } from '../api/routes/workbench.ts';
import { UserError } from '../platform/config.ts';
import type { PlatformClient } from './platform-client.ts';

const LAUNCH_FILE = join('.vscode', 'launch.json');
const POLL_MS = 50;
const MAX_POLLS = 200;

export interface LambdaDebugger {
  lambda: string;
  /** Address for a debugger. It stays the same in later runs. */
  url: string;
}

/** Starts debugging a lambda. Throws an error of one sentence when the platform rejects it or its process does not start. */
export async function startDebugging(
  client: PlatformClient,
  { id, name }: { id: string; name: string },
): Promise<LambdaDebugger> {
  const path = { lambda_id: id };
  await client.ask(workbenchRoutes.debugLambda, { path });
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const { debug } = await client.ask(workbenchRoutes.readWorkbench, { path });
    if (debug?.url !== undefined) return { lambda: name, url: debug.url };
    if (debug?.problem !== undefined) throw new UserError(`${name} cannot be debugged: ${debug.problem}`);
    await delay(POLL_MS);
  }
  throw new UserError(`${name} cannot be debugged: its process does not listen. Its log may say why.`);
}

/**
 * Writes the configuration with which VS Code attaches to the debuggers, unless the folder has one.
 *
 * @returns a sentence about the file
 */
export function writeLaunchFile(folder: string, debuggers: readonly LambdaDebugger[]): string {
  const file = join(folder, LAUNCH_FILE);
  const configurations = debuggers.map(({ lambda: name, url: websocketAddress }) => ({
    ...{ type: 'node', request: 'attach', name, websocketAddress },
    ...{ restart: true, continueOnAttach: true },
  }));
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ version: '0.2.0', configurations }, null, 2)}\n`);
    return `wrote ${LAUNCH_FILE}. Start debugging with F5 in VS Code. Do not commit the file: it contains the secret addresses of the debuggers.`;
  }
  const text = readFileSync(file, 'utf8');
  const missing = configurations.filter(({ websocketAddress }) => !text.includes(websocketAddress));
  if (missing.length === 0) return `${LAUNCH_FILE} has the debuggers. Start debugging with F5 in VS Code.`;
  const lines = missing.map((configuration) => `  ${JSON.stringify(configuration)}`);
  return `${LAUNCH_FILE} exists and was left as it is. Add to its "configurations":\n${lines.join(',\n')}`;
}
