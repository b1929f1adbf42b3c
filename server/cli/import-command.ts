import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ShownImport } from '../contract/history.ts';
import { sendArchive } from './archive-files.ts';
import { askPlatform } from './instance-options.ts';
import { runLines } from './run-lines.ts';
import type { Terminal } from './terminal.ts';

/** `terrarium import FILE`: makes an instance what an archive says, which `export -o FILE.zip` has made. */
export function addImportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .description('make the instance what an archive of another one says; its keys and passwords stay')
    .argument('<file.zip>', 'what `export -o FILE.zip` has written');
  askPlatform(command, terminal, async (client, file: string) => {
    const imported = await sendArchive(client, resolve(terminal.folder, file), terminal);
    return { answer: imported, lines: report(imported) };
  });
}

function* report({ commit, leads, hidden, runs }: ShownImport): Generator<string> {
  yield commit ? `imported as commit ${commit.seq}` : 'the world is so already';
  yield `${leads} new leads`;
  yield* runLines(runs);
  for (const { type, path } of hidden) yield `to be set anew, since no archive holds secrets: ${type} ${path}`;
}
