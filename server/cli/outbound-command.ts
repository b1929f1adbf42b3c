import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { jsonBody } from '../api/client/route-client.ts';
import { outboundRoutes } from '../api/routes/outbound.ts';
import { reasonOf } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import { describeRule, NETWORK_ERRORS, OUTBOUND_ACTIONS, OWN_CRM } from '../model/outbound-rule.ts';
import { UserError } from '../platform/config.ts';
import { count, defineCommand, text, texts } from './command.ts';
import { defaultCommand, findTarget, platformCommand, platformOptions } from './instance-options.ts';
import { rowLines } from './terminal.ts';

const ruleOptions = {
  delayMs: count('--delay-ms <N>', 'for delay: milliseconds to wait'),
  status: count('--status <N>', 'for fail and answer: the status of the response'),
  error: text('--error <CODE>', `for fail: ${NETWORK_ERRORS.join(', ')}`),
  body: text('--body <TEXT>', 'for answer: the body; JSON if it is an object or array, otherwise text'),
  file: text('--file <FILE>', 'for answer: a file to send as the body'),
  header: texts('--header <NAME:VALUE>', 'for answer: a header; can be repeated'),
  times: count('--times <N>', 'for answer: the number of calls to answer'),
  after: count('--after <N>', 'for answer: the number of calls to leave to the following rules first'),
};

const LIST_DESCRIPTION =
  'list rules; for a call, the first enabled rule that matches applies, after the delays before it (the default)';

export const outboundCommand = defineCommand({
  name: 'outbound',
  description: 'show and change the rules for calls that lambdas make to other hosts',
  commands: [
    defaultCommand('list', LIST_DESCRIPTION, async (client) => {
      const answer = await client.ask(outboundRoutes.readOutboundRules);
      const policy = `${answer.default} for all other hosts outside this machine (setting outbound.default)`;
      return { answer: answer.rules, lines: [...linesOf(answer.rules), policy] };
    }),
    defineCommand({
      name: 'add',
      description: 'add a rule before the others',
      arguments: [
        ['<host>', `a host such as api.example or *.example:8443, or ${OWN_CRM}`],
        ['<action>', 'the effect on a call that matches', OUTBOUND_ACTIONS],
      ],
      options: { ...ruleOptions, ...platformOptions },
      async ask(client, { options, terminal }, host = '', action = '') {
        const { delayMs, status, error, body, header, times, after } = options;
        const file = options.file && resolve(terminal.folder, options.file);
        // A platform at an address may run on another machine, which has other files.
        const isLocal = (await findTarget(options, terminal)).dataDir !== undefined;
        if (file && isLocal) await requireReadable(file);
        const rule = {
          ...{ host, action, delayMs, status, error, file, times, after },
          body: body && bodyIn(body),
          headers: header.length > 0 ? Object.fromEntries(header.map(headerIn)) : undefined,
        };
        const { rules, revision } = await client.ask(outboundRoutes.readOutboundRules);
        const answer = await client.ask(
          outboundRoutes.replaceOutboundRules,
          jsonBody({ rules: [rule, ...rules], revision }),
        );
        return { answer: answer.rules, lines: linesOf(answer.rules) };
      },
    }),
    platformCommand('clear', 'remove all rules', async (client) => {
      const { rules } = await client.ask(outboundRoutes.readOutboundRules);
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [] }));
      return { answer: { removed: rules.length }, lines: [`${rules.length} removed`] };
    }),
  ],
});

function linesOf(rules: readonly ({ enabled: boolean } & Parameters<typeof describeRule>[0])[]): Iterable<string> {
  return rowLines(rules.map((rule) => [describeRule(rule), rule.enabled ? '' : 'disabled']));
}

async function requireReadable(file: string): Promise<void> {
  await readFile(file).catch((cause: unknown) => {
    throw new UserError(`${file} cannot be read: ${reasonOf(cause)}`, { cause });
  });
}

function bodyIn(written: string): Json {
  if (!/^\s*[[{]/.test(written)) return written;
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

function headerIn(written: string): [name: string, value: string] {
  const colon = written.indexOf(':');
  if (colon > 0) return [written.slice(0, colon).trim(), written.slice(colon + 1).trim()];
  throw new UserError(`--header is "${written}"; it must be NAME:VALUE`);
}
