import type { Command } from 'commander';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { defineCommand } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const NOTES = `
  bash  eval "$(${SHELL_COMMAND} completion bash)"
  zsh   eval "$(${SHELL_COMMAND} completion zsh)"
  fish  ${SHELL_COMMAND} completion fish | source

It completes the command \`terrarium\` of a global installation.`;

interface WordList {
  /** Names of the command and those above it; empty for the program itself. */
  path: readonly string[];
  completions: readonly { text: string; description: string }[];
}

export const completionCommand = defineCommand({
  name: 'completion',
  description: 'print a script that lets a shell complete commands and options',
  arguments: [['<shell>', 'the shell', SHELLS]],
  notes: NOTES,
  run({ terminal, program }, shell = '') {
    const lists = [...wordLists(program)];
    terminal.print(scripts[SHELLS.find((candidate) => candidate === shell) ?? 'bash'](program.name(), lists));
  },
});

function* wordLists(command: Command, path: readonly string[] = []): Generator<WordList> {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  yield {
    path,
    completions: [
      ...commands.map((subcommand) => ({ text: subcommand.name(), description: subcommand.description() })),
      ...choices.map((choice) => ({ text: choice, description: '' })),
      ...options.flatMap(({ long, description }) => (long ? [{ text: long, description }] : [])),
    ],
  };
  for (const subcommand of commands)
    if (subcommand.name() !== 'help') yield* wordLists(subcommand, [...path, subcommand.name()]);
}

/** The script for a shell. It completes commands, options and fixed values, and otherwise file names; the name is a word of letters. */
const scripts: Record<(typeof SHELLS)[number], (name: string, lists: readonly WordList[]) => string> = {
  bash: (name, lists) => `# bash completion of ${name}
_${name}_words() {
  case "$1" in
${casesOf(lists, ({ completions }) => `printf '%s\\n' ${completions.map(({ text }) => text).join(' ')}`)}
  esac
}
_${name}() {
  local path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = -- ] && { COMPREPLY=(); return; }
    ${pathStep(lists)}
  done
  COMPREPLY=($(compgen -W "$(_${name}_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}`,

  zsh: (name, lists) => `#compdef ${name}
_${name}() {
  local path_='' word
  local -a words_
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -- ]] && { _files; return; }
    ${pathStep(lists, 'path_')}
  done
  case "$path_" in
${casesOf(lists, ({ completions }) => `words_=(${completions.map(({ text, description }) => quoted(`${text}:${oneLine(description)}`)).join(' ')})`)}
  esac
  _describe '${name}' words_ || _files
}
compdef _${name} ${name}`,

  fish: (name, lists) => `# fish completion of ${name}
function __${name}_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path$word"
      case ${pathsOf(lists).map(quoted).join(' ')}
        set path "$path$word/"
    end
  end
  test "$path" = "$argv[1]"
end
${lists
  .flatMap(({ path, completions }) =>
    completions.map(({ text, description }) => {
      const at = `-n "__${name}_path '${path.map((part) => `${part}/`).join('')}'"`;
      const completion = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${text}`;
      return `complete -c ${name} ${at} ${completion} -d ${quoted(oneLine(description))}`;
    }),
  )
  .join('\n')}`,
};

/** The path of a command in the scripts: names separated by slashes. */
function pathsOf(lists: readonly WordList[]): string[] {
  return lists.filter(({ path }) => path.length > 0).map(({ path }) => path.join('/'));
}

function casesOf(lists: readonly WordList[], bodyOf: (list: WordList) => string): string {
  return lists.map((list) => `    '${list.path.map((part) => `${part}/`).join('')}') ${bodyOf(list)} ;;`).join('\n');
}

/** Descends into a subcommand if the word is one. */
function pathStep(lists: readonly WordList[], variable = 'path'): string {
  return `case "$${variable}$word" in ${pathsOf(lists).join('|')}) ${variable}="$${variable}$word/" ;; esac`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** In single quotes, which bash, zsh and fish read the same way except for a quote inside. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`;
}
