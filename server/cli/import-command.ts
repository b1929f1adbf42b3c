import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ShownImport } from '../contract/history.ts';
import { sendArchive } from './archive-files.ts';
import { addPlatformOptions, connect } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import { runLines } from './run-lines.ts';
import { printLines, type Terminal } from './terminal.ts';

/** `terrarium import FILE`: makes an instance what an archive says, which `export -o FILE.zip` has made. */
export function addImportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .description('make the instance what an archive of another one says; its keys and passwords stay')
    .argument('<file.zip>', 'what `export -o FILE.zip` has written');
  addPlatformOptions(command).action(async (file: string) => {
    const client = await connect(command, terminal);
    const imported = await sendArchive(client, resolve(terminal.folder, file), terminal);
    printAnswer(command, terminal, imported, () => printLines(report(imported), terminal));
  });
}

function* report({ commit, leads, hidden, runs }: ShownImport): Generator<string> {
  yield commit ? `imported as commit ${commit.seq}` : 'the world is so already';
  yield `${leads} new leads`;
  yield* runLines(runs);
  for (const { type, path } of hidden) yield `to be set anew, since no archive holds secrets: ${type} ${path}`;
}
