import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type WordList } from './completion-scripts.ts';
import type { Terminal } from './terminal.ts';

const NOTES = `
  bash  eval "$(terrarium completion bash)"
  zsh   eval "$(terrarium completion zsh)"
  fish  terrarium completion fish | source`;

/** `terrarium completion SHELL`: a script that completes commands and options, made from the commands themselves. */
export function addCompletionCommand(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'which one').choices(SHELLS))
    .addHelpText('after', NOTES)
    .action((shell: (typeof SHELLS)[number]) => {
      terminal.print(completionScript(shell, program.name(), [...wordLists(program)]));
    });
}

/** What may follow each command, the program itself first. */
function* wordLists(command: Command, path: readonly string[] = []): Generator<WordList> {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  yield {
    path,
    words: [
      ...commands.map((one) => ({ word: one.name(), description: one.description() })),
      ...choices.map((word) => ({ word, description: '' })),
      ...options.flatMap(({ long, description }) => (long ? [{ word: long, description }] : [])),
    ],
  };
  for (const one of commands) if (one.name() !== 'help') yield* wordLists(one, [...path, one.name()]);
}
