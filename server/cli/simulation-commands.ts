import { jsonBody } from '../api/client/route-client.ts';
import { clockRoutes, faultRoutes } from '../api/routes/faults.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { describeFault, FAULT_SERVICES } from '../model/fault-rule.ts';
import { defineCommand, flag, text } from './command.ts';
import { platformOptions } from './instance-options.ts';
import { count, definedIn } from './outbound-command.ts';
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

export const faultsCommand = defineCommand({
  name: 'faults',
  description: "make the platform's own services fail, for tests of clients",
  commands: [
    defineCommand({
      name: 'list',
      isDefault: true,
      description: 'list fault rules; the first one that applies to a request decides (the default)',
      options: platformOptions,
      async ask(client) {
        const rules = await client.ask(faultRoutes.listFaults);
        return { answer: rules, lines: linesOf(rules) };
      },
    }),
    defineCommand({
      name: 'add',
      description: 'add a rule after the others',
      arguments: [['<service>', 'the service that fails', FAULT_SERVICES]],
      options: { ...ruleOptions, ...platformOptions },
      async ask(client, { options }, service = '') {
        const { status, delayMs, cut, method, path, times, after, percent, seed } = options;
        const numbers = definedIn({ status, delayMs, times, after, percent, seed });
        const texts = definedIn({ method: method?.toUpperCase(), path });
        const request = { service, ...numbers, ...texts, ...(cut && { cut }) };
        const rule = await client.ask(faultRoutes.createFault, jsonBody(request));
        return { answer: rule, lines: linesOf([rule]) };
      },
    }),
    defineCommand({
      name: 'remove',
      description: 'delete a rule',
      arguments: [['<id>', 'ID of the rule, as in the list']],
      options: platformOptions,
      async ask(client, _, id = '') {
        await client.ask(faultRoutes.deleteFault, { path: { fault_id: id } });
        return { answer: { deleted: 1 }, lines: ['1 deleted'] };
      },
    }),
    defineCommand({
      name: 'clear',
      description: 'delete all rules',
      options: platformOptions,
      async ask(client) {
        const answer = await client.ask(faultRoutes.deleteFaults);
        return { answer, lines: [`${answer.deleted} deleted`] };
      },
    }),
  ],
});

export const clockCommand = defineCommand({
  name: 'clock',
  description: "show and advance the platform's clock",
  commands: [
    defineCommand({
      name: 'show',
      isDefault: true,
      description: 'show the time (the default)',
      options: platformOptions,
      async ask(client) {
        return foundTime(await client.ask(clockRoutes.readClock));
      },
    }),
    defineCommand({
      name: 'advance',
      description: 'advance the clock',
      arguments: [['<time>', 'a number with s, m, h or d, such as 24h, or a later date and time']],
      options: platformOptions,
      async ask(client, _, time = '') {
        return foundTime(await client.ask(clockRoutes.advanceClock, jsonBody({ advance: time })));
      },
    }),
    defineCommand({
      name: 'reset',
      description: "set the clock to the machine's time",
      options: platformOptions,
      async ask(client) {
        await client.ask(clockRoutes.resetClock);
        return foundTime(await client.ask(clockRoutes.readClock));
      },
    }),
  ],
});

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
