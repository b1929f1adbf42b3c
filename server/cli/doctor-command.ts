import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { type Check, checkDataFolder, checkDiskSpace, checkEngine, checkNode, checkPorts } from './doctor-checks.ts';
import { checkTools } from './doctor-tools.ts';
import { ExitWith, NO } from './exit-with.ts';
import { findTarget } from './instance-options.ts';
import { type OfflineSurroundings, offlineNeeds } from './offline-needs.ts';
import { printAnswer } from './print-answer.ts';
import { styled, type Terminal } from './terminal.ts';
import { windowChoice } from './window-surroundings.ts';

const NOTES = `
Exit codes: 0 all that is needed works (with --offline: is here); 1 something that is needed does not (is not); 2 a setting is wrong.`;

/** `terrarium doctor`: what would not work on this machine with these settings, why, and what to do about it. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('doctor')
    .description('say what would not work here with these settings, and why; takes the options of start')
    .option('--offline', 'say what a demo without a network needs, and whether it is on this machine')
    .option('--fetch', 'with --offline: fetch what is missing, while there is a network')
    .option('--json', 'as JSON: {ok, checks: [{name, ok, isNeeded, message}]}')
    .addHelpText('after', NOTES);
  addConfigOptions(command).action(async () => {
    const configured = configOf(command, terminal);
    const { config } = configured;
    const isFetching = command.getOptionValue('fetch') === true;
    if (command.getOptionValue('offline') === true) {
      const target = await findTarget(command, terminal);
      const client = target.kind === 'address' ? target.client : target.running?.client;
      const around = { config, terminal, asked: windowChoice(configured), client };
      const checks = await offlineChecks(around, isFetching);
      return tell(
        command,
        terminal,
        checks,
        checks.every(({ ok }) => ok),
      );
    }
    if (isFetching) throw new UserError('--fetch goes with --offline: it fetches what a demo without a network needs');
    const found = await Promise.all([
      checkNode(process.versions.node),
      checkPorts(config),
      checkDataFolder(config),
      checkDiskSpace(config),
      checkEngine(config, { ...terminal.env }),
      checkTools(terminal, windowChoice(configured)),
    ]);
    const checks = found.flat();
    tell(
      command,
      terminal,
      checks,
      checks.every(({ ok, isNeeded }) => ok || !isNeeded),
    );
  });
}

function tell(command: Command, terminal: Terminal, checks: readonly Check[], isWell: boolean): void {
  printAnswer(command, terminal, { ok: isWell, checks }, () => {
    for (const check of checks) terminal.print(lineOf(check, terminal));
  });
  if (!isWell) throw new ExitWith(NO);
}

/** What is not there is fetched first, if it shall be. */
async function offlineChecks(around: OfflineSurroundings, isFetching: boolean): Promise<Check[]> {
  const failures = new Map<string, string>();
  if (isFetching) {
    for (const { message, fetch } of await offlineNeeds(around)) {
      if (!fetch) continue;
      around.terminal.complain(`fetching: ${message}`);
      await fetch().catch((failure: Error) => failures.set(message, failure.message));
    }
  }
  return (await offlineNeeds(around)).map((need) => {
    const failure = failures.get(need.message);
    const how = failure ? ` (it could not be fetched: ${failure})` : need.fetch ? ' (--fetch fetches it)' : '';
    return { ...need, message: `${need.message}${how}` };
  });
}

function lineOf({ name, ok, isNeeded, message }: Check, terminal: Terminal): string {
  const verdict = ok ? 'ok' : isNeeded ? 'fails' : 'missing';
  return `${styled(terminal, ok ? 'green' : 'bold', verdict.padEnd(7))}  ${name.padEnd(12)}  ${message}`;
}
