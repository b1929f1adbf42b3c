import type { Command } from 'commander';
import { type ShownSnapshot, snapshotRows } from '../contract/history.ts';
import { commitMade, differenceFound } from './history-command.ts';
import { askPlatform } from './instance-options.ts';
import { rowLines, type Terminal } from './terminal.ts';

/** `terrarium snapshot`: keeps worlds under a name, compares them with the present one, and brings them back. */
export function addSnapshotCommand(program: Command, terminal: Terminal): void {
  const snapshot = program.command('snapshot').description('keep worlds under a name, and bring them back');
  const named = (name: string, description: string) =>
    snapshot.command(name).description(description).argument('<name>', 'name of the snapshot');

  const list = snapshot.command('list').description('list them, oldest first');
  askPlatform(list, terminal, async (client) => {
    const kept = await client.ask(snapshotRows.listSnapshots);
    return { answer: kept, lines: rowLines(kept.map(rowOf)) };
  });
  askPlatform(named('save', 'keep the present world'), terminal, async (client, name: string) => {
    const saved = await client.ask(snapshotRows.createSnapshot, { json: { name } });
    return { answer: saved, lines: rowLines([rowOf(saved)]) };
  });
  askPlatform(named('diff', 'print what leads from it to now'), terminal, async (client, name: string) => {
    const path = { snapshot_name: name };
    return differenceFound(await client.ask(snapshotRows.compareSnapshot, { path }), terminal);
  });
  const restore = named('restore', 'make the world what it was then, by one commit');
  askPlatform(restore, terminal, async (client, name: string) => {
    const path = { snapshot_name: name };
    return commitMade(await client.ask(snapshotRows.restoreSnapshot, { path }), terminal);
  });
  askPlatform(named('delete', 'forget it'), terminal, async (client, name: string) => {
    await client.ask(snapshotRows.deleteSnapshot, { path: { snapshot_name: name } });
    return { answer: { deleted: name }, lines: [`deleted: ${name}`] };
  });
}

function rowOf({ name, seq, at, sizeBytes }: ShownSnapshot): string[] {
  return [name, at, `as of commit ${seq}`, `${Math.ceil(sizeBytes / 1024)} KiB`];
}
