import type { Command } from 'commander';
import { leadRows, type ShownLead } from '../contract/leads.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printRows, type Terminal } from './terminal.ts';
import { addTimeoutOption, timeoutOf } from './timeout-option.ts';

/** Longest time that one request waits; the server allows no more. */
const WAIT_S = 60;

/** `terrarium leads`: the leads that the CRM stand-in caught, and `leads wait` for one that is still to come. */
export function addLeadsCommand(program: Command, terminal: Terminal): void {
  const leads = program.command('leads').description('show the leads that the CRM stand-in caught');

  const list = leads.command('list', { isDefault: true }).description('list them, oldest first (the default)');
  addLeadOptions(list).action(async () => {
    const client = await connect(list, terminal);
    const found = await readLeads(client, filterOf(list));
    printAnswer(list, terminal, found, () => printRows(terminal, found.map(rowOf)));
  });

  const clear = leads.command('clear').description('delete all of them');
  addPlatformOptions(clear).action(async () => {
    const client = await connect(clear, terminal);
    const answer = await client.ask(leadRows.deleteLeads);
    printAnswer(clear, terminal, answer, () => terminal.print(`${answer.deleted} deleted`));
  });

  const wait = leads
    .command('wait')
    .description('print the newest one, or wait for the first; exit code 1 when none came');
  addTimeoutOption(wait, '30');
  addLeadOptions(wait).action(async () => {
    const timeoutS = timeoutOf(wait);
    const client = await connect(wait, terminal);
    const [lead] = (await awaitLeads(client, filterOf(wait), timeoutS, terminal)).slice(-1);
    if (!lead) {
      const email = textOption(wait, 'email');
      throw new ExitWith(NO, `no lead${email === undefined ? '' : ` of ${email}`} came within ${timeoutS} s`);
    }
    printAnswer(wait, terminal, lead, () => printRows(terminal, [rowOf(lead)]));
  });
}

function addLeadOptions(command: Command): Command {
  return addPlatformOptions(
    command
      .option('--email <ADDRESS>', 'only of this address, in any letter case')
      .option('--since <TIME>', 'only of this moment or later, such as 2026-01-31T09:30:00Z'),
  );
}

function filterOf(command: Command): URLSearchParams {
  const filter = new URLSearchParams();
  for (const name of ['email', 'since']) {
    const value = textOption(command, name);
    if (value !== undefined) filter.set(name, value);
  }
  return filter;
}

function readLeads(client: PlatformClient, query: URLSearchParams): Promise<ShownLead[]> {
  return client.ask(leadRows.listLeads, { query });
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
    const found = await readLeads(client, query);
    if (found.length > 0 || leftS === 0) return found;
  }
}

function rowOf({ receivedAt, mapped }: ShownLead): string[] {
  const { email = '-', firstName = '', lastName = '', company = '-' } = mapped;
  return [receivedAt, email, `${firstName} ${lastName}`.trim() || '-', company];
}
