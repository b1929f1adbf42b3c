import { jsonBody } from '../api/client/route-client.ts';
import { clockRoutes, faultRoutes } from '../api/routes/faults.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { describeFault, FAULT_SERVICES } from '../model/fault-rule.ts';
import { count, defineCommand, type Found, flag, text } from './command.ts';
import { clearCommand, commandOn, defaultCommand, platformCommand, platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { rowLines } from './terminal.ts';

const ruleOptions = {
  status: count('--status <N>', 'status of the response, from 400 to 599'),
  delayMs: count('--delay-ms <N>', 'milliseconds to wait first'),
  cut: flag('--cut', 'close the connection instead'),
  method: text('--method <METHOD>', 'only requests with this method'),
  path: text('--path <PATTERN>', 'only requests with this path; * matches any part'),
  times: count('--times <N>', 'the number of requests to which the rule applies'),
  after: count('--after <N>', 'the number of requests to leave alone first'),
  percent: count('--percent <N>', 'apply to so many percent of the requests'),
  seed: count('--seed <N>', 'choose the same requests as a rule with this seed did'),
};

const LIST_DESCRIPTION = 'list fault rules; the first one that applies to a request decides (the default)';

export const faultsCommand = defineCommand({
  name: 'faults',
  description: "make the platform's own services fail, for tests of clients",
  commands: [
    defaultCommand('list', LIST_DESCRIPTION, async (client) => {
      const rules = await client.ask(faultRoutes.listFaults);
      return { answer: rules, lines: linesOf(rules) };
    }),
    defineCommand({
      name: 'add',
      description: 'add a rule after the others',
      arguments: [['<service>', 'the service that fails', FAULT_SERVICES]],
      options: { ...ruleOptions, ...platformOptions },
      async ask(client, { options }, service = '') {
        const { status, delayMs, method, path, times, after, percent, seed } = options;
        const request = { service, status, delayMs, method: method?.toUpperCase(), path, times, after, percent, seed };
        const rule = await client.ask(faultRoutes.createFault, jsonBody({ ...request, cut: options.cut || undefined }));
        return { answer: rule, lines: linesOf([rule]) };
      },
    }),
    commandOn(['<id>', 'ID of the rule, as in the list'], 'remove', 'delete a rule', async (client, id) => {
      await client.ask(faultRoutes.deleteFault, { path: { fault_id: id } });
      return { answer: { deleted: 1 }, lines: ['1 deleted'] };
    }),
    clearCommand('delete all rules', (client) => client.ask(faultRoutes.deleteFaults)),
  ],
});

const TIME = ['<time>', 'a number with s, m, h or d, such as 24h, or a later date and time'] as const;

export const clockCommand = defineCommand({
  name: 'clock',
  description: "show and advance the platform's clock",
  commands: [
    defaultCommand('show', 'show the time (the default)', readTime),
    commandOn(TIME, 'advance', 'advance the clock', async (client, time) =>
      foundTime(await client.ask(clockRoutes.advanceClock, jsonBody({ advance: time }))),
    ),
    platformCommand('reset', "set the clock to the machine's time", async (client) => {
      await client.ask(clockRoutes.resetClock);
      return readTime(client);
    }),
  ],
});

async function readTime(client: PlatformClient): Promise<Found> {
  return foundTime(await client.ask(clockRoutes.readClock));
}

function foundTime(clock: AnswerOf<typeof clockRoutes.readClock>) {
  const seconds = clock.aheadMs / 1_000;
  return { answer: clock, lines: [clock.aheadMs === 0 ? clock.now : `${clock.now} (${seconds} s ahead)`] };
}

function linesOf(rules: AnswerOf<typeof faultRoutes.listFaults>): Iterable<string> {
  return rowLines(
    rules.map((rule) => {
      const limit = rule.times === undefined ? '' : ` of ${rule.times}`;
      return [rule.id, describeFault(rule), `applied ${rule.applied}${limit}`];
    }),
  );
}
