import { Argument, type Command, Option } from 'commander';
import { UserError } from '../platform/config.ts';
import { describeFailure } from './describe-failure.ts';
import type { PlatformClient } from './platform-client.ts';
import type { EmulatorStarter } from './running-platform.ts';
import { printLines, type Terminal } from './terminal.ts';

/** An option: how it is written, and how its value is read from what the command line parser found. */
export interface OptionSpec<T> {
  flags: string;
  description: string;
  default?: unknown;
  isRequired?: true;
  /** Collects the values of all occurrences. */
  isRepeatable?: true;
  read(written: unknown): T;
}

export function flag(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, read: (written) => written === true };
}

/** `--no-...`: true unless given. */
export function unless(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, read: (written) => written !== false };
}

export function text(flags: string, description: string): OptionSpec<string | undefined> {
  return { flags, description, read: (written) => (typeof written === 'string' ? written : undefined) };
}

/** A text that is required unless it has a default. */
export function textOr(flags: string, description: string, unless?: string): OptionSpec<string> {
  return { flags, description, default: unless, ...(unless === undefined && { isRequired: true }), read: String };
}

export function texts(flags: string, description: string): OptionSpec<string[]> {
  const read = (written: unknown) => (Array.isArray(written) ? written.map(String) : []);
  return { flags, description, isRepeatable: true, read };
}

/** `--timeout`, in seconds. */
export function timeout(seconds: number): OptionSpec<number> {
  const read = numberIn('--timeout', /^\d{1,6}$/, 'a whole number of seconds');
  return { flags: '--timeout <S>', description: 'seconds to wait', default: String(seconds), read };
}

/** An optional value that a function parses. */
export function textAs<T>(flags: string, description: string, parse: (text: string) => T): OptionSpec<T | undefined> {
  return { flags, description, read: (written) => (written === undefined ? undefined : parse(String(written))) };
}

/** An optional whole number. */
export const count = (flags: string, description: string) =>
  textAs(flags, description, numberIn(flags.replace(/ .*/, ''), /^\d{1,7}$/, 'a whole number'));

export function numberIn(name: string, form: RegExp, expectation: string): OptionSpec<number>['read'] {
  return (written) => {
    if (form.test(String(written))) return Number(written);
    throw new UserError(`${name} is "${written}"; it must be ${expectation}`);
  };
}

export const json = (description = 'print only JSON on standard output') => flag('--json', description);

export type Options = Readonly<Record<string, OptionSpec<unknown>>>;
export type ValuesOf<O extends Options> = { [N in keyof O]: O[N] extends OptionSpec<infer T> ? T : never };

export interface Context<O extends Options = Options> {
  options: ValuesOf<O>;
  terminal: Terminal;
  startEmulator: EmulatorStarter;
  line: readonly string[];
  program: Command;
  /** A client for the platform that the options select. Throws UserError when none runs there. */
  connect(): Promise<PlatformClient>;
  /** Prints the output: as JSON with `--json`, otherwise as lines. */
  print(answer: unknown, lines: Iterable<string>): void;
}

export interface Found {
  answer: unknown;
  lines: Iterable<string>;
}

export interface CommandSpec<O extends Options = Options> {
  name: string;
  description: string;
  isDefault?: true;
  /** As `<name>`, `[name]` or `<name...>`, with a description and either a default value or all valid ones. */
  arguments?: readonly (readonly [name: string, description?: string, values?: string | readonly string[]])[];
  options?: O;
  /** After the options in the help. */
  notes?: string;
  /** Options after the first argument belong to that argument. */
  passesOptionsOn?: true;
  commands?: readonly CommandSpec[];
  run?(context: Context<O>, ...args: string[]): unknown;
  /** Instead of `run`: requests to the running platform. */
  ask?(client: PlatformClient, context: Context<O>, ...args: string[]): Promise<Found>;
}

/** Declares a command. Usage, help and completion follow from it. */
export function defineCommand<const O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec as unknown as CommandSpec; // `addCommand` reads the values by the options of the same command
}

export interface Runtime extends Pick<Context, 'terminal' | 'startEmulator' | 'line' | 'program'> {
  /** Absent for `start`, which needs no other platform. */
  connect?(options: ValuesOf<Options>, terminal: Terminal): Promise<PlatformClient>;
}

const EXIT_CODES = `
Exit codes: 0 success; 1 the operation failed, the condition was not met, or the platform does not respond; 2 invalid usage, or no running \
platform was found. With --json, a request that the platform rejects prints {"error": {"message", "reason", "status"}}, as in the REST API.`;

/** Wraps a text to the width of the help. */
function wrapped(text: string, command: Command): string {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  return help.boxWrap(text, help.helpWidth ?? 80);
}

export function addCommand(parent: Command, spec: CommandSpec, runtime: Runtime): void {
  const { options = {}, run, ask } = spec;
  const command = parent.command(spec.name, { isDefault: spec.isDefault === true }).description(spec.description);
  for (const [name, description, values] of spec.arguments ?? []) {
    const argument = new Argument(name, description);
    command.addArgument(
      typeof values === 'string' ? argument.default(values) : values ? argument.choices(values) : argument,
    );
  }
  if (spec.passesOptionsOn) command.passThroughOptions();
  // A misspelled name of another command comes to the default command as an argument.
  if (spec.isDefault) command.allowExcessArguments();
  const written = Object.entries(options).map(([name, optionSpec]) => {
    const option = new Option(optionSpec.flags, optionSpec.description).makeOptionMandatory(
      optionSpec.isRequired === true,
    );
    if (optionSpec.default !== undefined) option.default(optionSpec.default);
    if (optionSpec.isRepeatable) option.default([]).argParser((value, before: string[]) => [...before, value]);
    command.addOption(option);
    return { name, read: optionSpec.read, key: option.attributeName() };
  });
  for (const notes of [spec.notes, 'baseUrl' in options ? EXIT_CODES : undefined]) {
    if (notes !== undefined) command.addHelpText('after', () => wrapped(notes, command));
  }
  for (const subcommand of spec.commands ?? []) addCommand(command, subcommand, runtime);
  if (!run && !ask) return;
  command.action(async (...parserArgs: unknown[]): Promise<void> => {
    // The parser adds its options and the command; a repeatable argument is an array.
    const args = parserArgs.slice(0, -2).flat() as string[];
    const [unknownName] = spec.isDefault ? command.args : [];
    if (unknownName !== undefined) {
      const names = parent.commands.map((other) => other.name()).join(', ');
      throw new UserError(
        `unknown command '${parent.name()} ${unknownName}'. The commands of ${parent.name()}: ${names}`,
      );
    }
    const values = Object.fromEntries(written.map(({ name, read, key }) => [name, read(command.getOptionValue(key))]));
    let hasPrinted = false;
    const context: Context = {
      ...runtime,
      options: values,
      async connect() {
        if (runtime.connect) return runtime.connect(values, runtime.terminal);
        throw new Error(`${spec.name} uses no running platform`);
      },
      print(answer, lines) {
        hasPrinted = true;
        if (values.json === true) runtime.terminal.print(JSON.stringify(answer, null, 2));
        else printLines(lines, runtime.terminal);
      },
    };
    try {
      if (run) await run(context, ...args);
      if (!ask) return;
      const { answer, lines } = await ask(await context.connect(), context, ...args);
      context.print(answer, lines);
    } catch (failure) {
      const { text, reason, status } = describeFailure(failure);
      if (values.json === true && reason && !hasPrinted) {
        runtime.terminal.print(JSON.stringify({ error: { message: text, reason, status } }));
      }
      throw failure;
    }
  });
}
