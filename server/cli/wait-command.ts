import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, findTarget } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import type { Terminal } from './terminal.ts';
import { addTimeoutOption, timeoutOf } from './timeout-option.ts';

const LOOK_EVERY_MS = 200;
const placesSchema = z.looseObject({ metaUrl: z.string(), securityUrl: z.string(), gatewayUrl: z.string() });

/** `terrarium wait`: until the platform answers, for scripts that started it elsewhere. */
export function addWaitCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('wait')
    .description('wait until the platform answers, and print its address; exit code 1 when it did not in time');
  addTimeoutOption(command, '30');
  addPlatformOptions(command).action(async () => {
    const timeoutS = timeoutOf(command);
    const untilMs = terminal.nowMs() + timeoutS * 1000;
    for (;;) {
      const target = await findTarget(command, terminal);
      const client = target.kind === 'address' ? target.client : target.running?.client;
      const leftMs = Math.max(1, Math.ceil(untilMs - terminal.nowMs()));
      const places = await client?.json('GET', '/', placesSchema, { timeoutMs: leftMs }).catch(notYet);
      if (client && places) {
        const { baseUrl } = client;
        printAnswer(command, terminal, { baseUrl, ...places }, () => terminal.print(baseUrl));
        return;
      }
      if (terminal.nowMs() > untilMs) {
        const where = target.kind === 'address' ? `at ${target.client.baseUrl}` : `on ${target.dataDir}`;
        throw new ExitWith(NO, `no platform answered ${where} within ${timeoutS} s`);
      }
      await delay(LOOK_EVERY_MS);
    }
  });
}

/** Whatever is not there yet is looked for again; what is wrong in the question stays wrong. */
function notYet(failure: unknown): undefined {
  if (failure instanceof ExitWith && failure.exitCode === NO) return undefined;
  throw failure;
}
