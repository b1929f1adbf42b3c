import { SHELL_COMMAND } from '../model/shell-command.ts';
import { UserError } from '../platform/config.ts';
import { describeLeftovers, openCleaning } from '../platform/engine-cleaning.ts';
import { defineCommand, flag, json, text } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { localConfig } from './instance-options.ts';
import { rowLines } from './terminal.ts';

const NOTES = `
A world is abandoned when its data folder no longer exists, or when it was kept in memory and its process has ended. Running
and stored worlds are never removed. Worlds that were created on another machine, or whose process may still run, cannot be
checked: --yes removes them only if --world selects them.

Exit codes: 0 success; 1 something could not be removed; 2 no container engine responds, or the world may not be removed.`;

export const cleanCommand = defineCommand({
  name: 'clean',
  description:
    'list the containers, networks and volumes of worlds in a container engine; with --yes remove abandoned ones',
  options: {
    yes: flag('--yes', 'remove what abandoned worlds have left'),
    world: text(
      '--world <ID>',
      'only this world; with --yes, also remove it if Terrarium cannot check whether it is abandoned',
    ),
    engine: text('--engine <ENGINE>', 'address of the engine (default: the setting containers.engine)'),
    json: json(),
  },
  notes: NOTES,
  async run({ options: { yes, world: named, ...options }, terminal, print }) {
    const engine = options.engine ?? localConfig({}, terminal).containers.engine;
    if (engine === 'none') throw new UserError('the setting containers.engine is none. Name an engine with --engine.');
    const cleaning = await openCleaning(engine, { ...terminal.env });
    try {
      const worlds = cleaning.worlds.filter(({ worldId }) => named === undefined || worldId === named);
      const mayRemove = (state: string) => state === 'gone' || (state === 'unknown' && named !== undefined);
      const toRemove = yes ? worlds.filter(({ state }) => mayRemove(state)) : [];
      const usedWorld = worlds.find(({ state }) => state === 'runs' || state === 'kept');
      if (named !== undefined && usedWorld && yes) {
        throw new UserError(
          `world ${named} was not removed: ${usedWorld.why}. Stop it, or delete its containers there.`,
        );
      }
      const remaining = new Map<string, string>();
      for (const { worldId } of toRemove) {
        const leftovers = describeLeftovers(await cleaning.remove(worldId));
        if (leftovers !== '') remaining.set(worldId, leftovers);
      }
      const listedWorlds = worlds.map((world) => ({
        ...world,
        removed: toRemove.includes(world) && !remaining.has(world.worldId),
      }));
      const rows = listedWorlds.map((world) => [
        world.removed ? 'removed' : world.state,
        world.worldId,
        describeLeftovers(world.left),
        world.why,
      ]);
      const none = `no world has left anything in the container engine at ${cleaning.address}`;
      const isMore = toRemove.length === 0 && worlds.some(({ state }) => state === 'gone');
      print({ engine: cleaning.address, worlds: listedWorlds }, [
        ...(rows.length === 0 ? [none] : rowLines(rows)),
        ...(isMore ? ['', `To remove what abandoned worlds have left, run \`${SHELL_COMMAND} clean --yes\`.`] : []),
      ]);
      for (const [worldId, leftovers] of remaining)
        terminal.complain(`terrarium: not removed of world ${worldId}: ${leftovers}`);
      if (remaining.size > 0)
        throw new ExitWith(
          NO,
          'not everything could be removed. Find out why it is in use, then run the command again.',
        );
    } finally {
      cleaning.close();
    }
  },
});
