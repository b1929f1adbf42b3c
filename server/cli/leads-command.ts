import type { Command } from 'commander';
import { leadRows, type ShownLead } from '../contract/leads.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, askPlatform, connect, queryOf, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, rowLines, type Terminal } from './terminal.ts';
import { addTimeoutOption, timeoutOf } from './timeout-option.ts';

/** Longest time that one request waits; the server allows no more. */
const WAIT_S = 60;

/** `terrarium leads`: the leads that the CRM stand-in caught, and `leads wait` for one that is still to come. */
export function addLeadsCommand(program: Command, terminal: Terminal): void {
  const leads = program.command('leads').description('show the leads that the CRM stand-in caught');

  const list = leads.command('list', { isDefault: true }).description('list them, oldest first (the default)');
  askPlatform(addFilters(list), terminal, async (client) => {
    const found = await client.ask(leadRows.listLeads, { query: queryOf(list, FILTERS) });
    return { answer: found, lines: rowLines(found.map(rowOf)) };
  });

  const clear = leads.command('clear').description('delete all of them');
  askPlatform(clear, terminal, async (client) => {
    const answer = await client.ask(leadRows.deleteLeads);
    return { answer, lines: [`${answer.deleted} deleted`] };
  });

  const wait = leads
    .command('wait')
    .description('print the newest one, or wait for the first; exit code 1 when none came');
  addTimeoutOption(wait, '30');
  addPlatformOptions(addFilters(wait)).action(async () => {
    const timeoutS = timeoutOf(wait);
    const client = await connect(wait, terminal);
    const [lead] = (await awaitLeads(client, queryOf(wait, FILTERS), timeoutS, terminal)).slice(-1);
    if (!lead) {
      const email = textOption(wait, 'email');
      throw new ExitWith(NO, `no lead${email === undefined ? '' : ` of ${email}`} came within ${timeoutS} s`);
    }
    printAnswer(wait, terminal, lead, () => printLines(rowLines([rowOf(lead)]), terminal));
  });
}

const FILTERS = ['email', 'since'];

function addFilters(command: Command): Command {
  return command
    .option('--email <ADDRESS>', 'only of this address, in any letter case')
    .option('--since <TIME>', 'only of this moment or later, such as 2026-01-31T09:30:00Z');
}

async function awaitLeads(
  client: PlatformClient,
  query: URLSearchParams,
  timeoutS: number,
  terminal: Pick<Terminal, 'nowMs'>,
): Promise<ShownLead[]> {
  const untilMs = terminal.nowMs() + timeoutS * 1000;
  for (;;) {
    const leftS = Math.max(0, Math.ceil((untilMs - terminal.nowMs()) / 1000));
    query.set('waitS', String(Math.min(leftS, WAIT_S)));
    const found = await client.ask(leadRows.listLeads, { query });
    if (found.length > 0 || leftS === 0) return found;
  }
}

function rowOf({ receivedAt, mapped }: ShownLead): string[] {
  const { email = '-', firstName = '', lastName = '', company = '-' } = mapped;
  return [receivedAt, email, `${firstName} ${lastName}`.trim() || '-', company];
}
