import type { Command } from 'commander';
import { UserError } from '../config.ts';
import type { EngineCleaning, FoundWorld } from '../emulator/engine-cleaning.ts';
import { ExitWith, NO } from './exit-with.ts';
import { localConfig, textOption } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, rowLines, type Terminal } from './terminal.ts';

const NOTES = `
A world is gone when it was in memory and its process has ended, or when the folder that kept it holds it no more. One that
runs or is kept is never touched; of one that was made on another machine nobody here can tell: name it with --world.

Exit codes: 0 done; 1 something could not be removed; 2 no engine answers, or the world may not be removed.`;

/** `terrarium clean`: what worlds that are gone have left in a container engine. */
export function addCleanCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('clean')
    .description('list containers, networks and volumes that worlds left in a container engine; with --yes remove them')
    .option('--yes', 'remove what worlds that are gone have left')
    .option('--world <ID>', 'only of this world; with --yes also when nobody here can tell whether it is gone')
    .option('--engine <ENGINE>', "the engine's address; else the setting containers.engine")
    .option('--json', 'print JSON on standard output, and nothing else')
    .addHelpText('after', NOTES);
  command.action(async () => {
    const { openCleaning } = await import('../emulator/engine-cleaning.ts');
    const engine = textOption(command, 'engine') ?? localConfig(command, terminal).containers.engine;
    if (engine === 'none') throw new UserError('the setting containers.engine is none: name an engine with --engine');
    const cleaning = await openCleaning(engine, { ...terminal.env });
    try {
      await clean(command, terminal, cleaning);
    } finally {
      cleaning.close();
    }
  });
}

async function clean(command: Command, terminal: Terminal, cleaning: EngineCleaning): Promise<void> {
  const { describeLeftovers } = await import('../emulator/engine-cleaning.ts');
  const named = textOption(command, 'world');
  const worlds = cleaning.worlds.filter(({ worldId }) => named === undefined || worldId === named);
  const doomed = command.getOptionValue('yes') === true ? worlds.filter((one) => mayGo(one, named)) : [];
  const kept = worlds.find(({ state }) => state === 'runs' || state === 'kept');
  if (named !== undefined && kept && command.getOptionValue('yes') === true) {
    throw new UserError(`world ${named} is not removed: ${kept.why}; stop it, or delete its containers there`);
  }
  const remaining = new Map<string, string>();
  for (const { worldId } of doomed) {
    const left = describeLeftovers(await cleaning.remove(worldId));
    if (left !== '') remaining.set(worldId, left);
  }
  const shown = worlds.map((one) => ({
    ...one,
    removed: doomed.includes(one) && !remaining.has(one.worldId),
  }));
  printAnswer(command, terminal, { engine: cleaning.address, worlds: shown }, () => {
    const rows = shown.map((one) => [
      one.removed ? 'removed' : one.state,
      one.worldId,
      describeLeftovers(one.left),
      one.why,
    ]);
    if (rows.length === 0) terminal.print(`no world has left anything in the container engine at ${cleaning.address}`);
    else printLines(rowLines(rows), terminal);
    if (doomed.length === 0 && worlds.some(({ state }) => state === 'gone'))
      terminal.print('\n`terrarium clean --yes` removes what is of worlds that are gone');
  });
  for (const [worldId, left] of remaining) terminal.complain(`terrarium: left of world ${worldId}: ${left}`);
  if (remaining.size > 0)
    throw new ExitWith(NO, 'not everything could be removed: try again, or look why it is in use');
}

const mayGo = ({ state }: FoundWorld, named: string | undefined): boolean =>
  state === 'gone' || (state === 'unknown' && named !== undefined);
