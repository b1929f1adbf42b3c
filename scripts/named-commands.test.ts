// Pages, messages and help name commands and options that exist.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, expect, it } from 'vitest';
import { makeProgram } from '../server/cli/program.ts';
import { processTerminal } from '../server/cli/terminal.ts';
import { root } from './read-docs.ts';

let program: Command;
beforeAll(async () => {
  program = await makeProgram([], processTerminal(), () => Promise.reject(new Error('nothing is started')));
});

/** The rest of the line after the name of the command, up to the end of the quotation or of the shell's command. */
const NAMED = /(?:\bnpx terrarium-emulator|\$\{SHELL_COMMAND\}|`terrarium) ([^`'"|;<>()&\n\\]*)/g;
const COMMAND_NAME = /^[a-z][a-z-]*$/;

/** The first word that `terrarium` does not know in a command line: a command, a subcommand or an option. */
function unknownWord(line: string): string | undefined {
  let command = program;
  let isArgument = false;
  for (const shellWord of line.trim().split(/\s+/)) {
    if (shellWord === '--' || shellWord === '#') return undefined;
    if (/^--?[a-z]/i.test(shellWord)) {
      const [name = ''] = shellWord.split(/[=,.:]/);
      const settings = program.commands.find((candidate) => candidate.name() === 'start');
      const candidates = [command, command === program ? settings : undefined, ...command.commands];
      const options = candidates.flatMap((candidate) => candidate?.options ?? []);
      if (!['-h', '--help', '-V', '--version'].includes(name) && !options.some((option) => option.is(name)))
        return shellWord;
      isArgument = true;
    } else if (!isArgument) {
      const next = command.commands.find((candidate) => candidate.name() === shellWord.replace(/[.,:]+$/, ''));
      const isName = COMMAND_NAME.test(shellWord) && command.commands.length > 0;
      if (!next && isName) return shellWord;
      if (next) command = next;
      else isArgument = true;
    }
  }
  return undefined;
}

/** Pages also name a command without its program, such as `history revert N`. */
function namedIn(file: string, text: string): string[] {
  const names = program.commands.map((command) => command.name()).join('|');
  const patterns = file.endsWith('.md') ? [NAMED, new RegExp(`\`((?:${names}) [^\`\n]+)`, 'g')] : [NAMED];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, line = '']) => line));
}

it('recognizes commands, subcommands and options that do not exist', () => {
  const wrong = ['begin', 'history undo 3', 'leads wait --mail ada@example.com', 'start --base-prot 1', '--seeds demo'];
  expect(wrong.map(unknownWord)).toEqual(['begin', 'undo', '--mail', '--base-prot', '--seeds']);
  const right = ['history revert 3', 'leads --json', 'exec -- begin --now', 'COMMAND', 'logs shop -f', '--seed demo'];
  expect(right.flatMap((line) => unknownWord(line) ?? [])).toEqual([]);
});

it('no file names a command, subcommand or option that does not exist', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => /\.(?:md|txt|[cm]?[jt]sx?|ya?ml)$/.test(file) && !/\.test\.ts$|^CHANGELOG/.test(file))
    .filter((file) => existsSync(join(root, file)));
  const commands = files.flatMap((file) =>
    namedIn(file, readFileSync(join(root, file), 'utf8')).map((line) => ({ file, line })),
  );
  expect(commands.length).toBeGreaterThan(200);
  const unknown = commands.flatMap(({ file, line }) => {
    const unknownPart = unknownWord(line);
    return unknownPart === undefined ? [] : [`${file}: ${line}: ${unknownPart}`];
  });
  expect(unknown).toEqual([]);
});
