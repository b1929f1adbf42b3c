import type { Command } from 'commander';
import { type ShownSnapshot, snapshotRows } from '../contract/history.ts';
import { printDifference, printMade } from './history-command.ts';
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
    act: (client: PlatformClient, command: Command, of: string) => Promise<void>,
  ) => {
    const command = snapshot.command(name).description(description).argument('<name>', 'name of the snapshot');
    addPlatformOptions(command).action(async (of: string) => act(await connect(command, terminal), command, of));
  };

  add('list', 'list them, oldest first', async (client, command) => {
    const kept = await client.ask(snapshotRows.listSnapshots);
    printAnswer(command, terminal, kept, () => printRows(terminal, kept.map(rowOf)));
  });
  addNamed('save', 'keep the present world', async (client, command, name) => {
    const saved = await client.ask(snapshotRows.createSnapshot, { json: { name } });
    printAnswer(command, terminal, saved, () => printRows(terminal, [rowOf(saved)]));
  });
  addNamed('diff', 'print what leads from it to now', async (client, command, name) => {
    printDifference(
      await client.ask(snapshotRows.compareSnapshot, { path: { snapshot_name: name } }),
      command,
      terminal,
    );
  });
  addNamed('restore', 'make the world what it was then, by one commit', async (client, command, name) => {
    printMade(await client.ask(snapshotRows.restoreSnapshot, { path: { snapshot_name: name } }), command, terminal);
  });
  addNamed('delete', 'forget it', async (client, command, name) => {
    await client.ask(snapshotRows.deleteSnapshot, { path: { snapshot_name: name } });
    printAnswer(command, terminal, { deleted: name }, () => terminal.print(`deleted: ${name}`));
  });
}

function rowOf({ name, seq, at, sizeBytes }: ShownSnapshot): string[] {
  return [name, at, `as of commit ${seq}`, `${Math.ceil(sizeBytes / 1024)} KiB`];
}
