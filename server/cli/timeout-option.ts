import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { textOption } from './instance-options.ts';

/** Gives a command that waits the option that says how long. */
export function addTimeoutOption(command: Command, seconds: string): Command {
  return command.option('--timeout <S>', 'seconds to wait', seconds);
}

/** How long a command is to wait, in seconds. Throws UserError. */
export function timeoutOf(command: Command): number {
  const written = textOption(command, 'timeout') ?? '';
  if (/^\d{1,6}$/.test(written)) return Number(written);
  throw new UserError(`--timeout is "${written}"; it has to be a whole number of seconds`);
}
