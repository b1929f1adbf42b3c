import { setTimeout as delay } from 'node:timers/promises';
import { windowRoutes } from '../api/routes/window.ts';
import { UserError } from '../platform/config.ts';
import { lifeOfProcess } from '../system/processes.ts';
import { defineCommand, timeout } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { isCertain } from './instance-file.ts';
import { findTarget, platformOptions } from './instance-options.ts';
import { Refusal } from './platform-client.ts';

const LOOK_EVERY_MS = 50;
/** For a platform that hangs. */
const RESPONSE_TIMEOUT_MS = 10_000;

export const stopCommand = defineCommand({
  name: 'stop',
  description: 'stop the platform of this folder and wait until it has ended; exit code 1 if none is running',
  options: { timeout: timeout(60), ...platformOptions },
  async run({ options, terminal, print }) {
    const timeoutS = options.timeout;
    const { client, dataDir, instance } = await findTarget(options, terminal);
    if (dataDir === undefined)
      throw new UserError('stop works only on this machine: use --data or --instance instead of an address');
    if (!client || !instance) throw new ExitWith(NO, `no platform is running on ${dataDir}`);
    const { pid, began, baseUrl, worldId } = instance;
    try {
      await client.ask(windowRoutes.stopPlatform, { json: { worldId }, timeoutMs: RESPONSE_TIMEOUT_MS });
    } catch (failure) {
      if (failure instanceof Refusal) throw failure;
      if (!(await isCertain(instance))) {
        throw new ExitWith(
          NO,
          `process ${pid} does not respond at ${baseUrl}, and it is not certain that it is the platform, so it was not stopped. If it is, stop it manually.`,
        );
      }
      process.kill(pid, 'SIGTERM');
    }
    const untilMs = terminal.nowMs() + timeoutS * 1000;
    while ((await lifeOfProcess(pid, began)) !== 'gone') {
      if (terminal.nowMs() > untilMs)
        throw new ExitWith(
          NO,
          `process ${pid} has not ended after ${timeoutS} s. To wait longer, run the command again with --timeout.`,
        );
      await delay(LOOK_EVERY_MS);
    }
    print({ stopped: true, pid, dataDir }, [`The platform on ${dataDir} (process ${pid}) has stopped.`]);
  },
});
