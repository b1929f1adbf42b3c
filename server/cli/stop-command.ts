import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { isAlive } from '../machine/processes.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, findTarget } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import type { Terminal } from './terminal.ts';
import { addTimeoutOption, timeoutOf } from './timeout-option.ts';

const LOOK_EVERY_MS = 50;

/** `terrarium stop`: tells the platform of a data folder to stop, and waits until it has. */
export function addStopCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('stop')
    .description('stop the platform of this folder and wait until it has ended; exit code 1 when none runs');
  addTimeoutOption(command, '60');
  addPlatformOptions(command).action(async () => {
    const timeoutS = timeoutOf(command);
    const target = await findTarget(command, terminal);
    if (target.kind === 'address') {
      throw new UserError('stop ends a process of this machine: name it by --data or --instance, not by its address');
    }
    const { running, dataDir } = target;
    if (!running) throw new ExitWith(NO, `no platform runs on ${dataDir}`);
    const { pid, baseUrl } = running.instance;
    // After a crash the id may be another program's by now.
    await running.client.text('GET', '/meta/about').catch(() => {
      throw new ExitWith(
        NO,
        `process ${pid} does not answer at ${baseUrl}, so it is left alone: end it yourself if it is a Terrarium`,
      );
    });
    process.kill(pid, 'SIGTERM');
    const untilMs = terminal.nowMs() + timeoutS * 1000;
    while (isAlive(pid)) {
      if (terminal.nowMs() > untilMs) throw new ExitWith(NO, `process ${pid} is still stopping after ${timeoutS} s`);
      await delay(LOOK_EVERY_MS);
    }
    printAnswer(command, terminal, { stopped: true, pid, dataDir }, () =>
      terminal.print(`The platform on ${dataDir} (process ${pid}) has stopped.`),
    );
  });
}
