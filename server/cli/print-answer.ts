import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/** Prints what a command found: as JSON where `--json` is given, otherwise as people read it. */
export function printAnswer(
  command: Command,
  terminal: Pick<Terminal, 'print'>,
  answer: unknown,
  printForPeople: () => void,
): void {
  if (command.getOptionValue('json') === true) terminal.print(JSON.stringify(answer, null, 2));
  else printForPeople();
}
