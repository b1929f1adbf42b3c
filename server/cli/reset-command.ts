import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { IN_MEMORY } from '../config-schema.ts';
import { isAlive } from '../machine/processes.ts';
import { addInstanceOption } from './instance-name.ts';
import { localConfig } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import type { Terminal } from './terminal.ts';

/** Where earlier worlds go, in the data folder: that may be a mount, and its name is what version control ignores. */
const ASIDE = 'set-aside';

/** What is no part of a world: other instances, earlier worlds, and how its owner signs in. */
const KEPT = [ASIDE, 'instances', 'root-api-key.json', 'crm-certificate.pem'];

/** `terrarium reset`: the next start begins with the seed again. Nothing is deleted. */
export function addResetCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('reset')
    .description('set the world of a stopped platform aside, so that its next start begins with the seed again')
    .option('--data <DIR>', 'data folder of the platform that is meant (TERRARIUM_DATA)')
    .option('--json', 'print JSON on standard output, and nothing else')
    .addHelpText('after', '\nThe key pair of root stays. Exit codes: 0 done; 2 it still runs, or cannot be moved.');
  addInstanceOption(command).action(async () => {
    const { data } = localConfig(command, terminal);
    if (data === IN_MEMORY)
      throw new UserError('a world in memory begins anew with each start: there is nothing to reset');
    await demandStopped(data);
    const setAside = await moveAside(data);
    const what = setAside === undefined ? `${data} holds no world` : `set aside in ${setAside}`;
    printAnswer(command, terminal, { dataDir: data, setAside: setAside ?? null }, () =>
      terminal.print(`${what}: the next start begins with the seed`),
    );
  });
}

/** Whoever has the data folder open has a file `lock` with its process id in it. */
async function demandStopped(data: string): Promise<void> {
  const pid = Number(await readFile(join(data, 'lock'), 'utf8').catch(() => ''));
  if (Number.isInteger(pid) && pid > 0 && isAlive(pid)) {
    throw new UserError(`${data} is in use by process ${pid}: stop that one (Ctrl+C, or \`kill ${pid}\`), then reset`);
  }
}

/** Moves all that makes the world; resolves to where it is now, undefined when there was nothing. */
async function moveAside(data: string): Promise<string | undefined> {
  const names = (await readdir(data).catch(() => [])).filter((name) => !KEPT.includes(name));
  if (names.length === 0) return undefined;
  const setAside = join(data, ASIDE, new Date().toISOString().replaceAll(':', '-'));
  await mkdir(setAside, { recursive: true, mode: 0o700 });
  for (const name of names) await rename(join(data, name), join(setAside, name));
  return setAside;
}
