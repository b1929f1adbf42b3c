import type { Command } from 'commander';
import { addConfigOptions, configOf } from './config-options.ts';
import { type Check, checkDataFolder, checkDiskSpace, checkEngine, checkNode, checkPorts } from './doctor-checks.ts';
import { checkTools } from './doctor-tools.ts';
import { ExitWith, NO } from './exit-with.ts';
import { printAnswer } from './print-answer.ts';
import { styled, type Terminal } from './terminal.ts';
import { windowWish } from './window-surroundings.ts';

const NOTES = `
Exit codes: 0 all that is needed works; 1 something that is needed does not; 2 a setting is wrong.`;

/** `terrarium doctor`: what would not work on this machine with these settings, why, and what to do about it. */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('doctor')
    .description('say what would not work here with these settings, and why; takes the options of start')
    .option('--json', 'as JSON: {ok, checks: [{name, ok, isNeeded, message}]}')
    .addHelpText('after', NOTES);
  addConfigOptions(command).action(async () => {
    const configured = configOf(command, terminal);
    const { config } = configured;
    const found = await Promise.all([
      checkNode(process.versions.node),
      checkPorts(config),
      checkDataFolder(config),
      checkDiskSpace(config),
      checkEngine(config, { ...terminal.env }),
      checkTools(terminal, windowWish(configured)),
    ]);
    const checks = found.flat();
    const isWell = checks.every(({ ok, isNeeded }) => ok || !isNeeded);
    printAnswer(command, terminal, { ok: isWell, checks }, () => {
      for (const check of checks) terminal.print(lineOf(check, terminal));
    });
    if (!isWell) throw new ExitWith(NO);
  });
}

function lineOf({ name, ok, isNeeded, message }: Check, terminal: Terminal): string {
  const verdict = ok ? 'ok' : isNeeded ? 'fails' : 'missing';
  return `${styled(terminal, ok ? 'green' : 'bold', verdict.padEnd(7))}  ${name.padEnd(12)}  ${message}`;
}
