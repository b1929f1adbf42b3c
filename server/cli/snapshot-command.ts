import type { Command } from 'commander';
import { z } from 'zod';
import { differenceSchema, madeSchema, printDifference, printMade } from './history-command.ts';
import { addPlatformOptions, connect } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printRows, type Terminal } from './terminal.ts';

/** `terrarium snapshot`: keeps worlds under a name, compares them with the present one, and brings them back. */
export function addSnapshotCommand(program: Command, terminal: Terminal): void {
  const snapshot = program.command('snapshot').description('keep worlds under a name, and bring them back');
  const add = (name: string, description: string, act: (client: PlatformClient, command: Command) => Promise<void>) => {
    const command = snapshot.command(name).description(description);
    addPlatformOptions(command).action(async () => act(await connect(command, terminal), command));
  };
  const addNamed = (
    name: string,
    description: string,
    act: (client: PlatformClient, command: Command, path: string, of: string) => Promise<void>,
  ) => {
    const command = snapshot.command(name).description(description).argument('<name>', 'name of the snapshot');
    addPlatformOptions(command).action(async (of: string) =>
      act(await connect(command, terminal), command, `/inspect/snapshots/${encodeURIComponent(of)}`, of),
    );
  };

  add('list', 'list them, oldest first', async (client, command) => {
    const kept = await client.json('GET', '/inspect/snapshots', z.array(snapshotSchema));
    printAnswer(command, terminal, kept, () => printRows(terminal, kept.map(rowOf)));
  });
  addNamed('save', 'keep the present world', async (client, command, _path, name) => {
    const body = { type: 'application/json', content: JSON.stringify({ name }) };
    const saved = await client.json('POST', '/inspect/snapshots', snapshotSchema, { body });
    printAnswer(command, terminal, saved, () => printRows(terminal, [rowOf(saved)]));
  });
  addNamed('diff', 'print what leads from it to now', async (client, command, path) => {
    printDifference(await client.json('GET', `${path}/diff`, differenceSchema), command, terminal);
  });
  addNamed('restore', 'make the world what it was then, by one commit', async (client, command, path) => {
    printMade(await client.json('POST', `${path}/restore`, madeSchema), command, terminal);
  });
  addNamed('delete', 'forget it', async (client, command, path, name) => {
    await client.text('DELETE', path);
    printAnswer(command, terminal, { deleted: name }, () => terminal.print(`deleted: ${name}`));
  });
}

const snapshotSchema = z.looseObject({ name: z.string(), seq: z.number(), at: z.string(), sizeBytes: z.number() });

function rowOf({ name, seq, at, sizeBytes }: z.output<typeof snapshotSchema>): string[] {
  return [name, at, `as of commit ${seq}`, `${Math.ceil(sizeBytes / 1024)} KiB`];
}
